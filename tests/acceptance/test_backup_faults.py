"""Backups that do not come about, and files and databases that must not be harmed by one."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from app.cluster import scratch_cluster
from app.cluster.address import DATABASE
from app.recordfile import read_record
from tests.acceptance.backup_commands import BACK_UP, RESTORE, Shell, blocks, paste
from tests.acceptance.backup_state import KEPT, state_of
from tests.acceptance.conftest import CHOSEN, ROOT
from tests.databases import Database, DatabaseServer


@pytest.fixture
def used(database: Database, tmp_path: Path) -> Shell:
    """Lend a shell with a database of a few records."""
    database.publish(*[read_record(ROOT / "records" / f"{name}.md").record for name in CHOSEN])
    return Shell(database, tmp_path)


@pytest.fixture
def empty(database_server: DatabaseServer, tmp_path: Path) -> Iterator[Shell]:
    """Lend a shell with an empty database, prepared as the README says; its backup is the one of `used`."""
    with database_server.clone(DATABASE) as database:
        yield Shell(database, tmp_path)


def test_t45_pg_dump_alone_makes_the_same_backup(used: Shell) -> None:
    """The documented `pg_dump`, for schedulers of one's own, keeps and leaves out what `chatctx backup` does."""
    url = used.database.owner.url
    named = {"OWNER_URI": url._replace(drivername="postgresql", password=None).render_as_string()}
    listed = []
    for block in blocks("Back up"):
        paste(block, used.environ | named | {"PGPASSWORD": str(url.password)})
        listed.append(contents_of(used.backup))
        used.backup.unlink()
    assert listed[0] == listed[1]
    assert sum("TABLE DATA" in line for line in listed[0]) == len(KEPT) + 1


def contents_of(backup: Path) -> list[str]:
    table = paste(f"pg_restore --list '{backup}'", {}).splitlines()
    return [line.partition("; ")[2] for line in table if not line.startswith(";")]


@pytest.mark.parametrize("found", ["served records", "one table of somebody's"])
def test_t45_database_that_is_in_use_is_not_restored_over(used: Shell, empty: Shell, found: str) -> None:
    """A backup is restored into an empty database only; one that holds anything is left as it is."""
    used.back_up()
    if found == "served records":
        before = state_of(used.database.owner)
        assert "not empty" in used.run(RESTORE, code=1)
        assert state_of(used.database.owner) == before
        return
    with empty.database.owner.begin() as connection:
        connection.execute(text("CREATE SCHEMA chatctx"))
        connection.execute(text("CREATE TABLE chatctx.mine ()"))
    assert "not empty" in empty.run(RESTORE, code=1)
    assert things_in(empty.database) == ["mine"]


def things_in(database: Database) -> list[str]:
    with database.owner.connect() as connection:
        listed = "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('chatctx') ORDER BY 1"
        return list(connection.scalars(text(listed)))


def test_t45_damaged_backup_restores_nothing(used: Shell, empty: Shell) -> None:
    """A backup that is cut off, or is none at all, restores nothing; the whole one then goes into the same database."""
    used.back_up()
    whole = used.backup.read_bytes()
    for damaged in (b"", b"-- a script\n", whole[: len(whole) // 2], whole[:-1000]):
        used.backup.write_bytes(damaged)
        assert "backup_failed" in empty.run(RESTORE, code=1)
        assert things_in(empty.database) == []
    used.backup.write_bytes(whole)
    assert f"records served: {len(CHOSEN)}" in empty.run(RESTORE)


def test_t45_what_was_altered_in_a_backup_is_named(used: Shell, empty: Shell) -> None:
    """A record that is not what was approved is named by `chatctx restore` and by `doctor`, each with exit code 1."""
    slug = CHOSEN[0].partition("/")[2]
    with used.database.owner.begin() as connection:
        connection.execute(text("UPDATE record SET title = title || '!' WHERE slug = :slug"), {"slug": slug})
    used.back_up()
    assert slug in empty.run(RESTORE, code=1)
    assert slug in empty.run("chatctx doctor", code=1)


def test_t45_backup_is_there_when_it_is_whole_or_not_at_all(used: Shell) -> None:
    """A backup that runs out of space leaves nothing, one that is killed no file of its name, and none is overwritten.

    The space is a limit on the size of files that a process may write. What is killed is the command alone, while
    PostgreSQL's program waits for a table and goes on afterwards.
    """
    used.run(f"ulimit -f 8; {BACK_UP}", code=1)
    assert used.left() == []
    with used.database.owner.begin() as holding:
        holding.execute(text("LOCK TABLE chatctx.record IN ACCESS EXCLUSIVE MODE"))
        command = subprocess.Popen(["sh", "-c", f"exec {BACK_UP}"], env=used.environ)
        wait_for_lock(used.database)
        command.kill()
        command.wait()
    assert [name.endswith(".partial") for name in used.left()] == [True]
    used.backup.write_text("precious")
    assert "left as it is" in used.run(BACK_UP, code=1)
    assert used.backup.read_text() == "precious"


def wait_for_lock(database: Database) -> int:
    """Wait until somebody waits for a table, and return the process that serves whom."""
    waiting = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = time.monotonic() + 20
    while True:
        with database.owner.connect() as connection:
            if found := connection.scalar(text(waiting)):
                return int(found)
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="command lines are read in /proc")
def test_t45_no_password_is_on_a_command_line_or_in_a_message(used: Shell) -> None:
    """While a backup is made and when it fails, the database's password is on no command line and in no message."""
    password = str(used.database.owner.url.password)
    with used.database.owner.begin() as holding:
        holding.execute(text("LOCK TABLE chatctx.record IN ACCESS EXCLUSIVE MODE"))
        command = subprocess.Popen(["sh", "-c", f"exec {BACK_UP}"], env=used.environ, stderr=subprocess.PIPE, text=True)
        waiting = wait_for_lock(used.database)
        lines = command_lines()
        holding.execute(text("SELECT pg_terminate_backend(:waiting)"), {"waiting": waiting})
        said = command.communicate()[1]
    assert command.returncode == 1
    assert [line for line in lines if "pg_dump" in line and str(used.backup) in line]
    assert [line for line in lines if password in line] == []
    assert "terminating connection" in said
    assert password not in said


def command_lines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def test_t45_backup_comes_back_on_the_oldest_postgres_that_is_brought(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """On PostgreSQL 16, whose settings `pg_restore` 18 would exceed, a backup is made and restored as on 18."""
    with scratch_cluster(tmp_path_factory.mktemp("old"), major=16) as cluster:
        server = DatabaseServer(cluster.address)
        server.make_template()
        with server.clone() as old, server.clone(DATABASE) as new:
            old.publish(read_record(ROOT / "records" / f"{CHOSEN[0]}.md").record)
            Shell(old, tmp_path).back_up()
            assert "records served: 1" in Shell(new, tmp_path).run(RESTORE)
        server.close()
