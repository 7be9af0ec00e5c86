"""Work in threads that is bounded in number, in waiting and in time.

The waiting line is fair between lanes (a lane is a client), a lane may use only so many slots at once, and nobody ever
waits for a thread that does not come back: the caller is answered at the deadline, and the slot returns when the thread
does.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from app.errors import Unavailable
from app.transports.workers import Workers

Given = ParamSpec("Given")
Result = TypeVar("Result")

LONGEST_LINE = 1024
# An agent would rather wait for a line that moves than be told to come back to it.
LONGEST_WAIT = 10.0
# Nothing moves when the database has stalled: then everybody is told so at once.
LONGEST_STILL = 2.0
_BUSY_SECONDS = 1
_TIMED_OUT_SECONDS = 2


class Slots:
    """A number of worker threads and the line in front of them. Belongs to one event loop.

    Args:
        capacity: pieces of work done at once.
        longest_work: seconds until whoever holds a slot is answered, whether his work is done or not.
        longest_line: how many may wait; one lane may fill half of it.
        longest_wait: seconds somebody waits while the line moves.
        longest_still: seconds without any work done after which waiting is pointless.
    """

    def __init__(
        self,
        name: str,
        capacity: int,
        *,
        longest_work: float,
        longest_line: int = LONGEST_LINE,
        longest_wait: float = LONGEST_WAIT,
        longest_still: float = LONGEST_STILL,
    ) -> None:
        self._capacity = capacity
        self._free = capacity
        self._active: Counter[str] = Counter()
        self._lanes: OrderedDict[str, deque[tuple[int, asyncio.Future[None]]]] = OrderedDict()
        self._waiting = 0
        self._moved_at = 0.0
        self._longest_work = longest_work
        self._longest_line = longest_line
        self._longest_wait = longest_wait
        self._longest_still = longest_still
        self._threads = Workers(name, capacity)

    async def take(self, lane: str, lane_limit: int) -> Slot:
        """Return a slot, to be used as a context. Its time begins now.

        Args:
            lane_limit: slots this lane may have at once.

        Raises:
            Unavailable: the line is too long, or does not move.
        """
        if self._free and self._active[lane] < lane_limit:
            self._occupy(lane)
        else:
            await self._wait_in_line(lane, lane_limit)
        return Slot(self, lane, asyncio.get_running_loop().time() + self._longest_work)

    def close(self) -> None:
        """Take no more work; threads still at work end by themselves."""
        self._threads.close()

    def submit(
        self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
    ) -> asyncio.Future[Result]:
        """Start work in a thread; for the holder of a slot only. Raises Unavailable when the system has no thread."""
        try:
            return self._threads.submit(partial(work, *args, **kwargs))
        except RuntimeError as error:
            raise busy() from error

    def release(self, lane: str) -> None:
        """Give a slot back and let the next in line have it."""
        self._free += 1
        self._active[lane] -= 1
        if not self._active[lane]:
            del self._active[lane]
        self._admit_next()

    def note_progress(self) -> None:
        """Note that the line moves: work was done, or there was none."""
        self._moved_at = asyncio.get_running_loop().time()

    def _occupy(self, lane: str) -> None:
        if self._free == self._capacity:
            self.note_progress()
        self._free -= 1
        self._active[lane] += 1

    async def _wait_in_line(self, lane: str, lane_limit: int) -> None:
        if self._waiting >= self._longest_line or len(self._lanes.get(lane, ())) >= self._longest_line // 2:
            raise busy()
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._lanes.setdefault(lane, deque()).append((lane_limit, turn))
        self._waiting += 1
        self._review(turn, loop.time() + self._longest_wait)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.release(lane)
            raise

    def _review(self, turn: asyncio.Future[None], latest: float) -> None:
        """Send somebody in line away if his time is over or nothing moves; otherwise look again when that may be so."""
        if turn.done():
            return
        loop = asyncio.get_running_loop()
        until = min(latest, self._moved_at + self._longest_still)
        if loop.time() >= until:
            turn.set_exception(busy())
        else:
            loop.call_at(until, self._review, turn, latest)

    def _admit_next(self) -> None:
        """Hand free slots to those in line, one lane after the other, skipping lanes that have all they may."""
        for lane in list(self._lanes):
            line = self._lanes[lane]
            while line and line[0][1].done():
                self._drop_first(line)
            if line and self._free and self._active[lane] < line[0][0]:
                self._occupy(lane)
                self._drop_first(line).set_result(None)
                self._lanes.move_to_end(lane)
            if not line:
                del self._lanes[lane]
            if not self._free:
                break

    def _drop_first(self, line: deque[tuple[int, asyncio.Future[None]]]) -> asyncio.Future[None]:
        self._waiting -= 1
        return line.popleft()[1]


class Slot:
    """The right to run one piece of work after another until the deadline."""

    def __init__(self, slots: Slots, lane: str, deadline: float) -> None:
        self._slots = slots
        self._lane = lane
        self._deadline = deadline
        self._work: asyncio.Future[Any] | None = None
        self._is_over = False

    async def run(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Return what the work returns, or raise what it raises.

        Raises:
            Unavailable: the deadline came first. The thread goes on, and the slot stays taken until it ends.
        """
        future = self._slots.submit(work, *args, **kwargs)
        self._work = future
        await self._done_or_late(future)
        if not future.done():
            self._is_over = True
            raise too_late()
        return future.result()

    async def _done_or_late(self, work: asyncio.Future[Any]) -> None:
        # Never a timeout around the work itself: cancelling it would wait for the very thing that is late.
        loop = asyncio.get_running_loop()
        settled: asyncio.Future[None] = loop.create_future()
        alarm = loop.call_at(self._deadline, _settle, settled)
        work.add_done_callback(lambda _: _settle(settled))
        try:
            await settled
        finally:
            alarm.cancel()

    @property
    def is_over(self) -> bool:
        """Whether the caller has been answered without the work; for the work to look at, in its thread."""
        return self._is_over

    def __enter__(self) -> Slot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._work is None or self._work.done():
            # Work that failed for want of the database is not progress: those in line would only fail too, later.
            if kind is None or not issubclass(kind, Unavailable):
                self._slots.note_progress()
            self._slots.release(self._lane)
        else:
            self._work.add_done_callback(self._release_late)

    def _release_late(self, work: asyncio.Future[Any]) -> None:
        if not work.cancelled():
            work.exception()  # Looked at, so that the event loop does not report it as forgotten.
        self._slots.release(self._lane)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def busy() -> Unavailable:
    """Return the refusal of somebody for whom there is no room just now."""
    return Unavailable("The server is busy. Try again.", details={"retry_after_seconds": _BUSY_SECONDS})


def too_late() -> Unavailable:
    """Return what somebody is told whose work was not done in its time."""
    return Unavailable("The call took too long. Try again.", details={"retry_after_seconds": _TIMED_OUT_SECONDS})
