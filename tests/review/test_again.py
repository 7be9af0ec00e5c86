"""Approving again what is approved: where the approval does not count, or would say more than it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.store.served import published_hashes
from tests.acceptance.integrity_signed import allow, make_key
from tests.databases import Database
from tests.review.conftest import Bench

SLUG = "store-money-as-numeric"
OTHER = "keep-instants-with-their-zone"


@pytest.fixture
def owned(published_bench: Bench, tmp_path: Path) -> Bench:
    """Two published records without signatures, and an owner who has a key."""
    published_bench.write(SLUG)
    published_bench.write(
        OTHER,
        title="Keep instants in a column with time zone",
        subject="Instants, zones and numeric amounts",
        recommendation="Choose `timestamptz` for moments, and convert at the border of the program. Avoid `timestamp`.",
    )
    published_bench.approve(SLUG)
    published_bench.approve(OTHER)
    published_bench.run("publish")
    published_bench.environ["CHATCTX_ALLOWED_SIGNERS"] = str(
        allow(tmp_path / "allowed", "ada", make_key(tmp_path, "k"))
    )
    return published_bench


def sign(bench: Bench, key: str = "k") -> None:
    bench.environ["CHATCTX_SIGNING_KEY"] = str(bench.records.parent / key)


def served(database: Database) -> dict[str, str]:
    return published_hashes(database.owner)


def test_an_unsigned_approval_is_signed_by_approving_again(owned: Bench, database: Database) -> None:
    """As the log says of what is `unsigned`; then it is published where signatures are required, as before."""
    before = served(database)
    sign(owned)
    for slug in (SLUG, OTHER):
        owned.approve(slug)
    owned.run("publish", "--require-signatures")
    assert served(database) == before


def test_the_same_text_in_the_same_name_with_the_same_key_is_approved_once(owned: Bench) -> None:
    """Neither without a signature nor with one is a repetition kept."""
    again = ("approve", SLUG, "--by", "ada", "--yes", "--note", "once more")
    assert f"{SLUG} is already approved as it stands, by ada, unsigned" in owned.run(*again, code=1).stderr
    sign(owned)
    owned.approve(SLUG)
    lines = (owned.records / "ledger.jsonl").read_bytes()
    assert f"{SLUG} is already approved as it stands, by ada, signed with this key" in owned.run(*again, code=1).stderr
    assert (owned.records / "ledger.jsonl").read_bytes() == lines


def test_a_new_key_signs_what_the_old_one_signed_before_its_line_goes(owned: Bench, tmp_path: Path) -> None:
    """So that nothing is withheld in between; without a key it is another decision too."""
    sign(owned)
    owned.approve(SLUG)
    old = allow(tmp_path / "allowed", "ada", tmp_path / "k").read_text()
    new = allow(tmp_path / "allowed", "ada", make_key(tmp_path, "new")).read_text()
    (tmp_path / "allowed").write_text(old + new)
    sign(owned, "new")
    owned.approve(SLUG)
    (tmp_path / "allowed").write_text(new)
    owned.run("publish")
    del owned.environ["CHATCTX_SIGNING_KEY"]
    owned.approve(SLUG)
    assert len(owned.json("history", SLUG)) == 4


def test_what_a_stolen_key_signed_is_approved_again(owned: Bench, tmp_path: Path, database: Database) -> None:
    """Its line is taken out, and the new key signs the same text."""
    sign(owned)
    owned.approve(SLUG)
    allow(tmp_path / "allowed", "ada", make_key(tmp_path, "new"))
    refused = owned.run("publish", code=1)
    assert f"withdraw 1 served record(s) whose approval does not count here: {SLUG}" in refused.stderr
    sign(owned, "new")
    owned.approve(SLUG)
    owned.run("publish")
    assert served(database).keys() == {SLUG, OTHER}


def test_a_demonstration_is_approved_in_an_owners_name(owned: Bench, database: Database) -> None:
    """And somebody else may stand behind what one stands behind already."""
    owned.approve(SLUG, by="demo")
    owned.run("publish", code=1, CHATCTX_ENV="production")
    owned.approve(SLUG)
    owned.approve(SLUG, by="bob")
    owned.run("publish", CHATCTX_ENV="production")
    assert served(database).keys() == {SLUG, OTHER}


def test_signatures_required_by_mistake_withdraw_nothing(owned: Bench, database: Database) -> None:
    """A publish that would lose served records to a setting names them, and is made when that is meant."""
    before = served(database)
    sign(owned)
    owned.approve(OTHER)
    refused = owned.run("publish", "--require-signatures", code=1)
    assert SLUG in refused.stderr
    assert "--allow-withdrawal" in refused.stderr
    assert served(database) == before
    assert "would serve 1 record" in owned.run("publish", "--require-signatures", "--dry-run").stdout
    owned.run("publish", "--require-signatures", "--allow-withdrawal")
    assert served(database).keys() == {OTHER}


def test_a_key_whose_life_is_over_signs_nothing_though_the_clock_is_set_back(owned: Bench, tmp_path: Path) -> None:
    """What counts is the latest signed decision, not the clock of the machine that signs."""
    key = tmp_path / "k"
    sign(owned)
    owned.approve(SLUG)
    ledger = owned.records / "ledger.jsonl"
    day = ledger.read_text().splitlines()[-1].split('"at":"')[1][:10].replace("-", "")
    allow(tmp_path / "allowed", "ada", key, f'valid-before="{day}0000Z"')
    lines = ledger.read_bytes()
    refused = owned.run("approve", OTHER, "--by", "ada", "--yes", "--note", "too late", code=1)
    assert "do not let this key sign as ada now" in refused.stderr
    assert ledger.read_bytes() == lines
