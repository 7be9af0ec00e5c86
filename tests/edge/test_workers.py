"""Threads that take work in turn, also where the system gives none or the work ends in an odd way."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from app.errors import Unavailable
from app.transports.slots import Slots
from app.transports.workers import Workers

ROOT = Path(__file__).parents[2]
# A thread's stack that does not fit into the address space that is left: the system refuses the thread.
STARVED = """
    import asyncio, json, resource, threading
    from app.errors import Unavailable
    from app.transports.slots import Slots

    def used():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()

    async def scenario():
        pool = Slots("test", 3, longest_work=5.0)
        threading.stack_size(64 * 1024 * 1024)
        said = []

        async def attempt(work):
            try:
                with await pool.take("a", 3) as slot:
                    said.append(await slot.run(work))
            except Unavailable:
                said.append("busy")

        if {first}:
            await attempt(lambda: "one")
        resource.setrlimit(resource.RLIMIT_AS, (used() + 32 * 1024 * 1024, resource.RLIM_INFINITY))
        for _ in range(5):
            await attempt(lambda: "none")
        gate = threading.Event()
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        meet = threading.Barrier(3)
        await asyncio.gather(*(attempt(lambda: meet.wait(10) >= 0) for _ in range(3)))
        print(json.dumps(said))

    asyncio.run(scenario())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
@pytest.mark.parametrize(("first", "starved"), [(False, ["busy"] * 5), (True, ["one", *["none"] * 5])])
def test_threads_that_the_system_refused_are_started_later(first: bool, starved: list[str]) -> None:
    """Meanwhile the threads there are do the work, or callers are told to come back; no place is lost for ever."""
    program = textwrap.dedent(STARVED).replace("{first}", str(first))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "MALLOC_ARENA_MAX": "1"}, timeout=60,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [*starved, True, True, True]


@pytest.mark.parametrize("error", [StopIteration("odd"), GeneratorExit(), SystemExit(3), KeyboardInterrupt()])
def test_work_that_ends_in_an_odd_way_gives_its_place_back(error: BaseException) -> None:
    """Whatever it raises reaches whoever awaits it, and the next work is done."""

    def fail() -> None:
        raise error

    async def scenario() -> int:
        pool = Slots("test", 1, longest_work=2.0)
        for _ in range(3):
            with pytest.raises((type(error), RuntimeError)) as raised, await pool.take("a", 1) as slot:
                await slot.run(fail)
            assert not isinstance(raised.value, Unavailable), "it was waited for until its time was over"
        with await pool.take("a", 1) as slot:
            return await slot.run(lambda: 7)

    assert asyncio.run(scenario()) == 7


def test_lanes_that_were_refused_leave_nothing_behind() -> None:
    """A refusal remembers nothing of whom it refused."""

    async def scenario() -> int:
        pool = Slots("test", 1, longest_work=2.0, longest_line=1)
        with await pool.take("holder", 1):
            for number in range(100):
                with pytest.raises(Unavailable):
                    await pool.take(f"lane {number}", 1)
        return len(pool._lanes)

    assert asyncio.run(scenario()) == 0


def test_closing_ends_every_thread_that_was_started() -> None:
    async def scenario() -> list[int]:
        workers = Workers("test", 2)
        done = [await workers.submit(lambda: 1), await workers.submit(lambda: 2)]
        workers.close()
        return done

    assert asyncio.run(scenario()) == [1, 2]
