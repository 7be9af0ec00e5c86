"""The remedies of docs/approving.md, each pasted into a terminal as it stands there."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.cluster.address import DATABASE
from app.database import policy_of
from app.integrity import Flaw
from app.settings import read_settings
from app.store.guard import Guard
from review.ledger import read_ledger
from tests.acceptance.backup_commands import blocks, shell_environ
from tests.acceptance.integrity_signed import make_key, tamper
from tests.databases import Database, DatabaseServer
from tests.review.conftest import Bench
from tests.terminals import ROOT, converse

DOCUMENT = ROOT / "docs/approving.md"
SLUG = "store-money-as-numeric"
OTHER = "keep-instants-with-their-zone"
PASSPHRASE = "correct horse battery"
UNLOCK = ("Enter passphrase", PASSPHRASE)
YES = ("[y/N]:", "y")
MAKE_KEY = (UNLOCK, ("same passphrase", PASSPHRASE))
SIGN = (YES, UNLOCK)


def remedy(heading: str) -> list[str]:
    """Return the command blocks below a heading."""
    return blocks(heading, DOCUMENT)


@dataclass
class Owner:
    """An owner at a terminal, whose two records are served; and a server's eye on the database.

    Attributes:
        exported: settings that earlier blocks left in the shell.
    """

    bench: Bench
    database: Database
    home: Path
    exported: list[str] = field(default_factory=list)

    def paste(self, block: str, *answers: tuple[str, str], code: int = 0, **environ: str) -> str:
        """Run a block in a shell that has what earlier blocks exported."""
        script = "\n".join([*self.exported, block])
        values = shell_environ({**self.bench.environ, "HOME": str(self.home), "SLUG": SLUG, **environ})
        ended, said = converse(["sh", "-eu", "-c", script], values, *answers)
        assert ended == code, said
        self.exported += [line for line in block.splitlines() if line.startswith("export ")]
        return said

    def withheld(self, guard: Guard | None = None, **environ: str) -> dict[str, Flaw]:
        """Return what a server with these settings withholds, and why."""
        policy = policy_of(read_settings({**self.bench.environ, **environ}, base=ROOT))
        return dict((guard or Guard(policy)).examine(self.database.server, policy).withheld)

    def served(self, **environ: str) -> set[str]:
        """Return what such a server serves."""
        policy = policy_of(read_settings({**self.bench.environ, **environ}, base=ROOT))
        guard = Guard(policy)
        guard.examine(self.database.server)
        return {slug for slug in (SLUG, OTHER) if guard.serves(slug)}

    @property
    def signing(self) -> dict[str, str]:
        """What a server is set to that requires signatures."""
        return {
            "CHATCTX_ALLOWED_SIGNERS": str(self.home / ".ssh/chatctx-signers"),
            "CHATCTX_REQUIRE_SIGNATURES": "true",
        }

    def set_signing_up(self) -> None:
        """Make the key and the file, and sign the first record with it."""
        make, use = remedy("Signatures")
        self.paste(make, *MAKE_KEY)
        self.paste(use, *SIGN)


@pytest.fixture
def owner(published_bench: Bench, database: Database, tmp_path: Path) -> Owner:
    published_bench.write_two(SLUG, OTHER)
    for slug in (SLUG, OTHER):
        published_bench.approve(slug, by="alice")
    published_bench.run("publish")
    (tmp_path / "user/.ssh").mkdir(parents=True, mode=0o700)
    owner = Owner(published_bench, database, tmp_path / "user")
    assert owner.withheld() == {}
    return owner


CHANGES = {
    Flaw.CONTENT: "UPDATE record SET body = jsonb_set(body, '{title}', '\"Altered\"') WHERE slug = :slug",
    Flaw.COLUMNS: "UPDATE record SET title = 'Altered' WHERE slug = :slug",
}


def test_every_reason_in_the_log_has_a_remedy_and_every_remedy_is_in_this_file() -> None:
    """The table's links lead to headings, and what is below them is run here."""
    text = DOCUMENT.read_text("utf-8")
    rows = re.findall(r"(?m)^\| `(\w+)` \|.*\| (.+) \|$", text)
    assert {reason for reason, _ in rows} == {flaw.value for flaw in Flaw}
    anchors = {heading.lower().replace(",", "").replace(" ", "-") for heading in re.findall(r"(?m)^#+ (.+)$", text)}
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= anchors
    with_commands = {part.partition("\n")[0] for part in re.split(r"\n#{2,} ", text) if "```sh" in part}
    here = Path(__file__).read_text("utf-8")
    assert [heading for heading in with_commands if f'remedy("{heading}")' not in here] == []


