"""The database is lost, and comes back from a file."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from app.cluster import Cluster
from app.cluster.binaries import wheel_binaries
from app.embedding.endpoint import EndpointEmbedder
from app.recordfile import read_record, record_paths
from app.store.engine import owner_engine
from tests.acceptance.backup_commands import BACK_UP, DOCUMENT, RESTORE, blocks, paste
from tests.acceptance.backup_state import KEPT, SHORT_LIVED, State, state_of
from tests.acceptance.conftest import ROOT, Program, answer_of, run_program
from tests.acceptance.embedding_load import Answer, ask_all, gold, recall
from tests.acceptance.embedding_service import Service, embedding_service
from tests.databases import Database, DatabaseServer
from tests.fakes import HashingEmbedder

_, PEPPER, DOCTOR = blocks("Restore")
COMMENT = "the drill of the backup was here"


@dataclass(frozen=True)
class Served:
    """What a server on a database gave: the gold questions' answers, and how it took a guest and a key."""

    answers: dict[str, Answer]
    guest: int
    key: int


def use(program: Program, key: str) -> Served:
    ids = {"ids": ["store-money-as-numeric"]}
    guest = program.call("get_guidance", ids).status_code
    keyed = program.call("get_guidance", ids, authorization=f"Bearer {key}").status_code
    return Served(ask_all(program, gold()), guest, keyed)


@dataclass
class Drill:
    """A database before its loss, and what came back.

    Attributes:
        short_lived: the salts and subjects there were, in the spelling of a dump.
        seconds: of the backup and of the restore.
        checked: what PostgreSQL said of the restored pages.
    """

    backup: Path
    before: State
    after: State
    first: Served
    without_pepper: Served
    with_pepper: Served
    short_lived: list[str]
    seconds: tuple[float, float]
    checked: str


@contextmanager
def embedded(home: Path) -> Iterator[Engine]:
    with Cluster(home) as cluster:
        engine = owner_engine(cluster.address.owner_url)
        yield engine
        engine.dispose()


def practise(database: Database, service: Service, folder: Path) -> Drill:
    """Use a database, back it up, restore it into a new cluster and use that, all by docs/operations.md."""
    records = [read_record(path).record for path in record_paths(ROOT / "records")]
    database.publish(*records, embedder=EndpointEmbedder(service.url, "small"))
    settings = service.settings("small") | {"CHATCTX_EMBEDDING_CACHE": "0", "CHATCTX_EMBEDDING_TIMEOUT_MS": "5000"}
    urls = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    lost, new = (settings | {"CHATCTX_HOME": str(folder / name)} for name in ("home", "new"))
    lost |= urls
    key = new_key(lost, folder / "key")
    with run_program(lost, folder / "home", command="serve") as program:
        first = use(program, key)
        told = answer_of(program.call("submit_feedback", {"category": "other", "comment": COMMENT}))
        assert told["accepted"]
    before, short_lived = state_of(database.owner), dying(database.owner)
    backup = folder / "kb.dump"
    named = {"BACKUP": str(backup), "HOME_BEFORE": str(folder / "home")}
    seconds = (timed(BACK_UP, lost | named), timed(RESTORE, new | named))
    with embedded(folder / "new") as engine:
        after = state_of(engine)
    with run_program(new, folder / "new", command="serve") as program:
        without_pepper = use(program, key)
    paste(PEPPER, new | named)
    # What it counts by itself goes on where it was.
    new_key(new, folder / "another")
    with run_program(new, folder / "new", command="serve") as program:
        with_pepper = use(program, key)
    assert "broken" not in paste(DOCTOR, new)
    checked = check_pages(folder / "new")
    return Drill(backup, before, after, first, without_pepper, with_pepper, short_lived, seconds, checked)


def timed(block: str, environ: dict[str, str]) -> float:
    begun = time.monotonic()
    paste(block, environ)
    return time.monotonic() - begun


