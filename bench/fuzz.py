"""Whether any bytes break the server, or come back to whoever sent them.

    .venv/bin/python -m bench.fuzz [--minutes 15] [--seed 1]

A server on a real socket gets requests made of random bytes: plain noise, and HTTP, JSON and MCP that is nearly right.
None may be answered with 5xx, leave an error in the log, or be told nine bytes of its own. Where atheris is installed
(`pip install atheris`; it has wheels for Linux and some Pythons only, so it is not among the dependencies), it chooses
the bytes by what code of the server they reach; otherwise they are random, from the seed.
"""

from __future__ import annotations

import argparse
import http
import importlib
import importlib.util
import logging
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.fuzzrequests import made_of, own_words, repeats, send

_LONGEST_DATA = 400


class Broken(AssertionError):
    """A request that must not have been answered as it was."""


class _Fuzzing:
    """Sends what bytes stand for, and looks at what comes back."""

    def __init__(self, port: int, mistakes: Sequence[str]) -> None:
        self._port = port
        self._mistakes = mistakes
        self._own = own_words(port)
        self.statuses: Counter[int] = Counter()

    def try_bytes(self, data: bytes) -> None:
        """Raise Broken if the request that the bytes stand for broke anything."""
        request, secrets = made_of(data, self._port)
        answer = send(self._port, request)
        status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
        self.statuses[status] += 1
        if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR or self._mistakes or repeats(answer, secrets, self._own):
            raise Broken(f"data {data!r}\nrequest {request!r}\nanswer {answer!r}\nlog {self._mistakes[:3]}")
        if self.statuses.total() % 10_000 == 0:
            print(self.render(), flush=True)

    def render(self) -> str:
        """Return what came of it."""
        counts = ", ".join(f"{number:,} x {status or 'nothing'}" for status, number in sorted(self.statuses.items()))
        return f"{self.statuses.total():,} requests, none broke anything or came back: {counts}"


class _Mistakes(logging.Handler):
    """Keeps what the server calls an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def _serving() -> Iterator[_Fuzzing]:
    """Run a server in a thread. What it is made of is imported here, so that atheris can watch it."""
    names = ("bench.edge.servers", "bench.edge.memory", "app.access", "app.settings", "app.runtime", "app.operations")
    servers, memory, access, settings, runtime, operations = map(importlib.import_module, names)
    edge, running = importlib.import_module("app.transports.http"), importlib.import_module("app.transports.server")
    mistakes = _Mistakes()
    logging.getLogger().addHandler(mistakes)
    with tempfile.TemporaryDirectory() as home:
        chosen = settings.Settings(home=Path(home), port=0, guest_daily_quota=10**9, feedback_guest_quota=10**9)
        allowances = access.Access(
            memory.MemoryStore(), access.PepperRing({"p1": bytes(32)}), chosen, runtime.SystemClock()
        )
        services = edge.EdgeServices(
            chosen, allowances, operations.OPERATIONS, servers.do_nothing, "", {"/": ("text/html", b"")}, dict
        )
        listener, started = running.bind(chosen), threading.Event()
        server = running.EdgeServer(edge.create_app(services), lambda _host, _port: started.set())
        threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
        started.wait()
        yield _Fuzzing(listener.getsockname()[1], mistakes.lines)
        server.stop()


def _at_random(try_bytes: Callable[[bytes], None], seconds: float, seed: int) -> None:
    chance, until = random.Random(seed), time.monotonic() + seconds  # noqa: S311 - it decides what to send, not whom to trust
    while time.monotonic() < until:
        try_bytes(chance.randbytes(chance.randrange(_LONGEST_DATA)))


def _sow(folder: Path, seed: int) -> None:
    """Write something to begin with: whole requests, where nothing at all would only be slow."""
    chance = random.Random(seed)  # noqa: S311 - as above
    for number in range(200):
        (folder / str(number)).write_bytes(chance.randbytes(chance.randrange(20, _LONGEST_DATA)))


def main() -> None:
    """Fuzz for some minutes; end with a traceback at the first request that breaks anything."""
    parser = argparse.ArgumentParser(description="Whether any bytes break the server, or come back.")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1, help="of the random bytes; atheris has its own")
    chosen = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        with _serving() as fuzzing:
            _at_random(fuzzing.try_bytes, chosen.minutes * 60, chosen.seed)
            print(fuzzing.render())
        return
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["app"]):
        entered = _serving()
        fuzzing = entered.__enter__()
    with tempfile.TemporaryDirectory() as seeds:
        _sow(Path(seeds), chosen.seed)
        limits = [f"-max_total_time={chosen.minutes * 60:.0f}", f"-max_len={_LONGEST_DATA}", "-len_control=0"]
        atheris.Setup([sys.argv[0], *limits, seeds], fuzzing.try_bytes)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
