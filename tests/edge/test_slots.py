"""Work in threads: bounded, fair, and never waited for beyond its time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter

import pytest

from app.errors import Unavailable
from app.transports.slots import Slots
from tests.edge.wire import call_tool

SEARCH = {"query": "react list keys"}


def in_loop(scenario):
    """Run a scenario in an event loop of its own."""
    return asyncio.run(scenario())


def slots(capacity, **limits):
    return Slots("test", capacity, **{"longest_work": 5.0, **limits})


async def use(pool, lane, limit, work):
    with await pool.take(lane, limit) as slot:
        return await slot.run(work)


def test_work_is_done_and_its_failures_come_back():
    async def scenario():
        pool = slots(2)
        assert await use(pool, "a", 2, lambda: 7) == 7
        with pytest.raises(KeyError):
            await use(pool, "a", 2, lambda: {}["x"])
        assert await use(pool, "a", 1, lambda: 8) == 8
        pool.close()

    in_loop(scenario)


def test_no_more_is_done_at_once_than_there_are_slots():
    busy, most, lock = Counter(), Counter(), threading.Lock()

    def work(lane):
        with lock:
            for name in (lane, "all"):
                busy[name] += 1
                most[name] = max(most[name], busy[name])
        time.sleep(0.01)
        with lock:
            busy[lane] -= 1
            busy["all"] -= 1

    async def scenario():
        pool = slots(4)
        lanes = ["a"] * 20 + ["b"] * 5 + ["c"] * 5
        await asyncio.gather(*(use(pool, lane, 2, lambda lane=lane: work(lane)) for lane in lanes))
        pool.close()

    in_loop(scenario)
    assert most["all"] == 4
    assert most["a"] == most["b"] == 2


def test_a_crowd_in_one_lane_does_not_hold_up_another():
    done = []

    async def scenario():
        pool = slots(1)
        crowd = [
            asyncio.create_task(use(pool, "crowd", 1, lambda: time.sleep(0.01) or done.append("crowd")))
            for _ in range(30)
        ]
        await asyncio.sleep(0)
        await use(pool, "other", 1, lambda: done.append("other"))
        await asyncio.gather(*crowd)
        pool.close()

    in_loop(scenario)
    assert done.index("other") <= 3


def test_the_line_has_an_end_in_length_and_in_time():
    async def scenario():
        pool = slots(1, longest_line=4, longest_wait=0.1)
        release = threading.Event()
        holder = asyncio.create_task(use(pool, "a", 1, release.wait))
        await asyncio.sleep(0.02)
        waiting = [asyncio.create_task(use(pool, "a", 1, time.time)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await use(pool, "a", 1, time.time)
        started = time.monotonic()
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(outcome, Unavailable)
        assert time.monotonic() - started < 1
        release.set()
        assert await holder
        assert await use(pool, "a", 1, lambda: 1) == 1
        pool.close()

    in_loop(scenario)


def test_a_line_that_moves_is_waited_in_and_one_that_stands_still_is_not():
    async def scenario():
        pool = slots(1, longest_still=0.2)
        moving = [use(pool, "a", 1, lambda: time.sleep(0.05) or 1) for _ in range(12)]
        assert await asyncio.gather(*moving) == [1] * 12
        release = threading.Event()
        holder = asyncio.create_task(use(pool, "a", 1, release.wait))
        await asyncio.sleep(0.02)
        started = time.monotonic()
        with pytest.raises(Unavailable):
            await use(pool, "b", 1, time.time)
        assert time.monotonic() - started < 0.4
        with pytest.raises(Unavailable):
            await use(pool, "b", 1, time.time)
        assert time.monotonic() - started < 0.6
        release.set()
        await holder
        await asyncio.sleep(0.3)
        assert await asyncio.gather(*(use(pool, "a", 1, lambda: 2) for _ in range(3))) == [2] * 3
        pool.close()

    in_loop(scenario)


def test_the_caller_is_answered_in_time_and_the_slot_returns_with_its_thread():
    async def scenario():
        pool = slots(1, longest_work=0.1, longest_wait=0.05)
        release = threading.Event()
        started = time.monotonic()
        with pytest.raises(Unavailable):
            await use(pool, "a", 1, release.wait)
        assert time.monotonic() - started < 1
        with pytest.raises(Unavailable):
            await use(pool, "a", 1, lambda: 1)
        release.set()
        await asyncio.sleep(0.05)
        assert await use(pool, "a", 1, lambda: 1) == 1
        pool.close()

    in_loop(scenario)


def test_late_failures_are_nobodys_business(caplog):
    async def scenario():
        pool = slots(1, longest_work=0.05)

        def fail():
            time.sleep(0.2)
            raise ValueError("canary")

        with pytest.raises(Unavailable):
            await use(pool, "a", 1, fail)
        await asyncio.sleep(0.3)
        assert await use(pool, "a", 1, lambda: 1) == 1
        pool.close()

    in_loop(scenario)
    assert "canary" not in caplog.text


def test_whoever_leaves_the_line_takes_no_slot_with_him():
    async def scenario():
        pool = slots(1)
        release = threading.Event()
        holder = asyncio.create_task(use(pool, "a", 1, release.wait))
        await asyncio.sleep(0.02)
        leaver = asyncio.create_task(use(pool, "b", 1, time.time))
        await asyncio.sleep(0.02)
        leaver.cancel()
        release.set()
        await holder
        assert await use(pool, "c", 1, lambda: 1) == 1
        pool.close()

    in_loop(scenario)


def test_a_call_that_hangs_is_answered_at_its_deadline(start_edge):
    release = threading.Event()
    edge = start_edge(call=lambda _name, _arguments: release.wait(10) and {}, call_timeout_ms=300)
    started = time.monotonic()
    response = call_tool(edge.endpoint, "search_knowledge", SEARCH)
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1
    assert time.monotonic() - started < 3
    release.set()


def test_a_database_that_hangs_is_answered_at_the_deadline_too(start_edge):
    release = threading.Event()
    edge = start_edge(call_timeout_ms=300)
    take = edge.store.take
    edge.store.take = lambda *asked: release.wait(10) and take(*asked)
    assert call_tool(edge.endpoint, "search_knowledge", SEARCH).status_code == 503
    release.set()