def new_key(environ: dict[str, str], path: Path) -> str:
    paste(f"chatctx keys create --label drill --out '{path}'", environ)
    return path.read_text("ascii").strip()


def dying(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        found = connection.scalars(text("SELECT subject FROM quota_use UNION ALL SELECT salt FROM daily_salt"))
        return [bytes(secret).hex() for secret in found]


def check_pages(home: Path) -> str:
    """Read every page of a stopped cluster and hold it against its checksum."""
    data = Cluster(home).status().data_directory
    program = wheel_binaries(18).folder / "pg_checksums"
    done = subprocess.run([program, "--check", "-D", data], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def drill(database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drill]:
    folder = tmp_path_factory.mktemp("drill")
    with embedding_service(small=HashingEmbedder(384)) as service, database_server.clone() as database:
        yield practise(database, service, folder)
        Cluster(folder / "new").destroy()


def test_t45_restored_database_holds_and_answers_what_the_lost_one_did(
    drill: Drill, record_property: Callable[[str, object], None]
) -> None:
    """From a backup, a new database holds every row, hash and decision, and gives the same answers to known questions.

    PostgreSQL reads every page of it without a fault. That its indexes agree with its tables, amcheck would tell, which
    the embedded PostgreSQL does not have; a restore builds them anew.
    """
    lost, new = drill.before, drill.after
    assert {table: new.content[table] for table in KEPT} == {table: lost.content[table] for table in KEPT}
    assert [table for table in KEPT if not lost.content[table][0]] == []
    assert (new.hashes, new.ledger_head, new.unsound) == (lost.hashes, lost.ledger_head, [])
    answers = {key: answer.text for key, answer in drill.first.answers.items()}
    assert {key: answer.text for key, answer in drill.with_pepper.answers.items()} == answers
    assert "Bad checksums:  0" in drill.checked, drill.checked
    found = recall(list(drill.with_pepper.answers.values()))
    record_property(
        "figure",
        f"{new.rows(KEPT)} rows of {len(KEPT)} tables equal, recall {found:.2f} as before; "
        f"backup {drill.seconds[0]:.1f} s, restore and verification {drill.seconds[1]:.1f} s",
    )


def test_t45_backup_holds_no_counts_of_calls_and_no_salts(
    drill: Drill, record_property: Callable[[str, object], None]
) -> None:
    """A backup keeps no count of anybody's calls and no salt of their day, so that what is deleted stays deleted."""
    assert len(drill.short_lived) >= 2
    program = wheel_binaries(18).folder / "pg_restore"
    dump = subprocess.run([program, "--file=-", drill.backup], capture_output=True, text=True, check=True).stdout
    assert COMMENT in dump
    assert [secret for secret in drill.short_lived if secret in dump] == []
    assert drill.after.rows(SHORT_LIVED) == 0
    assert drill.backup.stat().st_mode & 0o077 == 0
    record_property("figure", f"{len(drill.short_lived)} counters and salts before, 0 in the file")


def test_t45_without_the_pepper_keys_are_refused_and_reads_are_served(
    drill: Drill, record_property: Callable[[str, object], None]
) -> None:
    """Restored without the pepper, every key is 401 and guests are served; with it, the same keys work again."""
    assert (drill.first.key, drill.without_pepper.key, drill.with_pepper.key) == (200, 401, 200)
    assert (drill.first.guest, drill.without_pepper.guest, drill.with_pepper.guest) == (200, 200, 200)
    served = [answer.status for answer in drill.without_pepper.answers.values()]
    assert set(served) == {200}
    record_property("figure", f"without: key 401, {len(served)} searches served; with: key 200")


def test_no_command_of_the_document_is_left_out() -> None:
    """Each of its blocks is one that the tests here or of a model change run."""
    run = [block for heading in ("Back up", "Restore", "Change the embedding model") for block in blocks(heading)]
    assert DOCUMENT.read_text("utf-8").count("```") == 2 * len(run)
