"""One thread that does one thing at a time, with a short line before it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_JOIN_SECONDS = 1.0


class LineFullError(Exception):
    """As many tasks wait as may wait."""


class WorkerClosedError(Exception):
    """The worker takes no more tasks."""


class Worker:
    """Runs tasks one after another in one daemon thread.

    Not a ThreadPoolExecutor: its line has no end, and the interpreter waits for its threads, so that a
    model that hangs would keep the process from ending.

    Args:
        name: of the thread.
        capacity: tasks that may wait besides the one that runs.
    """

    def __init__(self, name: str, capacity: int) -> None:
        self._capacity = capacity
        self._line: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, task: Callable[[], _Result]) -> Future[_Result]:
        """Put a task in the line and return its future.

        Cancelling a future that still waits frees its place.

        Raises:
            LineFullError: no place is left.
            WorkerClosedError: after close().
        """
        with self._changed:
            if self._closed:
                raise WorkerClosedError
            self._line = deque(entry for entry in self._line if not entry[0].cancelled())
            if len(self._line) >= self._capacity:
                raise LineFullError
            future: Future[_Result] = Future()
            self._line.append((future, task))
            self._changed.notify()
            return future

    def close(self) -> None:
        """Cancel what waits and end the thread. May be called twice.

        A task that runs is given a second; one that hangs is left to the end of the process.
        """
        with self._changed:
            self._closed = True
            for future, _ in self._line:
                future.cancel()
            self._line.clear()
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(_JOIN_SECONDS)

    def _work(self) -> None:
        while self._run_next():
            pass

    def _run_next(self) -> bool:
        # A frame of its own, so that an idle thread holds on to no task and no text.
        with self._changed:
            self._changed.wait_for(lambda: self._line or self._closed)
            if not self._line:
                return False
            future, task = self._line.popleft()
        if future.set_running_or_notify_cancel():
            _complete(future, task)
        return True


def _complete(future: Future[Any], task: Callable[[], Any]) -> None:
    try:
        result = task()
    except BaseException as error:  # noqa: BLE001 - a Rust panic is none, and must not end the thread
        future.set_exception(error)
    else:
        future.set_result(result)
