"""What each login may do, and what the server's log may say."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
import pytest

from app.cluster import Cluster, ClusterError, roles
from app.cluster.configuration import server_settings
from app.cluster.postmaster import read_pid_file, wait_until
from app.cluster.roles import verify_data_directory
from app.cluster.serverlog import cap_log

_SECRET = "zebra-4711"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE public.mine (n int)",
        "CREATE SCHEMA mine",
        "CREATE TEMPORARY TABLE mine (n int)",
        "SET ROLE chatctx_owner",
        "SET SESSION AUTHORIZATION chatctx_owner",
        "ALTER ROLE chatctx_owner PASSWORD 'x'",
        "ALTER ROLE chatctx_app SUPERUSER",
        "GRANT chatctx_owner TO chatctx_app",
        "CREATE ROLE another",
        "CREATE DATABASE another",
        "ALTER DATABASE chatctx SET log_statement = 'all'",
        "ALTER SYSTEM SET log_statement = 'all'",
        "SET log_statement = 'all'",
        "SET log_min_messages = 'debug5'",
        "ALTER TABLE owned ADD COLUMN more int",
        "INSERT INTO owned VALUES (1)",
        "SELECT * FROM owned",
        "DROP TABLE owned",
        "SELECT lo_from_bytea(0, 'x')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT 1) TO '/tmp/chatctx-out'",
        "SELECT pg_read_file('postgresql.conf')",
    ],
)
def test_the_servers_login_may_do_nothing_by_itself(running: Cluster, statement: str) -> None:
    """All it may do is granted to it by the migrations."""
    with psycopg.connect(running.address.owner_uri) as owner:
        owner.execute("CREATE TABLE IF NOT EXISTS owned (n int)")
    with (
        psycopg.connect(running.address.app_uri, autocommit=True) as connection,
        pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue)),
    ):
        connection.execute(statement)


@pytest.mark.parametrize("database", ["postgres", "template1"])
def test_the_servers_login_sees_one_database(running: Cluster, database: str) -> None:
    """The others are closed to it."""
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(running.address.app_uri.replace("/chatctx?", f"/{database}?"))


def test_the_owner_is_no_superuser_but_owns_the_database(running: Cluster) -> None:
    """The extension belongs to the superuser, whom nobody uses after the start."""
    with psycopg.connect(running.address.owner_uri) as connection:
        row = connection.execute(
            """SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls,
                   (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()),
                   (SELECT pg_get_userbyid(extowner) FROM pg_extension WHERE extname = 'vector')
               FROM pg_roles WHERE rolname = current_user"""
        ).fetchone()
    assert row == (False, "chatctx_owner", "postgres")


def test_nobody_connects_without_a_password(running: Cluster) -> None:
    """Entering the folder is not enough."""
    sockets = quote(str(running.address.socket_folder))
    for role in ("postgres", "chatctx_owner", "chatctx_app"):
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"postgresql://{role}@/chatctx?host={sockets}&port=5432&passfile=/dev/null")


def test_text_and_order_do_not_depend_on_the_machine(running: Cluster) -> None:
    """UTF-8 with the built-in locale, and checksums on the data."""
    with psycopg.connect(running.address.owner_uri) as connection:
        row = connection.execute(
            """SELECT datlocprovider::text, datlocale, current_setting('server_encoding'),
                   current_setting('data_checksums'), lower('ÉCOLE'), to_tsvector('simple', 'École')::text
               FROM pg_database WHERE datname = current_database()"""
        ).fetchone()
    assert row == ("b", "C.UTF-8", "UTF8", "on", "école", "'école':1")


def test_no_text_of_a_query_reaches_the_log(running: Cluster) -> None:
    """Not as a parameter, not as a statement, not inside an error's message or detail, not when a session crashes."""
    uri = running.address.owner_uri
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS private (word text PRIMARY KEY)")
        connection.execute("INSERT INTO private VALUES (%s) ON CONFLICT DO NOTHING", [_SECRET])
        for statement in (
            "INSERT INTO private VALUES (%s)",
            "SELECT CAST(%s AS integer)",
            "SELECT to_tsquery(%s || ' & & (')",
            "SELECT no_such_function(%s)",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(statement, [_SECRET])
        with pytest.raises(psycopg.Error):
            connection.execute(f"SELECT '{_SECRET}' FROM nowhere")  # noqa: S608 - text inside a statement is the point
    _crash_a_session(running, f"SELECT '{_SECRET}', pg_sleep(30)")
    assert wait_until(lambda: "signal 11" in _log(running), 10)
    assert _SECRET not in _log(running)
    assert wait_until(lambda: _answers(uri), 20)


def _crash_a_session(running: Cluster, statement: str) -> None:
    with psycopg.connect(running.address.owner_uri) as connection:
        timer = threading.Timer(0.5, os.kill, [connection.info.backend_pid, signal.SIGSEGV])
        timer.start()
        with pytest.raises(psycopg.OperationalError):
            connection.execute(statement)
        timer.join()


def _log(running: Cluster) -> str:
    return running.status().log_file.read_text(encoding="utf-8")


def _answers(uri: str) -> bool:
    try:
        psycopg.connect(uri).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.parametrize("name", ["listen_addresses", "log_statement", "LOG_MIN_MESSAGES", "hba_file"])
def test_settings_that_keep_the_database_private_cannot_be_changed(home: Path, name: str) -> None:
    """Others can."""
    with pytest.raises(ClusterError, match=name):
        server_settings({name: "x"}, durable=True, access_rules=home, sockets=home)


def test_chosen_settings_reach_the_server(home: Path) -> None:
    """Over our defaults."""
    chosen = Cluster(home, durable=False, settings={"work_mem": "7MB", "jit": "on"})
    with chosen as cluster, psycopg.connect(cluster.address.app_uri) as connection:
        assert connection.execute("SHOW work_mem").fetchone() == ("7MB",)
        assert connection.execute("SHOW jit").fetchone() == ("on",)


def test_little_shared_memory_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers have 64 MB of it: a parallel index build would fail."""
    monkeypatch.setattr("app.cluster.configuration._ENOUGH_SHARED_MEMORY", 2**60)
    with Cluster(home, durable=False) as cluster, psycopg.connect(cluster.address.app_uri) as connection:
        expected = "mmap" if sys.platform == "linux" else "posix"
        assert connection.execute("SHOW dynamic_shared_memory_type").fetchone() == (expected,)


def test_version_16_runs_as_well(home: Path) -> None:
    """For those who have to match another server."""
    with Cluster(home, major=16, durable=False) as cluster, psycopg.connect(cluster.address.app_uri) as connection:
        assert connection.info.server_version // 10000 == 16
        assert connection.execute("SELECT '[1,2]'::vector <=> '[2,1]'::vector").fetchone()


def test_lost_passwords_are_made_anew(home: Path) -> None:
    """The data outlives its passwords."""
    with Cluster(home, durable=False) as cluster:
        old = cluster.address
        with psycopg.connect(old.owner_uri) as connection:
            connection.execute("CREATE TABLE kept (n int)")
    (cluster.status().data_directory.parent / "secrets.json").unlink()
    with Cluster(home, durable=False) as again:
        with psycopg.connect(again.address.owner_uri) as connection:
            connection.execute("SELECT * FROM kept")
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(old.owner_uri)


def test_a_server_on_another_data_directory_is_not_touched(running: Cluster, home: Path) -> None:
    """Whatever answers at the socket has to prove whose it is."""
    passwords = running._server.passwords()
    with pytest.raises(ClusterError, match="another data directory"):
        verify_data_directory(running.address.socket_folder, passwords, home)


def test_a_processor_that_cannot_run_pgvector_is_explained(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The self-test dies of an illegal instruction; the message says which instructions are needed."""
    monkeypatch.setattr(roles, "_PROOF", "SELECT pg_sleep(30)")
    killer = threading.Thread(target=_kill_sleeping_session, args=[home], daemon=True)
    killer.start()
    with pytest.raises(ClusterError, match="AVX2"):
        Cluster(home, durable=False).start()
    killer.join()
    assert not Cluster(home, durable=False).status().running


def _kill_sleeping_session(home: Path) -> None:
    assert wait_until(lambda: bool(_at_select(home)), 60)
    os.kill(_at_select(home)[0], signal.SIGILL)


def _at_select(home: Path) -> list[int]:
    """Return the superuser's sessions at a SELECT, among the children of this test's own server."""
    server = read_pid_file(home / "postgres-18" / "data")
    if server is None:
        return []
    try:
        sessions = psutil.Process(server.pid).children()
        return [one.pid for one in sessions if one.cmdline()[:1] == ["postgres: postgres chatctx [local] SELECT"]]
    except psutil.NoSuchProcess:
        return []


def test_the_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    """One older file is kept; the running server goes on writing to the same file."""
    log = tmp_path / "postgres.log"
    log.write_text("x" * 100, encoding="utf-8")
    cap_log(log, cap=100)
    assert log.stat().st_size == 100
    cap_log(log, cap=99)
    assert log.stat().st_size == 0
    assert (tmp_path / "postgres.log.1").stat().st_size == 100
