"""Agents that keep asking while something is broken, and what each of their calls came to."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from app.cluster import Cluster
from tests.acceptance.conftest import Program, Start
from tests.core.records import make_record
from tests.databases import Database, DatabaseServer

PLENTY = "1000000"
QUESTION = {"query": "list rows keep the wrong text after reordering", "technologies": ["React"]}
# What the server is told to keep, and what a machine with two cores and other work may add to it.
LONGEST_ANSWER = 3.0
SLACK = 2.0
# Nothing is left open that somebody would have to close.
UNKEPT = httpx.Limits(max_keepalive_connections=0)


@dataclass(frozen=True)
class Answer:
    """What a call came to: when it was sent and answered, and with what."""

    sent: float
    at: float
    status: int
    retry_after: str | None
    body: str

    @property
    def took(self) -> float:
        return self.at - self.sent


@dataclass
class Asker:
    """Calls one server, each time on a connection of its own."""

    base: str
    headers: dict[str, str] = field(default_factory=dict)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(verify=False, timeout=60, limits=UNKEPT))  # noqa: S501 - no TLS here

    def ask(self, tool: str = "search_knowledge", arguments: Any = None) -> Answer:
        params = {"name": tool, "arguments": QUESTION if arguments is None else arguments}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        accept = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        sent = time.monotonic()
        reply = self.client.post(f"{self.base}/mcp", content=body, headers={**accept, **self.headers})
        return Answer(sent, time.monotonic(), reply.status_code, reply.headers.get("retry-after"), reply.text)

    def ask_at_once(self, times: int) -> list[Answer]:
        with ThreadPoolExecutor(times) as pool:
            return list(pool.map(lambda _: self.ask(), range(times)))


@dataclass
class Load:
    """Calls without a pause, from several agents."""

    answers: list[Answer] = field(default_factory=list)

    def statuses(self, since: float = 0) -> Counter[int]:
        return Counter(answer.status for answer in list(self.answers) if answer.sent >= since)

    def served_after(self, moment: float) -> float | None:
        """Return how many seconds later the first call was answered with 200, None while none was."""
        return min((a.at - moment for a in list(self.answers) if a.status == 200 and a.at >= moment), default=None)

    def serves_all_again(self, moment: float) -> bool:
        """Tell whether a number of calls in a row, sent after that moment, were answered with 200."""
        last = self.answers[-20:]
        return len(last) == 20 and all(answer.status == 200 and answer.sent > moment for answer in last)

    def longest(self) -> float:
        return max(answer.took for answer in self.answers)

    def longest_pause(self) -> float:
        """Return the longest time in which nobody was answered with 200."""
        served = sorted(answer.at for answer in self.answers if answer.status == 200)
        return max(later - earlier for earlier, later in pairwise(served))


@contextmanager
def load_on(program: Program, agents: int = 6, pause: float = 0.0) -> Iterator[Load]:
    """Ask until the block ends."""
    load, over, asker = Load(), threading.Event(), Asker(program.base)

    def keep_asking() -> None:
        while not over.wait(pause):
            load.answers.append(asker.ask())

    with ThreadPoolExecutor(agents) as pool:
        asking = [pool.submit(keep_asking) for _ in range(agents)]
        try:
            yield load
        finally:
            over.set()
        for each in asking:
            each.result()


def check_refusals(answers: Sequence[Answer], *allowed: int) -> None:
    """Fail unless every answer is one of these or a 503 that says when to come back and nothing of the cause."""
    refused = [answer for answer in answers if answer.status not in allowed]
    assert Counter(answer.status for answer in refused).keys() <= {503}
    for answer in refused:
        assert int(answer.retry_after or 0) >= 1
        assert any(
            told in answer.body
            for told in (
                "knowledge base cannot be reached",
                "Keys and quotas cannot",
                "server is busy",
                "took too long",
            )
        ), answer.body


def units_kept(owner: Engine) -> int:
    """Return how many calls the database has counted."""
    with owner.connect() as connection:
        return int(connection.scalar(text("SELECT coalesce(sum(used), 0) FROM quota_use")) or 0)


def awaited(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for a condition; the limit is only there so that a broken server fails the test."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


@dataclass(frozen=True)
class OwnPostgres:
    """A PostgreSQL that a test may stop, apart from the one that other tests share."""

    cluster: Cluster
    databases: DatabaseServer

    @contextmanager
    def database(self) -> Iterator[Database]:
        """Lend a database with a record published in it."""
        with self.databases.clone() as database:
            database.publish(make_record())
            yield database

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop it as an administrator does, until the block ends."""
        self.cluster.stop()
        try:
            yield
        finally:
            self.cluster.start()


@contextmanager
def own_postgres(factory: pytest.TempPathFactory, settings: dict[str, str] | None = None) -> Iterator[OwnPostgres]:
    cluster = Cluster(factory.mktemp("own"), settings=settings, durable=False)
    try:
        databases = DatabaseServer(cluster.start())
        databases.make_template()
        yield OwnPostgres(cluster, databases)
        databases.close()
    finally:
        cluster.destroy()


@contextmanager
def served(serve: Start, database: Database, **environ: str) -> Iterator[Program]:
    """Serve a database whose calls nobody runs out of."""
    with serve(database, CHATCTX_GUEST_DAILY_QUOTA=PLENTY, **environ) as program:
        yield program