@pytest.mark.parametrize("flaw", CHANGES)
def test_what_was_changed_is_published_anew(owner: Owner, database_server: DatabaseServer, flaw: Flaw) -> None:
    tamper(owner.database, CHANGES[flaw], slug=SLUG)
    assert owner.withheld() == {SLUG: flaw}
    (anew,) = remedy("Restore, or publish anew")
    with database_server.clone(DATABASE) as empty:
        owner.paste(anew, EMPTY_DATABASE_URL=empty.app_url, EMPTY_OWNER_DATABASE_URL=empty.owner_url)
        moved = replace(owner, database=empty)
        assert (moved.withheld(), moved.served()) == ({}, {SLUG, OTHER})


@pytest.mark.parametrize("flaw", CHANGES)
def test_what_was_changed_is_restored(
    owner: Owner, database_server: DatabaseServer, flaw: Flaw, tmp_path: Path
) -> None:
    backup = str(tmp_path / "kb.dump")
    owner.paste(blocks("Back up")[0], BACKUP=backup)
    tamper(owner.database, CHANGES[flaw], slug=SLUG)
    assert owner.withheld() == {SLUG: flaw}
    with database_server.clone(DATABASE) as empty:
        urls = {"DATABASE_URL": empty.app_url, "CHATCTX_OWNER_DATABASE_URL": empty.owner_url}
        owner.paste(blocks("Restore")[0], BACKUP=backup, **urls)
        restored = replace(owner, database=empty)
        assert (restored.withheld(), restored.served()) == ({}, {SLUG, OTHER})


LINES = {
    "a gap in the middle": ("DELETE FROM ledger_line WHERE line LIKE '%' || :slug || '%'",),
    "before ledgers were copied": ("UPDATE publication SET ledger_head = NULL", "DELETE FROM ledger_line"),
}


@pytest.mark.parametrize("statements", LINES.values(), ids=LINES.keys())
def test_lines_that_are_missing_are_put_back_by_a_publish(owner: Owner, statements: tuple[str, ...]) -> None:
    tamper(owner.database, *statements, slug=SLUG)
    assert owner.withheld()[SLUG] is Flaw.NOT_APPROVED
    (again,) = remedy("Publish again")
    owner.paste(again)
    assert (owner.withheld(), owner.served()) == ({}, {SLUG, OTHER})


@pytest.fixture
def demonstration(owner: Owner) -> Owner:
    """One record is served by a demonstration's approval; production withholds it."""
    owner.bench.approve(SLUG, by="demo")
    owner.bench.run("publish")
    assert owner.withheld(CHATCTX_ENV="production") == {SLUG: Flaw.DEMO}
    return owner


def test_a_demonstration_is_approved_in_ones_own_name(demonstration: Owner) -> None:
    own, _ = remedy("Approve a demonstration")
    demonstration.paste(own, YES, CHATCTX_ENV="production")
    assert demonstration.served(CHATCTX_ENV="production") == {SLUG, OTHER}


def test_a_demonstration_is_allowed(demonstration: Owner) -> None:
    _, allow = remedy("Approve a demonstration")
    demonstration.paste(allow, CHATCTX_ENV="production")
    allowed = {"CHATCTX_ENV": "production", "CHATCTX_ALLOW_DEMO_RECORDS": "true"}
    assert demonstration.served(**allowed) == {SLUG, OTHER}


def test_what_is_not_signed_is_named_and_signed(owner: Owner) -> None:
    """One of two is signed by the way signing is set up; the other is withheld where it is required, until it is."""
    owner.set_signing_up()
    assert owner.withheld(**owner.signing) == {OTHER: Flaw.UNSIGNED}
    (sign,) = remedy("Sign what is not signed")
    said = owner.paste(sign, *SIGN, SLUG=OTHER)
    assert f"withheld: {OTHER} (approval is not signed)" in said
    assert (owner.withheld(**owner.signing), owner.served(**owner.signing)) == ({}, {SLUG, OTHER})


@pytest.fixture
def by_a_stranger(owner: Owner) -> Owner:
    """The first record is signed by bob, whom the file does not name."""
    owner.set_signing_up()
    environ = {"CHATCTX_SIGNING_KEY": str(make_key(owner.home / ".ssh", "bob")), "CHATCTX_ALLOWED_SIGNERS": ""}
    owner.bench.run("approve", SLUG, "--by", "bob", "--yes", **environ)
    owner.bench.run("publish")
    assert owner.withheld(**owner.signing)[SLUG] is Flaw.SIGNATURE
    return owner


