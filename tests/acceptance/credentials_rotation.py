"""Two servers behind a balancer, replaced one by one while callers go on asking."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from tests.acceptance.conftest import Program
from tests.acceptance.credentials_owner import wait_for

CALLERS = 4
# Busy enough that every moment has calls in it, and not so busy that servers start slowly.
PAUSE_SECONDS = 0.03


class Fleet:
    """Servers that share a database and a home; calls go to each in turn.

    As a balancer does, it sends nothing more to a server that is to stop, and lets it finish what it has.
    """

    def __init__(self, begin: Callable[[], AbstractContextManager[Program]], stack: ExitStack, size: int = 2) -> None:
        self._begin = begin
        self._stack = stack
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._turn = itertools.count()
        self.programs = [stack.enter_context(begin()) for _ in range(size)]

    @contextmanager
    def a_server(self) -> Iterator[Program]:
        """Lend the server whose turn it is."""
        with self._lock:
            program = self.programs[next(self._turn) % len(self.programs)]
            self._calls[program.base] += 1
        try:
            yield program
        finally:
            with self._lock:
                self._calls[program.base] -= 1

    def replace_each(self) -> None:
        """Stop and start one server after the other, so that each reads its files anew; one always serves."""
        for old in list(self.programs):
            with self._lock:
                self.programs.remove(old)
            wait_for(lambda old=old: not self._calls[old.base])
            assert old.stop() == 0
            new = self._stack.enter_context(self._begin())
            with self._lock:
                self.programs.append(new)


class Load:
    """Callers that ask again and again, with one key after the other, and note what they are told."""

    def __init__(self, fleet: Fleet, keys: list[str], ask: Callable[[Program, str], int]) -> None:
        self._fleet = fleet
        self._keys = keys
        self._ask = ask
        self._stop = threading.Event()
        self.statuses: list[int] = []

    def _call(self, number: int) -> None:
        for turn in itertools.count(number):
            if self._stop.wait(PAUSE_SECONDS):
                return
            with self._fleet.a_server() as program:
                self.statuses.append(self._ask(program, self._keys[turn % len(self._keys)]))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Ask as long as the context lasts."""
        with ThreadPoolExecutor(CALLERS) as pool:
            work = [pool.submit(self._call, number) for number in range(CALLERS)]
            try:
                yield
            finally:
                self._stop.set()
            for one in work:
                one.result()

    def go_on(self, calls: int) -> None:
        """Wait for more calls."""
        until = len(self.statuses) + calls
        wait_for(lambda: len(self.statuses) >= until)


class PepperFile:
    """The pepper file, edited as an owner edits it."""

    def __init__(self, home: Path) -> None:
        self._path = home / "pepper"
        self._comments = [line for line in self._lines() if line.startswith("#")]
        (self.old,) = (line for line in self._lines() if not line.startswith("#"))
        self.new = f"next {secrets.token_hex(32)}"

    def hold(self, *peppers: str) -> None:
        self._path.write_text("\n".join([*self._comments, *peppers]) + "\n", "ascii")

    def _lines(self) -> list[str]:
        return self._path.read_text("ascii").splitlines()
