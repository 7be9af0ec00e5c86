"""Approving again what is approved: where the approval does not count, or would say more than it does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.database import Database as Both
from app.settings import read_settings
from app.store.served import published_hashes
from review.publish import publish_approved
from tests.acceptance.integrity_signed import allow, make_key
from tests.databases import Database
from tests.review.conftest import Bench
from tests.terminals import ROOT, converse

SLUG = "store-money-as-numeric"
OTHER = "keep-instants-with-their-zone"


@pytest.fixture
def owned(published_bench: Bench, tmp_path: Path) -> Bench:
    """Two published records without signatures, and an owner who has a key."""
    published_bench.write_two(SLUG, OTHER)
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
    assert f"withdraw 1 served record (approval is not signed by anybody who may): {SLUG}." in refused.stderr
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


@pytest.fixture
def half_signed(owned: Bench) -> Bench:
    """One of the two served records is signed; with signatures required the other's approval does not count."""
    sign(owned)
    owned.approve(OTHER)
    return owned


def test_signatures_required_by_mistake_withdraw_nothing(half_signed: Bench, database: Database) -> None:
    """A publish that would lose served records to a setting names them, and is made when that is meant."""
    before = served(database)
    refused = half_signed.run("publish", "--require-signatures", code=1)
    assert f"withdraw 1 served record (approval is not signed): {SLUG}." in refused.stderr
    assert "--allow-withdrawal" in refused.stderr
    assert served(database) == before
    dry = half_signed.run("publish", "--require-signatures", "--dry-run").stdout
    assert f"withheld: {SLUG} (approval is not signed)" in dry
    assert "would serve 1 record, after asking (--allow-withdrawal)" in dry
    half_signed.run("publish", "--require-signatures", "--allow-withdrawal")
    assert served(database).keys() == {OTHER}


def test_what_a_setting_took_out_of_service_comes_back_without_it(half_signed: Bench, database: Database) -> None:
    """Approvals are in the ledger, whatever was published."""
    before = served(database)
    half_signed.run("publish", "--require-signatures", "--allow-withdrawal")
    half_signed.run("publish")
    assert served(database) == before


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y", 0, {OTHER}), ("n", 1, {SLUG, OTHER}), ("", 1, {SLUG, OTHER})]
)
def test_on_a_terminal_a_publish_asks_before_records_go(
    half_signed: Bench, database: Database, answer: str, code: int, left: set[str]
) -> None:
    command = [sys.executable, "-m", "app.main", "review", "publish", "--require-signatures"]
    ended, said = converse(command, half_signed.environ, ("Withdraw them? [y/N]:", answer))
    assert ended == code, said
    assert f"1 served record (approval is not signed): {SLUG}." in said
    assert served(database).keys() == left


def test_no_question_is_asked_of_a_program(half_signed: Bench, database: Database) -> None:
    """Who wants JSON is refused, on a terminal too."""
    command = [sys.executable, "-m", "app.main", "review", "publish", "--require-signatures", "--json"]
    ended, said = converse(command, half_signed.environ)
    assert (ended, served(database).keys()) == (1, {SLUG, OTHER}), said


def test_on_the_way_to_serving_nothing_is_asked(
    half_signed: Bench, database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server would withhold the record all the same; it is named."""
    environ = half_signed.environ | {"CHATCTX_REQUIRE_SIGNATURES": "true"}
    publish_approved(
        read_settings(environ, base=ROOT), Both(database.owner, database.server, None, embedded=False), None
    )
    assert f"withheld: {SLUG} (approval is not signed)" in capsys.readouterr().err
    assert served(database).keys() == {OTHER}


def test_where_no_approval_counts_nothing_goes_without_a_word_more(owned: Bench, database: Database) -> None:
    """Letting some go is not letting all go; a dry run says what there is."""
    refused = owned.run("publish", "--require-signatures", "--allow-withdrawal", code=1)
    assert f"No record has an approval that counts; this would withdraw all 2: {OTHER}, {SLUG}." in refused.stderr
    assert "would serve 0 records" in owned.run("publish", "--require-signatures", "--dry-run").stdout
    owned.run("publish", "--require-signatures", "--allow-empty")
    assert served(database) == {}


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
