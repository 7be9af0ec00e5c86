"""The line to PostgreSQL, its disk, its connections and its logins fail while agents are asking."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from io import FileIO
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import URL, Engine, make_url, text
from sqlalchemy.exc import OperationalError

from app.cluster import Cluster
from app.cluster.address import APP
from app.store.engine import owner_engine
from app.store.migrating import downgrade, upgrade
from tests.acceptance.conftest import ROOT, Program, Start
from tests.acceptance.credentials_owner import Owner
from tests.acceptance.outage_load import (
    LONGEST_ANSWER,
    PLENTY,
    SLACK,
    Asker,
    awaited,
    check_refusals,
    load_on,
    own_postgres,
    served,
    units_kept,
)
from tests.core.records import make_record
from tests.databases import TEMPLATE, Database, DatabaseServer
from tests.proxies import FaultyLine, faulty_line_to

POOL = 8
RECOVERY = 5.0
Note = Callable[[str, object], None]


@pytest.fixture
def far(serve: Start, database: Database) -> Iterator[tuple[Program, FaultyLine]]:
    """A server that reaches the database over a line that can be made to fail."""
    database.publish(make_record())
    with faulty_line_to(database.app_url, database.owner_url) as (line, app_url, owner_url):
        through = replace(database, app_url=app_url, owner_url=owner_url)
        with served(serve, through, CHATCTX_POOL_SIZE=str(POOL)) as program:
            yield program, line


def recovered(program: Program, since: float) -> float:
    """Return how many seconds after a moment a call was served again; it may be refused before."""
    while Asker(program.base).ask().status != 200:
        assert time.monotonic() - since < RECOVERY + SLACK
    return time.monotonic() - since


def connections_at_work(program: Program, database: Database) -> int:
    """Return how many calls the server can have in the database at once."""
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = CAST('quota_use' AS regclass)")
    most = 0
    with ExitStack() as stack:
        holding, looking = (stack.enter_context(database.owner.connect()) for _ in range(2))
        holding.execute(text("LOCK TABLE quota_use IN ACCESS EXCLUSIVE MODE"))
        with load_on(program, agents=2 * POOL):
            until = time.monotonic() + 2
            while time.monotonic() < until and most < POOL:
                most = max(most, looking.scalar(waiting) or 0)
            holding.rollback()
    return most


def test_t07_a_silent_database_line_is_answered_for_in_time_and_served_from_again(
    far: tuple[Program, FaultyLine], database: Database, record_property: Note
) -> None:
    """A line to PostgreSQL that takes bytes and passes none on: 503 within 3 s, served 5 s after it works, pool whole.

    Nothing is free meanwhile: every call that was served is counted.
    """
    program, line = far
    asker = Asker(program.base)
    served_before = asker.ask_at_once(POOL)
    assert {answer.status for answer in served_before} == {200}
    line.stall()
    answers = [answer for _ in range(3) for answer in asker.ask_at_once(20)]
    check_refusals(answers)
    line.resume()
    back = recovered(program, time.monotonic())
    slowest = max(answer.took for answer in answers)
    assert slowest < LONGEST_ANSWER + SLACK
    assert back < RECOVERY
    assert connections_at_work(program, database) == POOL
    assert units_kept(database.owner) >= POOL + 1
    record_property(
        "figure",
        f"{len(answers)} calls refused, slowest {slowest:.1f} s, served again after {back:.1f} s, "
        f"{POOL} of {POOL} connections at work again",
    )


def test_t07_a_line_that_is_cut_at_any_byte_is_refused_without_a_trace(
    far: tuple[Program, FaultyLine], database: Database, record_property: Note
) -> None:
    """A line that is reset after any number of an answer's bytes: 503 or 200, and the next call is served.

    From the first byte of a connection's greeting to the last of a search's rows.
    """
    program, line = far
    asker = Asker(program.base)
    counted: Counter[int] = Counter()
    sizes = [*range(0, 700, 23), *range(700, 12_000, 900)]
    for size in sizes:
        line.cut_answers_after(size)
        answers = asker.ask_at_once(2)
        check_refusals(answers, 200)
        counted.update(answer.status for answer in answers)
        line.resume()
        recovered(program, time.monotonic())
    assert counted[503] > len(sizes) // 2
    assert program.process.poll() is None
    assert "Traceback" not in program.output
    assert units_kept(database.owner) >= counted[200] + len(sizes)
    record_property("figure", f"cut at {len(sizes)} places: {counted[503]} refused, {counted[200]} served, none 500")


def test_t07_a_line_that_dribbles_is_answered_for_in_time(
    far: tuple[Program, FaultyLine], database: Database, record_property: Note
) -> None:
    """A line that passes on 20 bytes a second gets callers 503 within 3 s, and 200 again 5 s after it works."""
    program, line = far
    asker = Asker(program.base)
    assert {answer.status for answer in asker.ask_at_once(POOL)} == {200}
    line.dribble(0.05)
    answers = [answer for _ in range(2) for answer in asker.ask_at_once(20)]
    check_refusals(answers)
    line.resume()
    back = recovered(program, time.monotonic())
    slowest = max(answer.took for answer in answers)
    assert slowest < LONGEST_ANSWER + SLACK
    assert connections_at_work(program, database) == POOL
    record_property("figure", f"{len(answers)} refused, slowest {slowest:.1f} s, served again after {back:.1f} s")


class SmallDisk:
    """A file system of its own for a program's home, which can be filled to the last byte."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self._filler = folder / "filler"

    @contextmanager
    def full(self) -> Iterator[None]:
        with self._filler.open("wb", buffering=0) as filler:
            while _is_written(filler, bytes(4096)):
                pass
        yield
        self._filler.unlink()


