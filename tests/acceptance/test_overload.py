"""More work than there is room for, an end in the middle of it, and work without end."""

from __future__ import annotations

import asyncio
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import pytest

from app.transports.slots import LONGEST_WAIT
from bench.soak import Sample, soak
from tests.acceptance.conftest import Program, Start
from tests.acceptance.edge_load import PLENTY, SEARCH, answers_to, ask_soon, port_of
from tests.acceptance.quota_wire import Sending, call_body, request
from tests.core.records import make_record
from tests.databases import Database
from tests.edge.processes import edge_process
from tests.edge.running import RunningEdge, run_edges
from tests.proxies import FaultyLine, faulty_line_to

Note = Callable[[str, object], None]

SLACK = 3.0
CAPACITY = 32


@pytest.fixture
def slow_edge(tmp_path: Path) -> Iterator[RunningEdge]:
    """A server with room for 32 calls, each of which takes a second."""
    edges = run_edges(tmp_path)
    yield next(edges)(
        call=lambda _name, _arguments: time.sleep(1) or {}, max_concurrent_calls=CAPACITY, guest_daily_quota=1000
    )
    next(edges, None)


def crowd_of(number: int, port: int) -> list[Sending]:
    """Return a call from each of so many clients at a hundred addresses."""
    return [Sending(port, request(port, SEARCH), f"127.0.1.{n % 100 + 1}") for n in range(number)]


def test_t27_a_crowd_is_served_in_turn_or_told_when_to_come_back(slow_edge: RunningEdge, record_property: Note) -> None:
    """400 calls of a second each at once, with room for 32: every answer is 200, or 503 that says when to come back.

    A line that moves is waited in for 10 s, because an agent would rather wait than be sent away; longer nobody waits.
    The calls sleep instead of searching, so that the crowd is the same on any machine.
    """
    began = time.monotonic()
    answers = answers_to(crowd_of(400, slow_edge.port))
    took = time.monotonic() - began
    began = time.monotonic()
    (afterwards,) = answers_to(crowd_of(1, slow_edge.port))
    normal = time.monotonic() - began
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) == {200, 503}
    assert all(1 <= answer.retry_after <= 60 for answer in answers if answer.status == 503)
    assert statuses[200] >= CAPACITY * 5
    assert took < LONGEST_WAIT + 1 + SLACK
    assert afterwards.status == 200
    assert normal < 1 + SLACK
    record_property(
        "figure",
        f"{statuses[200]} served, {statuses[503]} told when to come back, the last after {took:.1f} s; "
        f"a call of a second right after it took {normal:.2f} s",
    )


def test_t27_four_hundred_searches_at_once_are_all_answered(
    serve: Start, database: Database, record_property: Note
) -> None:
    """400 searches at once, with room for 32 and 8 connections to PostgreSQL: each is answered with 200 or 503."""
    database.publish(make_record())
    with serve(database, CHATCTX_MAX_CONCURRENT_CALLS=str(CAPACITY)) as program:
        began = time.monotonic()
        answers = answers_to(crowd_of(400, port_of(program.base)))
        took = time.monotonic() - began
    statuses = Counter(answer.status for answer in answers)
    assert set(statuses) <= {200, 503}
    assert statuses[200] >= 200
    assert all(answer.retry_after >= 1 for answer in answers if answer.status == 503)
    assert took < LONGEST_WAIT + SLACK
    record_property("figure", f"{statuses[200]} served, {statuses[503]} told to come back, all within {took:.1f} s")


def waiting_for(seconds: float, number: int, port: int) -> list[Sending]:
    """Return so many calls, each of which takes so long, from as many addresses."""
    body = call_body("search_knowledge", {"query": f"wait {seconds}"})
    return [Sending(port, request(port, body), f"127.0.1.{n + 1}") for n in range(number)]


