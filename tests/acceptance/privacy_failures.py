"""What can go wrong while a caller's words are on their way, each made to happen for as long as a block lasts."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psutil
import psycopg

from app.cluster import Cluster
from app.cluster.address import PORT, SUPERUSER
from tests.fakes import HashingEmbedder

DIMS = 64
# Statements that let every search divide by zero, as only a mistake in it would, and that undo it.
DEFECT = (
    """CREATE POLICY each ON publication USING (1 / (document_count * 0) = 1);
    ALTER TABLE publication ENABLE ROW LEVEL SECURITY""",
    "DROP POLICY each ON publication; ALTER TABLE publication DISABLE ROW LEVEL SECURITY",
)


class EmbeddingService(ThreadingHTTPServer):
    """An embedding service that fails as it is told, and often repeats in its failure what it was asked.

    Attributes:
        heard: everything it was sent.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.fails: str | None = None
        self.heard = b""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @contextmanager
    def failing(self, how: str) -> Iterator[None]:
        self.fails = how
        yield
        self.fails = None


class _Answering(BaseHTTPRequestHandler):
    server: EmbeddingService

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["content-length"]))
        self.server.heard += asked
        match self.server.fails:
            case "an error that repeats the question":
                self._answer(500, asked)
            case "a redirect that repeats the question":
                self._answer(307, asked, location="/" + "".join(filter(str.isalnum, asked.decode())))
            case "vectors of another length":
                self._answer(200, self._vectors(asked, DIMS + 1))
            case "no JSON, but the question":
                self._answer(200, asked[:-1])
            case "silence":
                time.sleep(1)
            case "a closed connection":
                self.close_connection = True
            case _:
                self._answer(200, self._vectors(asked, DIMS))

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        with suppress(OSError):
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    @staticmethod
    def _vectors(asked: bytes, dims: int) -> bytes:
        vectors = HashingEmbedder(dims).embed(json.loads(asked)["input"])
        rows = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
        return json.dumps({"data": rows}).encode()

    def log_message(self, *_: Any) -> None:
        """Keep the test's own output clean."""


@dataclass
class WatchedDatabase:
    """A program's database as its superuser sees it, who can make it fail and sees what everybody runs.

    Attributes:
        seen: all that the view of activity has shown.
    """

    cluster: Cluster
    name: str
    seen: set[str] = field(default_factory=set)

    @contextmanager
    def connected(self, *, autocommit: bool = True) -> Iterator[psycopg.Connection]:
        with psycopg.connect(
            host=str(self.cluster.address.socket_folder), port=PORT, user=SUPERUSER, dbname=self.name,
            password=self.cluster._server.passwords()[SUPERUSER], autocommit=autocommit,
            options="-c search_path=chatctx,public -c log_statement=none -c log_min_duration_statement=-1",
        ) as connection:  # fmt: skip
            yield connection

    def run(self, *statements: str) -> None:
        with self.connected() as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def read(self, query: str) -> list[Any]:
        with self.connected() as connection:
            return [row[0] for row in connection.execute(query.encode())]

    @contextmanager
    def broken(self, breaking: str, mending: str) -> Iterator[None]:
        self.run(breaking)
        yield
        self.run(mending)

    @contextmanager
    def locked(self, table: str) -> Iterator[None]:
        """Hold a lock that every reader waits for."""
        with self.connected(autocommit=False) as connection:
            connection.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
            yield
            connection.rollback()

    @contextmanager
    def interrupting(self, function: str) -> Iterator[None]:
        """Cancel every statement of the server's, or end its session, as soon as it waits for a lock."""
        waiting = "FROM pg_stat_activity WHERE usename = 'chatctx_app' AND wait_event_type = 'Lock'"
        interrupt = f"SELECT {function}(pid) {waiting}"
        with self.locked("term_posting"), repeating(lambda: self.run(interrupt)):
            yield

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look all the time at what everybody runs."""

        def look() -> None:
            query = "SELECT to_jsonb(a)::text FROM pg_stat_activity a WHERE usename = 'chatctx_app'"
            with suppress(psycopg.Error), self.connected() as connection:
                for _ in range(100):
                    self.seen.update(row[0] for row in connection.execute(query))
                    time.sleep(0.005)

        with repeating(look):
            yield

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Kill the server and all its processes at once; whoever supervises it starts it again."""
        self._signal(signal.SIGKILL)
        yield

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Stop all its processes where they are, as a disk that hangs would."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        pid = self.cluster.status().pid
        assert pid
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)


@contextmanager
def repeating(act: Callable[[], None]) -> Iterator[None]:
    """Do something over and over in a thread of its own for as long as the block lasts."""
    over = threading.Event()

    def loop() -> None:
        while not over.wait(0.02):
            with suppress(psycopg.Error):
                act()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(30)
