"""Threads that do blocking work for an event loop, without the locks of the standard library's executor.

An executor's futures can be waited for from any thread, which costs more than a short piece of work does itself. These
can be awaited in the loop that submitted the work, and nowhere else.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

Result = TypeVar("Result")


class Workers:
    """A number of threads, started as they are needed, that take work in turn. Belongs to one event loop.

    They end with the process, whatever they are at: work that hangs must not keep a server from ending.
    """

    def __init__(self, name: str, most: int) -> None:
        self._name = name
        self._most = most
        self._started = 0
        self._at_work = 0
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()

    def submit(self, work: Callable[[], Result]) -> asyncio.Future[Result]:
        """Start work in a thread, or have it wait for one.

        Raises:
            RuntimeError: no thread can be started now, and there is none that it could wait for.
        """
        task = _Task(work, asyncio.get_running_loop())
        if self._at_work >= self._started < self._most:
            self._start_another()
        self._at_work += 1
        task.future.add_done_callback(self._note_done)
        self._queue.put(task)
        return task.future

    def close(self) -> None:
        """Take no more work; threads still at work end by themselves."""
        for _ in range(self._started):
            self._queue.put(None)

    def _start_another(self) -> None:
        thread = threading.Thread(target=self._run, name=f"{self._name}_{self._started + 1}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system has no more just now. Those that run take the work in turn, and the next call tries again.
            if not self._started:
                raise
        else:
            self._started += 1

    def _note_done(self, _: asyncio.Future[Any]) -> None:
        self._at_work -= 1

    def _run(self) -> None:
        while (task := self._queue.get()) is not None:
            task.run()
            # Nothing of a caller's is held while the thread waits.
            del task


class _Task:
    """A piece of work, and the future that tells its loop how it ended."""

    def __init__(self, work: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def run(self) -> None:
        """Do the work, in a thread."""
        try:
            tell = partial(self._tell, self.future.set_result, self._work())
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to whoever awaits the work
            tell = partial(self._tell, self.future.set_exception, _raisable(error))
        # The loop may have ended meanwhile; then nobody waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(tell)

    def _tell(self, settle: Callable[[Any], None], outcome: Any) -> None:
        if not self.future.done():
            settle(outcome)


def _raisable(error: BaseException) -> BaseException:
    """Return what a future can hold: it takes no StopIteration, which would end whoever awaits it without a word."""
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("work raised StopIteration")
    wrapped.__cause__ = error
    return wrapped
