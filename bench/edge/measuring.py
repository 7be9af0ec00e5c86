"""Processor time per call of the product's edge and of a bare echo, measured in turns in the same run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

from bench.corpus import ROOT, scratch_engines
from bench.edge.load import new_call, old_call, send_many

ROUNDS = 7
CALLS = 3000
_WARM_UP = 1000
ERAS: Mapping[str, Callable[[int], bytes]] = {"2025-11-25": old_call, "2026-07-28": new_call}


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    pid: int
    port: int

    def cost(self, request: bytes, calls: int) -> float:
        """Return the microseconds of processor time that each of some calls takes."""
        before = _processor_seconds(self.pid)
        send_many(self.port, request, calls)
        return (_processor_seconds(self.pid) - before) / calls * 1e6


@dataclass(frozen=True)
class Line:
    """What a call costs in one protocol.

    Attributes:
        what: the server that is measured.
        echo: median microseconds of processor time of the echo, for the same bytes.
        own: those of the server.
    """

    what: str
    era: str
    echo: float
    own: float

    @property
    def ratio(self) -> float:
        """Return how many echoes a call costs."""
        return self.own / self.echo


def measure(rounds: int = ROUNDS, calls: int = CALLS, *, with_database: bool = True) -> list[Line]:
    """Return what a call costs, in both protocols. Takes about a second for each thousand calls and round.

    Every server runs on the last processor this process may use, the client on the first.
    """
    client, cpu = _processors()
    with ExitStack() as stack:
        # Before this process is bound to one processor: what it starts would be bound too.
        servers = dict(_start_all(stack, cpu, with_database=with_database))
        stack.enter_context(_bound(client))
        spent: dict[tuple[str, str], list[float]] = {(name, era): [] for name in servers for era in ERAS}
        for name, era in spent:
            send_many(servers[name].port, ERAS[era](servers[name].port), _WARM_UP)
        for _ in range(rounds):
            for (name, era), costs in spent.items():
                costs.append(servers[name].cost(ERAS[era](servers[name].port), calls))
    middle = {key: median(costs) for key, costs in spent.items()}
    return [
        Line(name, era, middle["echo", era], middle[name, era]) for name in servers if name != "echo" for era in ERAS
    ]


def _start_all(stack: ExitStack, cpu: int, *, with_database: bool) -> Iterator[tuple[str, Server]]:
    yield "echo", stack.enter_context(_running("echo", cpu))
    yield "allowances in memory", stack.enter_context(_running("product", cpu))
    if with_database:
        _, engine = stack.enter_context(scratch_engines())
        url = engine.url.render_as_string(hide_password=False)
        yield "allowances in PostgreSQL", stack.enter_context(_running("product", cpu, url))


@contextmanager
def _running(kind: str, cpu: int, *more: str) -> Iterator[Server]:
    process = subprocess.Popen(  # noqa: S603 - this package's own module
        [sys.executable, "-m", "bench.edge.servers", kind, str(cpu), *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        # The product writes its log; where to is not its cost.
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Server(process.pid, int(process.stdout.readline()))
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def _processor_seconds(pid: int) -> float:
    """Return what all threads of a process have used, in the system and outside it.

    By the clock that Linux keeps for it: /proc counts in hundredths of a second.
    """
    return time.clock_gettime((~pid << 3) | 2)


def _processors() -> tuple[int, int]:
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


@contextmanager
def _bound(cpu: int) -> Iterator[None]:
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)
