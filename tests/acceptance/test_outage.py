"""PostgreSQL dies while agents are asking."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
from sqlalchemy import text

from app.cluster import Cluster
from app.store.engine import owner_engine
from tests.acceptance.conftest import Program, Start

PLENTY = "1000000"
QUESTION = {"query": "list rows keep the wrong state after reordering", "technologies": ["React"]}


def _kill_postgres(program: Program) -> None:
    """Kill the server and all its processes at once, as the machine's memory killer would."""
    pid = Cluster(program.home).status().pid
    assert pid
    main = psutil.Process(pid)
    for process in [main, *main.children(recursive=True)]:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _units_kept(program: Program) -> int:
    with Cluster(program.home) as cluster:
        engine = owner_engine(cluster.address.owner_url)
        with engine.connect() as connection:
            used = connection.execute(text("SELECT coalesce(sum(used), 0) FROM quota_use")).scalar_one()
        engine.dispose()
    return int(used)


def _ask_until(program: Program, stop: threading.Event, seen: list[httpx.Response]) -> None:
    while not stop.is_set():
        seen.append(program.call("search_knowledge", QUESTION))


def test_killed_database_loses_no_unit_and_comes_back_by_itself(start: Start) -> None:
    """Under load, every answer is 200 or 503 with Retry-After; every 200 stays counted; the same process serves on."""
    with start(CHATCTX_GUEST_DAILY_QUOTA=PLENTY) as program:
        stop = threading.Event()
        seen: list[httpx.Response] = []
        with ThreadPoolExecutor(6) as pool:
            workers = [pool.submit(_ask_until, program, stop, seen) for _ in range(6)]
            _await(lambda: _count(seen)[200] >= 50)
            before = len(seen)
            _kill_postgres(program)
            _await(lambda: _count(seen[before:])[503] > 0)
            _await(lambda: seen[-1].status_code == 200 and _count(seen[-20:])[200] == 20)
            stop.set()
            for worker in workers:
                worker.result()
        statuses = _count(seen)
        assert set(statuses) == {200, 503}
        assert all(int(answer.headers["retry-after"]) >= 1 for answer in seen if answer.status_code == 503)
        assert all(
            "knowledge base cannot be reached" in answer.text or "busy" in answer.text.lower()
            for answer in seen
            if answer.status_code == 503
        )
        assert _units_kept(program) >= statuses[200]
        assert program.process.poll() is None


def test_readiness_follows_the_database_and_liveness_does_not(start: Start) -> None:
    """A database that is away takes the server out of service; it does not get it killed."""
    with start() as program:
        assert httpx.get(f"{program.base}/readyz").status_code == 200
        _kill_postgres(program)
        assert httpx.get(f"{program.base}/livez").status_code == 200
        _await(lambda: httpx.get(f"{program.base}/readyz", timeout=30).status_code == 200)


def test_key_is_never_called_invalid_while_the_database_is_away(start: Start) -> None:
    """A client that is told 401 throws its key away: an outage is 503."""
    with start() as program:
        statuses = set()
        _kill_postgres(program)
        key = "kb_live_" + "a" * 12 + "_" + "b" * 49
        for _ in range(5):
            statuses.add(program.call("search_knowledge", QUESTION).status_code)
        assert statuses <= {200, 503}
        # A checksum that is wrong needs no database to be wrong.
        assert program.call("search_knowledge", QUESTION, authorization=f"Bearer {key}").status_code == 401


def _count(answers: list[httpx.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def _await(condition: object, seconds: float = 60) -> None:
    """Wait for a condition; the limit is only there so that a broken server fails the test."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
