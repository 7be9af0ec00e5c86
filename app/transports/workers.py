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
        """Start work in a thread, or have it wait for one."""
        task = _Task(work, asyncio.get_running_loop())
        self._at_work += 1
        task.future.add_done_callback(self._note_done)
        if self._at_work > self._started < self._most:
            self._started += 1
            threading.Thread(target=self._run, name=f"{self._name}_{self._started}", daemon=True).start()
        self._queue.put(task)
        return task.future

    def close(self) -> None:
        """Take no more work; threads still at work end by themselves."""
        for _ in range(self._started):
            self._queue.put(None)

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
            tell = partial(self._tell, self.future.set_exception, error)
        # The loop may have ended meanwhile; then nobody waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(tell)

    def _tell(self, settle: Callable[[Any], None], outcome: Any) -> None:
        if not self.future.done():
            settle(outcome)
