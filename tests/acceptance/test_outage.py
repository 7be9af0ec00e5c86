"""PostgreSQL dies, is stopped or freezes while agents are asking."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import psutil
import pytest

from app.access.keys import CHECKSUM_LENGTH, checksum, mint_key
from app.cluster import Cluster
from app.cluster.postmaster import wait_until
from app.store.engine import owner_engine
from tests.acceptance.conftest import Program, Start
from tests.acceptance.credentials_owner import Owner, id_of
from tests.acceptance.outage_load import (
    LONGEST_ANSWER,
    PLENTY,
    SLACK,
    Answer,
    Asker,
    OwnPostgres,
    awaited,
    check_refusals,
    load_on,
    own_postgres,
    served,
    units_kept,
)
from tests.core.records import make_record
from tests.databases import Database

# `OUTAGE_SECONDS=45` makes the long outage as long as that; nothing in the program changes after its first seconds.
OUTAGE_SECONDS = float(os.environ.get("OUTAGE_SECONDS", "20"))
Note = Callable[[str, object], None]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnPostgres]:
    with own_postgres(tmp_path_factory) as running:
        yield running


def processes_of(cluster: Cluster) -> list[psutil.Process]:
    pid = cluster.status().pid
    assert pid
    main = psutil.Process(pid)
    return [main, *main.children(recursive=True)]


def kill_all(cluster: Cluster) -> None:
    """Kill the server and all its processes at once, as the machine's memory killer would."""
    for process in processes_of(cluster):
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@contextmanager
def frozen(cluster: Cluster) -> Iterator[None]:
    """Stop every process of the server where it is, until the block ends: its connections stay, nobody answers."""
    processes = processes_of(cluster)
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


@contextmanager
def moment_of(condition: Callable[[], bool]) -> Iterator[list[float]]:
    """Note, while the block runs, when a condition came true for the first time."""
    noted: list[float] = []

    def look() -> None:
        if wait_until(condition, 60):
            noted.append(time.monotonic())

    looking = threading.Thread(target=look)
    looking.start()
    yield noted
    looking.join()
    assert noted


def runs_anew(cluster: Cluster, old: int | None) -> bool:
    status = cluster.status()
    return status.running and status.pid != old


def test_t05_a_killed_database_loses_no_counted_call_and_comes_back_by_itself(
    start: Start, record_property: Note
) -> None:
    """Kill PostgreSQL under load: answers are 200 or 503, no served call is uncounted, and 200 is back 2 s after it is.

    The server brings its own PostgreSQL back; nobody does anything, and the server's process stays the same.
    """
    with start(CHATCTX_GUEST_DAILY_QUOTA=PLENTY) as program:
        cluster = Cluster(program.home)
        with load_on(program) as load:
            awaited(lambda: load.statuses()[200] >= 50)
            old = cluster.status().pid
            with moment_of(lambda: runs_anew(cluster, old)) as ready:
                kill_all(cluster)
            awaited(lambda: load.serves_all_again(ready[0]))
        check_refusals(load.answers, 200)
        assert program.process.poll() is None
        with Cluster(program.home) as joined:
            engine = owner_engine(joined.address.owner_url)
            kept = units_kept(engine)
            engine.dispose()
    statuses, back = load.statuses(), load.served_after(ready[0])
    assert statuses[503] > 0
    assert kept >= statuses[200]
    assert back is not None
    assert back < 2 + SLACK
    record_property(
        "figure",
        f"{statuses[200]} served and {kept} counted, {statuses[503]} refused with 503, "
        f"first 200 {back:.2f} s after PostgreSQL was ready",
    )


