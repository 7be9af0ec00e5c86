"""A signed set as an owner makes it: approved with an SSH key by command, published, ready to be tampered with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from app.integrity import Policy
from app.ledger import Entry, Ledger
from app.runtime import LocalRuntime
from app.signatures import read_signers
from app.store.catalogue import PostgresCatalogue
from app.store.guard import Guard
from app.store.ledgerlines import walk_back
from app.transports.cli import create_cli
from tests.acceptance.conftest import CHOSEN, copy_records
from tests.databases import Database, DatabaseServer

OWNER = "alice"
SLUGS = tuple(name.partition("/")[2] for name in CHOSEN)
# The one that is tampered with; the rest must not suffer.
VICTIM, *OTHERS = SLUGS


@dataclass(frozen=True)
class SignedSet:
    """Records, ledger and keys of an owner, and the name of a database they are published in."""

    folder: Path
    allowed: Path
    database: str

    @property
    def policy(self) -> Policy:
        return Policy(read_signers(self.allowed), required=True)

    def catalogue(self, database: Database) -> PostgresCatalogue:
        """Return the catalogue of a server that requires signatures."""
        return PostgresCatalogue(database.server, Guard(self.policy))


def make_key(folder: Path, name: str) -> Path:
    """Make an SSH key pair without a passphrase and return the private one's path."""
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True, timeout=30)
    return path


def allow(path: Path, principal: str, key: Path, options: str = "") -> Path:
    """Write a file that allows one key to sign in one name."""
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    path.write_text(" ".join(part for part in (principal, options, public) if part) + "\n")
    return path


def chatctx(environ: Mapping[str, str], *arguments: str) -> str:
    """Run a command as the owner does, which must succeed."""
    cli = create_cli(LocalRuntime(environ, Path.cwd()))
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def owner_environ(database: Database, folder: Path, allowed: Path, key: Path) -> dict[str, str]:
    """Return the owner's environment."""
    return {
        "DATABASE_URL": database.app_url,
        "CHATCTX_OWNER_DATABASE_URL": database.owner_url,
        "CHATCTX_HOME": str(folder / "home"),
        "CHATCTX_RECORDS": str(folder / "records"),
        "CHATCTX_EMBEDDER": "none",
        "CHATCTX_ALLOWED_SIGNERS": str(allowed),
        "CHATCTX_SIGNING_KEY": str(key),
        "CHATCTX_REQUIRE_SIGNATURES": "true",
    }


@pytest.fixture(scope="session")
def signed(database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignedSet]:
    """Approve a few records with a key, publish, approve one of them a second time, and publish again."""
    folder = tmp_path_factory.mktemp("signed")
    key = make_key(folder, "owner-key")
    allowed = allow(folder / "allowed_signers", OWNER, key, 'namespaces="chatctx-approval-v1"')
    copy_records(folder / "records")
    with database_server.clone() as database:
        environ = owner_environ(database, folder, allowed, key)
        for slug in SLUGS:
            _approve(environ, slug)
        chatctx(environ, "review", "publish")
        _edit(folder / "records", VICTIM)
        _approve(environ, VICTIM)
        chatctx(environ, "review", "publish")
        database.server.dispose()
        database.owner.dispose()
        yield SignedSet(folder, allowed, database.name)


@pytest.fixture
def copy(signed: SignedSet, database_server: DatabaseServer) -> Iterator[Database]:
    """Lend a copy of the database the signed set is published in."""
    with database_server.clone(signed.database) as database:
        yield database


def ledger_of(database: Database) -> Ledger:
    """Return the ledger as the database holds it."""
    with database.owner.connect() as connection:
        head = connection.scalar(text("SELECT ledger_head FROM publication"))
        return Ledger(walk_back(connection, head, None).entries)


def tamper(database: Database, *statements: str, **values: object) -> None:
    """Change what lies in the database as somebody could who has got hold of the owner's login."""
    with database.owner.begin() as connection:
        for table in ("ledger_line", "record_version", "owner_action"):
            connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        for statement in statements:
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            connection.execute(text(statement), used)


def put_line(database: Database, entry: Entry) -> None:
    """Add a line to the database's ledger and make it the last one."""
    tamper(
        database,
        "INSERT INTO ledger_line (hash, prev, line) VALUES (:hash, :prev, :line)",
        "UPDATE publication SET ledger_head = :hash, generation = generation + 1",
        hash=entry.hash,
        prev=entry.prev,
        line=entry.line().decode(),
    )


def _approve(environ: Mapping[str, str], slug: str) -> None:
    note = "read and found right"
    chatctx(environ, "review", "approve", slug, "--by", OWNER, "--yes", "--words-only", "--note", note)


def _edit(folder: Path, slug: str) -> None:
    (path,) = folder.glob(f"*/{slug}.md")
    before = path.read_text("utf-8")
    after = before.replace("## Rationale\n", "## Rationale\nSeen often. ")
    assert after != before
    path.write_text(after, "utf-8")