def test_t27_a_server_that_gets_no_threads_says_so_and_recovers(tmp_path: Path, record_property: Note) -> None:
    """While the system gives no thread, 32 calls get 503 or their answer; once it does, 32 work at once again.

    The limit is set on the running process: its address space may not grow, so that no thread's stack finds room.
    """
    with edge_process(tmp_path, max_concurrent_calls=CAPACITY) as running:
        process = psutil.Process(running.process.pid)
        process.rlimit(psutil.RLIMIT_AS, (process.memory_info().vms + 2**20, resource.RLIM_INFINITY))
        starved = [answers_to(waiting_for(0.05, CAPACITY, running.port)) for _ in range(2)]
        process.rlimit(psutil.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        began = time.monotonic()
        recovered = answers_to(waiting_for(2, CAPACITY, running.port))
        took = time.monotonic() - began
    statuses = Counter(answer.status for answers in starved for answer in answers)
    assert set(statuses) <= {200, 503}
    assert statuses[503] > 0
    assert all(answer.retry_after >= 1 for answers in starved for answer in answers if answer.status == 503)
    assert [answer.status for answer in recovered] == [200] * CAPACITY
    assert took < 2 + 1.5
    record_property(
        "figure",
        f"without threads {statuses[200]} served and {statuses[503]} told to come back; with them {CAPACITY} calls "
        f"of 2 s served in {took:.1f} s",
    )


def readiness(base: str, since: float, seen: list[tuple[float, int]]) -> None:
    """Ask whether the server is ready until it is gone; 0 stands for a refused connection."""
    while not seen or seen[-1][1]:
        try:
            status = httpx.get(f"{base}/readyz", timeout=5).status_code
        except httpx.TransportError:
            status = 0
        seen.append((time.monotonic() - since, status))


def test_t29_a_server_that_is_told_to_end_answers_what_it_began(
    serve: Start, database: Database, record_property: Note
) -> None:
    """SIGTERM with 8 calls in the database and 5 open streams: all 8 are answered, the streams end, exit code 0.

    The server is not ready from then on, and gone within 10 s. Once its calls are answered nothing keeps it.
    """
    database.publish(make_record())
    with (
        faulty_line_to(database.app_url, database.owner_url) as (line, app_url, owner_url),
        serve(
            database,
            DATABASE_URL=app_url,
            CHATCTX_OWNER_DATABASE_URL=owner_url,
            CHATCTX_GUEST_DAILY_QUOTA=PLENTY,
            CHATCTX_CALL_TIMEOUT_MS="20000",
        ) as program,
        ExitStack() as held,
        ThreadPoolExecutor(9) as pool,
    ):
        # So that a connection to the database is there for each of the eight.
        assert {answer.status for answer in answers_to(crowd_of(32, port_of(program.base)))} == {200}
        streams = [
            held.enter_context(httpx.stream("GET", f"{program.base}/mcp", headers={"accept": "text/event-stream"}))
            for _ in range(5)
        ]
        readers = [stream.iter_raw() for stream in streams]
        assert [next(reader) for reader in readers] == [b": connected\n\n"] * 5
        figures = end_in_the_middle(program, line, pool)
        assert [b"".join(reader) for reader in readers] == [b""] * 5
    assert "Traceback" not in program.output
    assert '"event": "stopped"' in program.output
    record_property("figure", figures)


def end_in_the_middle(program: Program, line: FaultyLine, pool: ThreadPoolExecutor) -> str:
    """Hold eight calls up in the database, tell the server to end, let them go; return what was measured."""
    line.stall()
    port = port_of(program.base)
    calls = [
        pool.submit(asyncio.run, ask_soon(Sending(port, request(port, SEARCH), f"127.0.1.{n + 1}"))) for n in range(8)
    ]
    time.sleep(0.5)
    assert not any(call.done() for call in calls)
    began, seen = time.monotonic(), []
    program.process.send_signal(signal.SIGTERM)
    asking = pool.submit(readiness, program.base, began, seen)
    time.sleep(0.7)
    assert program.process.poll() is None
    line.resume()
    assert [call.result().status for call in calls] == [200] * 8
    asking.result()
    assert program.process.wait(timeout=30) == 0
    took = time.monotonic() - began
    assert took < 10
    last_ready = max((moment for moment, status in seen if status == 200), default=0.0)
    assert {status for _, status in seen} <= {200, 503, 0}
    assert last_ready < SLACK
    return (
        f"8 of 8 calls answered, 5 of 5 streams ended, not ready after {last_ready * 1000:.0f} ms, "
        f"gone after {took:.1f} s with exit code 0"
    )


def test_t30_thousands_of_calls_leave_no_file_thread_or_connection_behind(
    serve: Start, database: Database, record_property: Note
) -> None:
    """After thousands of mixed calls in both protocols the server has as many open files and threads as before.

    `python -m bench.soak` makes 200,000 and looks at memory too, which takes longer than a test may.
    """
    database.publish(make_record())
    with serve(database, CHATCTX_GUEST_DAILY_QUOTA=PLENTY, CHATCTX_FEEDBACK_GUEST_QUOTA="100000") as program:
        soaked = soak(program.base, program.process.pid, calls=3000, every=1000, warm_up=600)
    first, last = soaked.samples[0], soaked.samples[-1]
    assert set(soaked.statuses) == {0, 200, 202, 400, 401, 403, 404, 405}
    assert last.files <= first.files
    assert last.threads <= first.threads
    assert "Traceback" not in program.output
    record_property("figure", f"{soaked.calls} calls: {grown(first, last)}")


def grown(first: Sample, last: Sample) -> str:
    return (
        f"{first.files} to {last.files} files, {first.threads} to {last.threads} threads, "
        f"{first.memory / 2**20:.0f} to {last.memory / 2**20:.0f} MiB"
    )