def outlive(program: Program, database: Database, away: AbstractContextManager[None]) -> str:
    """Ask through an outage, and return what was measured."""
    with load_on(program, agents=8, pause=0.05) as load:
        awaited(lambda: load.statuses()[200] >= 20)
        began = time.monotonic()
        with away:
            time.sleep(OUTAGE_SECONDS)
        ready = time.monotonic()
        awaited(lambda: load.serves_all_again(ready))
    check_refusals(load.answers, 200)
    assert program.process.poll() is None
    assert units_kept(database.owner) >= load.statuses()[200]
    during = [answer for answer in load.answers if began + 2 < answer.sent < ready - LONGEST_ANSWER]
    assert during
    assert {answer.status for answer in during} == {503}
    back = load.served_after(ready)
    assert back is not None
    assert back < 2 + SLACK
    assert load.longest() < LONGEST_ANSWER + SLACK
    return f"{len(during)} calls refused, slowest answer {load.longest():.1f} s, first 200 after {back:.2f} s"


def test_t06_a_long_outage_is_refused_in_bounded_time_and_over_at_once(
    serve: Start, database: Database, own: OwnPostgres, cluster: Cluster, record_property: Note
) -> None:
    """While PostgreSQL is stopped or frozen, every call gets 503 within 3 s; the first 200 is 2 s after it returns.

    Every 503 says when to come back. One server's PostgreSQL is stopped by its administrator, another's frozen with its
    connections open, both at the same time, for `OUTAGE_SECONDS`: 20 unless set.
    """
    database.publish(make_record())
    with own.database() as other, served(serve, other) as first, served(serve, database) as second:
        with ThreadPoolExecutor(2) as pool:
            stopped = pool.submit(outlive, first, other, own.stopped())
            still = pool.submit(outlive, second, database, frozen(cluster))
        record_property(
            "figure", f"away for {OUTAGE_SECONDS:.0f} s; stopped: {stopped.result()}; frozen: {still.result()}"
        )


def test_t06_readiness_follows_the_database_and_liveness_does_not(
    serve: Start, own: OwnPostgres, record_property: Note
) -> None:
    """While PostgreSQL is away, /readyz answers 503 and /livez 200: it gets no traffic, and is not restarted."""
    with own.database() as database, served(serve, database) as program:

        def status_of(path: str) -> int:
            return httpx.get(f"{program.base}/{path}", timeout=30).status_code

        assert (status_of("readyz"), status_of("livez")) == (200, 200)
        with own.stopped():
            awaited(lambda: status_of("readyz") == 503, 5)
            assert status_of("livez") == 200
        returned = time.monotonic()
        awaited(lambda: status_of("readyz") == 200)
        record_property("figure", f"ready again {time.monotonic() - returned:.1f} s after PostgreSQL was")


def forged(key_id: str) -> str:
    """Return a well-formed key of this id with a secret that nobody has."""
    kind, _, secret = mint_key().text[:-CHECKSUM_LENGTH].rsplit("_", 2)
    body = f"{kind}_{key_id}_{secret}"
    return body + checksum(body)


def test_t18_no_key_is_called_invalid_while_the_database_is_away(
    serve: Start, tmp_path: Path, own: OwnPostgres, record_property: Note
) -> None:
    """While PostgreSQL is away, every well-formed key, valid or not, gets 503 and never 401; a wrong checksum gets 401.

    A client that is told 401 throws its key away, and nobody can tell a valid key without the database.
    """
    with own.database() as database, served(serve, database) as program:
        owner = Owner(database.app_url, database.owner_url, tmp_path / "home", tmp_path / "keys")
        key = owner.mint("laptop")
        broken = key[:-1] + ("a" if key[-1] != "a" else "b")
        # Of each kind several, because a key that was just refused is refused again for 5 s without a look-up.
        wrong, unknown = [forged(id_of(key)) for _ in range(10)], [forged("x" * 12) for _ in range(10)]
        assert status_for(program, key) == 200
        with own.stopped():
            answers = [ask_with(program, each) for each in [key] * 10 + wrong + unknown]
            assert status_for(program, broken) == 401
        check_refusals(answers)
        awaited(lambda: status_for(program, key) == 200)
        assert {status_for(program, each) for each in wrong + unknown} == {401}
    record_property("figure", f"{len(answers)} calls with well-formed keys, 20 of them not valid: all 503")


def ask_with(program: Program, key: str) -> Answer:
    return Asker(program.base, {"authorization": f"Bearer {key}"}).ask()


def status_for(program: Program, key: str) -> int:
    return ask_with(program, key).status