def _is_written(file: FileIO, content: bytes) -> bool:
    """Write to a file, unless the disk is full; tell which."""
    try:
        return bool(file.write(content))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    folder = Path(tempfile.mkdtemp(prefix="small-disk-"))
    mounting = ["mount", "-t", "tmpfs", "-o", "size=256m,mode=755", "tmpfs", str(folder)]
    if subprocess.run(mounting, check=False, capture_output=True).returncode != 0:
        folder.rmdir()
        pytest.skip("mounting a small file system needs root")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


def write_log_until_it_ends(engine: Engine) -> None:
    """Write to PostgreSQL's write-ahead log, as anybody's changes do, until it stops for want of room for it."""
    entry = text("SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
    with suppress(OperationalError), engine.begin() as connection:
        for _ in range(300):
            connection.execute(entry)
        pytest.fail("there was room for all of it")


def test_t47_a_full_disk_is_refused_and_over_when_there_is_room(
    start: Start, small_disk: SmallDisk, record_property: Note
) -> None:
    """With the disk full: 503 or served, and with no room for PostgreSQL's log 503; 200 again 5 s after there is room.

    No call that was served is lost, and the server's process stays the same; PostgreSQL itself ends when it cannot
    write its log, as it is made to, and is started until it stays. The disk is a small file system in memory.
    """
    with start(small_disk.home, CHATCTX_GUEST_DAILY_QUOTA=PLENTY) as program, Cluster(small_disk.home) as cluster:
        owner, asker = owner_engine(cluster.address.owner_url), Asker(program.base)
        feedback = {"category": "other", "comment": "The advice on keys helped."}
        with load_on(program, agents=3, pause=0.02) as load:
            awaited(lambda: load.statuses()[200] >= 20)
            with small_disk.full():
                full = time.monotonic()
                check_refusals([asker.ask("submit_feedback", feedback)])
                awaited(lambda: len(load.answers) and load.answers[-1].sent > full + 1)
                served_full = load.statuses(since=full)[200]
                write_log_until_it_ends(owner)
                ended = time.monotonic()
                awaited(lambda: load.answers[-1].sent > ended + 9)
            freed = time.monotonic()
            awaited(lambda: load.serves_all_again(freed))
        assert asker.ask("submit_feedback", feedback).status == 200
        check_refusals(load.answers, 200)
        assert program.process.poll() is None
        kept = units_kept(owner)
        owner.dispose()
    back = load.served_after(freed)
    refused, served_calls = load.statuses(since=ended)[503], load.statuses()[200]
    assert refused > 0
    assert kept >= served_calls
    assert back is not None
    assert back < RECOVERY + SLACK
    record_property(
        "figure",
        f"{served_full} served with a full disk, {refused} refused without room for the log, "
        f"{served_calls} served and {kept} counted in all, first 200 {back:.1f} s after there was room",
    )


@contextmanager
def every_connection_taken(database: Database) -> Iterator[int]:
    """Take all connections that PostgreSQL gives, the server's as well, until the block ends."""
    end_the_servers = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'chatctx' AND usename = current_user"""
    with ExitStack() as stack:
        ender = stack.enter_context(psycopg.connect(_uri(database.app_url), autocommit=True))
        taken = 0
        while ender.execute(end_the_servers).fetchall() or not taken:
            with suppress(psycopg.OperationalError):
                while True:
                    stack.enter_context(psycopg.connect(_uri(database.owner_url)))
                    taken += 1
        yield taken


def _uri(url: str) -> str:
    return url.replace("postgresql+psycopg:", "postgresql:")


def test_t47_connections_that_others_have_taken_are_refused_until_they_are_given_back(
    serve: Start, tmp_path_factory: pytest.TempPathFactory, record_property: Note
) -> None:
    """When others hold every connection PostgreSQL gives, calls get 503; they are served 5 s after one is given back.

    Neither PostgreSQL nor the server ends, and no call that was served is lost.
    """
    few = {"max_connections": "20"}
    with (
        own_postgres(tmp_path_factory, few) as own,
        own.database() as database,
        served(serve, database, CHATCTX_POOL_SIZE=str(POOL)) as program,
    ):
        asker, pid = Asker(program.base), own.cluster.status().pid
        assert {answer.status for answer in asker.ask_at_once(POOL)} == {200}
        with every_connection_taken(database) as taken:
            answers = asker.ask_at_once(40)
        check_refusals(answers)
        back = recovered(program, time.monotonic())
        assert {answer.status for answer in asker.ask_at_once(POOL)} == {200}
        assert program.process.poll() is None
        assert own.cluster.status().pid == pid
        assert units_kept(database.owner) >= 2 * POOL + 1
    record_property(
        "figure", f"{taken} connections taken: {len(answers)} calls refused, served again after {back:.1f} s"
    )


LOGIN = "server_of_a_test"
EVERY_TOOL = (
    ("search_knowledge", None), ("get_guidance", {"ids": ["use-stable-keys"]}),
    ("submit_feedback", {"category": "other", "comment": "Read and found right."}),
)  # fmt: skip


def run_as_owner(database: Database, *statements: str) -> None:
    with database.owner.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in statements:
            connection.execute(text(statement))


@pytest.fixture
def lent_login(database: Database) -> Iterator[Database]:
    """A database with a record, and a login of the server's that a test may take things away from."""
    database.publish(make_record())
    run_as_owner(database, f"CREATE ROLE {LOGIN} LOGIN PASSWORD 'first'", f"GRANT chatctx_server TO {LOGIN}",
                 f"GRANT CONNECT ON DATABASE {database.name} TO {LOGIN}")  # fmt: skip
    url = make_url(database.app_url).set(username=LOGIN, password="first")
    yield replace(database, app_url=url.render_as_string(hide_password=False))
    run_as_owner(database, f"REVOKE ALL ON DATABASE {database.name} FROM {LOGIN}", f"DROP ROLE {LOGIN}")


END_SESSIONS = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{LOGIN}'"  # noqa: S608 - ours
# What an administrator does to the server's login, and how it is undone. Rights are taken from sessions at work.
TAKEN_AWAY = {
    "password": ([f"ALTER ROLE {LOGIN} PASSWORD 'second'", END_SESSIONS], f"ALTER ROLE {LOGIN} PASSWORD 'first'"),
    "right to log in": ([f"ALTER ROLE {LOGIN} NOLOGIN", END_SESSIONS], f"ALTER ROLE {LOGIN} LOGIN"),
    "role": ([f"REVOKE chatctx_server FROM {LOGIN}"], f"GRANT chatctx_server TO {LOGIN}"),
    "right to count": (
        ["REVOKE INSERT, UPDATE ON quota_use FROM chatctx_server"],
        "GRANT INSERT, UPDATE ON quota_use TO chatctx_server",
    ),
}


def kept_from_calling(asker: Asker) -> bool:
    """Tell whether a call is refused with 503; while it is still served, nothing has happened yet."""
    answer = asker.ask()
    check_refusals([answer], 200)
    return answer.status == 503


def test_t18_what_is_taken_from_the_servers_login_is_503_and_never_401(
    serve: Start, lent_login: Database, tmp_path: Path, record_property: Note
) -> None:
    """When the server's login loses its password, right to log in, role or one table, callers get 503, never 401.

    With a key and as a guest, without a word of the cause, and served again as soon as it is given back: nobody has to
    start the server anew.
    """
    with served(serve, lent_login) as program:
        key = Owner(lent_login.app_url, lent_login.owner_url, tmp_path / "home", tmp_path / "keys").mint("laptop")
        guest, known = Asker(program.base), Asker(program.base, {"authorization": f"Bearer {key}"})
        for take, give in TAKEN_AWAY.values():
            assert (guest.ask().status, known.ask().status) == (200, 200)
            run_as_owner(lent_login, *take)
            awaited(lambda: kept_from_calling(guest) and kept_from_calling(known), 5)
            run_as_owner(lent_login, give)
            awaited(lambda: not kept_from_calling(guest) and not kept_from_calling(known), 5)
        assert "SQLSTATE 42501" in program.output
    record_property("figure", f"taken away and given back: {', '.join(TAKEN_AWAY)}; 503, and 200 again")


def test_t18_a_database_that_is_dropped_is_503_and_not_ready(
    serve: Start, database_server: DatabaseServer, record_property: Note
) -> None:
    """When the database is dropped under the server, calls get 503 and /readyz says not ready; the server stays up."""
    with database_server.clone() as database:
        database.publish(make_record())
        with served(serve, database) as program:
            assert Asker(program.base).ask().status == 200
            database_server.run(f"DROP DATABASE {database.name} WITH (FORCE)")
            check_refusals(Asker(program.base).ask_at_once(20))
            assert httpx.get(f"{program.base}/readyz").status_code == 503
            assert httpx.get(f"{program.base}/livez").status_code == 200
        database_server.create(database.name, TEMPLATE)
    record_property("figure", "20 calls refused, none 500")


@pytest.mark.parametrize("revision", ["0004", "base"])
def test_t18_a_schema_that_is_taken_back_is_503_and_not_ready(
    serve: Start, database: Database, revision: str, record_property: Note
) -> None:
    """When the schema is taken back under a running server, no call is an internal error; migrated again, it serves.

    Taken back by some revisions, or as a whole: whatever needs what is gone gets 503, and /readyz says not ready.
    """
    database.publish(make_record())
    with served(serve, database) as program:
        asker = Asker(program.base)
        assert asker.ask().status == 200
        downgrade(database.owner, revision)
        answers = [asker.ask(tool, arguments) for tool, arguments in EVERY_TOOL for _ in range(3)]
        check_refusals(answers, 200)
        assert {answer.status for answer in answers} <= ({503} if revision == "base" else {200, 503})
        assert not [answer for answer in answers if "internal_error" in answer.body]
        assert httpx.get(f"{program.base}/readyz").status_code == 503
        upgrade(database.owner, server_login=APP)
        database.publish(make_record())
        awaited(lambda: not kept_from_calling(asker), 5)
        assert '"event": "defect"' not in program.output
    refused = sum(answer.status == 503 for answer in answers)
    record_property("figure", f"{revision}: {refused} of {len(answers)} calls refused, none an internal error")


def refusal_to_start(home: Path, url: URL) -> str:
    """Return what `chatctx serve` says when it cannot use the database at this address."""
    settings = {"CHATCTX_HOME": str(home), "CHATCTX_PORT": "0", "CHATCTX_EMBEDDER": "none"}
    address = {"DATABASE_URL": url.render_as_string(hide_password=False)}
    done = subprocess.run(
        [sys.executable, "-m", "app.main", "serve"], cwd=ROOT, env={**os.environ, **settings, **address},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (2, 3), done.stdout + done.stderr
    assert done.stdout == ""
    return done.stderr


def test_t18_a_server_that_cannot_use_its_database_says_why_and_does_not_start(
    lent_login: Database, tmp_path: Path, record_property: Note
) -> None:
    """With a wrong password, no such database or a login without rights, `chatctx serve` says which and does not start.

    Neither a password nor a traceback is in what it says.
    """
    run_as_owner(lent_login, f"REVOKE chatctx_server FROM {LOGIN}")
    url = make_url(lent_login.app_url)
    wrong = {
        "password authentication failed": url.set(password="not-the-one"),
        "does not exist": url.set(database="nowhere"),
        "not a member of chatctx_server": url,
    }
    with ThreadPoolExecutor(len(wrong)) as pool:
        refusals = dict(
            zip(wrong, pool.map(lambda each: refusal_to_start(tmp_path, each), wrong.values()), strict=True)
        )
    for told, refusal in refusals.items():
        assert told in refusal
        assert "Traceback" not in refusal
        assert "not-the-one" not in refusal
    record_property("figure", f"{len(refusals)} refused with the reason")