def test_what_nobody_known_signed_is_taken_out_or_approved_by_an_owner(by_a_stranger: Owner) -> None:
    owner = by_a_stranger
    see, out, own, _ = remedy("See who signed")
    assert re.search(rf"approve +.*bob +.*{SLUG}", owner.paste(see))
    owner.paste(out, YES, UNLOCK)
    assert owner.served(CHATCTX_ALLOWED_SIGNERS=owner.signing["CHATCTX_ALLOWED_SIGNERS"]) == {OTHER}
    owner.paste(own, *SIGN)
    assert SLUG in owner.served(**owner.signing)


def test_an_owner_whose_key_was_not_in_the_file_is_added(by_a_stranger: Owner) -> None:
    owner = by_a_stranger
    *_, add = remedy("See who signed")
    owner.paste(add, KEY=str(owner.home / ".ssh/bob.pub"))
    assert SLUG in owner.served(**owner.signing)


def until_the_next_second() -> None:
    """Decisions and the lives of keys are told in whole seconds."""
    now = time.time()
    time.sleep(int(now) + 1.05 - now)


def cut_the_last_line_off(owner: Owner) -> None:
    ledger = owner.bench.records / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().splitlines(keepends=True)[0])
    until_the_next_second()


def test_another_ledger_is_believed_once_servers_are_started_anew(owner: Owner) -> None:
    running = Guard()
    assert owner.withheld(running) == {}
    cut_the_last_line_off(owner)
    owner.bench.approve(OTHER, by="bob")
    (another,) = remedy("Start another ledger")
    assert "restore records/ledger.jsonl" in owner.paste("chatctx review publish", code=1)
    owner.paste(another)
    assert owner.withheld(running).keys() == {OTHER}
    assert (owner.withheld(), owner.served()) == ({}, {SLUG, OTHER})


def test_another_ledger_gives_no_published_version_another_text(owner: Owner, database_server: DatabaseServer) -> None:
    """It is refused with the remedy, which is run too."""
    cut_the_last_line_off(owner)
    owner.bench.edit(owner.bench.records / "data" / f"{OTHER}.md", "off by 0.01", "off by 0.02")
    owner.bench.approve(OTHER, by="bob")
    assert "publish into an empty database" in owner.paste(remedy("Start another ledger")[0], code=1)
    with database_server.clone(DATABASE) as empty:
        names = {"EMPTY_DATABASE_URL": empty.app_url, "EMPTY_OWNER_DATABASE_URL": empty.owner_url}
        owner.paste(remedy("Restore, or publish anew")[0], **names)
        assert replace(owner, database=empty).served() == {SLUG, OTHER}


def test_a_replaced_key_signs_nothing_more_and_what_it_signed_stays(owner: Owner) -> None:
    owner.set_signing_up()
    owner.paste(remedy("Signatures")[1], *SIGN, SLUG=OTHER)
    until_the_next_second()
    (change,) = remedy("Replace a key")
    owner.paste(change, *MAKE_KEY, *SIGN)
    assert (owner.withheld(**owner.signing), owner.served(**owner.signing)) == ({}, {SLUG, OTHER})
    owner.exported.append("export CHATCTX_SIGNING_KEY=~/.ssh/chatctx-approvals")
    said = owner.paste('chatctx review approve "$SLUG" --by alice', *SIGN, code=1)
    assert "do not let this key sign as alice now" in said


def test_what_a_stolen_key_signed_is_withheld_until_it_is_approved_again(owner: Owner) -> None:
    owner.set_signing_up()
    (stolen,) = remedy("A key is stolen")
    lines = stolen.splitlines()
    cut = lines.index("chatctx review publish --dry-run")
    owner.paste("\n".join(lines[:cut]), *MAKE_KEY)
    assert owner.withheld(**owner.signing) == {SLUG: Flaw.SIGNATURE, OTHER: Flaw.UNSIGNED}
    said = owner.paste("\n".join(lines[cut:]), *SIGN)
    assert f"withheld: {SLUG} (approval is not signed by anybody who may)" in said
    assert owner.served(**owner.signing) == {SLUG}
    assert read_ledger(owner.bench.records / "ledger.jsonl").content_version(SLUG) == 3
