"""A backup, made and restored with the commands that docs/operations.md gives."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, make_url, text

from app.cluster import scratch_cluster
from app.cluster.binaries import wheel_binaries
from app.recordfile import read_record
from app.store.catalogue import PostgresCatalogue
from app.store.engine import owner_engine, server_engine
from app.store.guard import verify_published
from app.store.served import publication, published_hashes
from tests.acceptance.conftest import CHOSEN, ROOT, Start, answer_of
from tests.acceptance.credentials_owner import Owner
from tests.databases import Database, DatabaseServer
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask

Note = Callable[[str, object], None]
DOCUMENT = ROOT / "docs/operations.md"
EMPTIED = {"quota_use", "daily_salt"}
QUESTIONS = (
    "list rows keep the wrong state after reordering",
    "release a redis lock that another process holds",
    "money column rounding errors",
    "mock patch has no effect",
)


def documented(program: str) -> list[str]:
    """Return the command line of the document that runs a program, as words."""
    (line,) = re.findall(rf"^\s*({program} --.+)$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    return shlex.split(line)


def run(command: list[str], url: str, folder: Path, major: int) -> None:
    """Run a documented command with the wheel's programs."""
    address = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    words = [re.sub(r"\$\w*OWNER_URL", lambda _: address, word) for word in command]
    words[0] = str(wheel_binaries(major).folder / words[0])
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=120)


def counts(engine: Engine) -> dict[str, int]:
    """Return how many rows each table has."""
    with engine.connect() as connection:
        tables = connection.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'chatctx'")).all()
        return {table: connection.scalar(text(f"SELECT count(*) FROM {table}")) or 0 for table in tables}  # noqa: S608


def answers(server: Engine) -> list[list[tuple[str, Any]]]:
    """Return what the gold questions find, with the scores."""
    catalogue, embedder = PostgresCatalogue(server), HashingEmbedder()
    pools = [ask(catalogue, question, embedder.question(question)) for question in QUESTIONS]
    return [[(found.slug, found.words, found.cosine) for found in pool.candidates] for pool in pools]  # type: ignore[misc]


@pytest.fixture
def restored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Lend an empty database of another server, prepared as the README says."""
    with scratch_cluster(tmp_path_factory.mktemp("restored")) as cluster:
        server = DatabaseServer(cluster.address)
        # Roles and extension are there already: a cluster of ours begins with them.
        server.run("CREATE DATABASE kb TEMPLATE chatctx")
        owner_url, app_url = server.url("kb"), server.url("kb", app=True)
        database = Database("kb", owner_engine(owner_url), server_engine(app_url), owner_url, app_url)
        yield database
        database.owner.dispose()
        database.server.dispose()
        server.close()


@pytest.fixture
def used(database: Database, tmp_path: Path) -> Owner:
    """Publish records, make a key, and let somebody call."""
    records = [read_record(ROOT / "records" / f"{name}.md").record for name in CHOSEN]
    database.publish(*records)
    return Owner(database.app_url, database.owner_url, tmp_path / "home", tmp_path)


def test_t45_a_restored_backup_answers_as_before(
    used: Owner, database: Database, restored: Database, serve: Start, tmp_path: Path, record_property: Note
) -> None:
    """A database restored on another server from a documented backup serves the same records and answers, verified.

    Without the day's counts and salts, which the dump does not hold. What is restored has been held against the ledger;
    the extension amcheck is not among those of this PostgreSQL, so that indexes are checked by what they find.
    """
    key = used.mint("an agent")
    bearer = {"authorization": f"Bearer {key}"}
    question = {"ids": [CHOSEN[0].partition("/")[2]]}
    with serve(database, used.home) as program:
        assert program.call("get_guidance", question, **bearer).status_code == 200
        assert program.call("get_guidance", question).status_code == 200
    before, gold = counts(database.owner), answers(database.server)
    assert all(before[table] for table in EMPTIED)

    run(documented("pg_dump"), database.owner_url, tmp_path, 18)
    started = time.monotonic()
    run(documented("pg_restore"), restored.owner_url, tmp_path, 18)
    seconds = time.monotonic() - started

    assert counts(restored.owner) == before | dict.fromkeys(EMPTIED, 0)
    assert published_hashes(restored.owner) == published_hashes(database.owner)
    assert publication(restored.server).ledger_head == publication(database.server).ledger_head
    assert verify_published(restored.server) == []
    assert answers(restored.server) == gold
    assert all(gold)
    with serve(restored, used.home) as program:
        assert answer_of(program.call("get_guidance", question, **bearer))["missing"] == []
    checked = doctor(restored, used.home)
    assert checked.returncode == 0, checked.stdout
    record_property(
        "figure", f"{len(before)} tables, {len(gold)} questions answered alike, restored in {seconds:.1f} s"
    )


def test_t45_without_the_pepper_reads_go_on_and_keys_are_refused(
    used: Owner, database: Database, restored: Database, serve: Start, tmp_path: Path
) -> None:
    """Where a backup is restored without the pepper, guests read on, every key is 401, and nothing else is lost."""
    key = used.mint("an agent")
    run(documented("pg_dump"), database.owner_url, tmp_path, 18)
    run(documented("pg_restore"), restored.owner_url, tmp_path, 18)
    question = {"ids": [CHOSEN[0].partition("/")[2]]}
    with serve(restored, tmp_path / "elsewhere") as program:
        assert answer_of(program.call("get_guidance", question))["missing"] == []
        assert program.call("get_guidance", question, authorization=f"Bearer {key}").status_code == 401


def test_t45_a_record_that_was_altered_in_the_backup_is_found(
    used: Owner, database: Database, restored: Database, tmp_path: Path
) -> None:
    """`chatctx doctor` names a record that is not what was approved after a restore, with exit code 1."""
    run(documented("pg_dump"), database.owner_url, tmp_path, 18)
    run(documented("pg_restore"), restored.owner_url, tmp_path, 18)
    used.mint("an agent")
    slug = CHOSEN[0].partition("/")[2]
    with restored.owner.begin() as connection:
        connection.execute(text("UPDATE record SET title = title || '!' WHERE slug = :slug"), {"slug": slug})
    checked = doctor(restored, used.home)
    assert (checked.returncode, slug in checked.stdout) == (1, True)


def doctor(database: Database, home: Path) -> subprocess.CompletedProcess[str]:
    environ = {
        "DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url,
        "CHATCTX_HOME": str(home), "CHATCTX_EMBEDDER": "none",
    }  # fmt: skip
    command = [sys.executable, "-m", "app.main", "doctor"]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environ}, capture_output=True, text=True, timeout=60, check=False
    )
