"""A served knowledge base as its operator sees it: every request in the log, every unit in the database."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import text

from app.access import load_peppers
from app.administration import StoredKeys
from tests.acceptance.conftest import Program, run_program
from tests.databases import Database

PLENTY = "100000"
# Nothing a client sends.
MARK = "HEAD"
LONGEST_WAIT = 10.0


@dataclass(frozen=True)
class Noticed:
    """What reached the server between two marks.

    Attributes:
        requests: how many of each kind: an MCP method where there was one, else HTTP method and status.
        statuses: how many of each HTTP status.
        eras: protocol versions that tools were asked in.
        charged: units taken of each allowance that units were taken of, the most first.
    """

    requests: Counter[str]
    statuses: Counter[int]
    eras: frozenset[str]
    charged: list[int]

    @property
    def total(self) -> int:
        return self.requests.total()

    def __str__(self) -> str:
        return ", ".join(kind if n == 1 else f"{n} {kind}" for kind, n in sorted(self.requests.items()))


class Service:
    """A running server over a database that its operator looks into."""

    def __init__(self, program: Program, database: Database) -> None:
        self._program = program
        self._database = database
        # What it announces is the address by which others reach it, which here is that of a proxy.
        started = next(line for line in program.lines if '"event": "started"' in line)
        self.port = int(json.loads(started[started.index("{") :])["port"])
        self._seen = 0
        self._used: Counter[bytes] = Counter()
        self.notice()

    @classmethod
    @contextmanager
    def started(cls, database: Database, home: Path, **environ: str) -> Iterator[Service]:
        settings = {
            "DATABASE_URL": database.app_url,
            "CHATCTX_OWNER_DATABASE_URL": database.owner_url,
            "CHATCTX_LOG_LEVEL": "debug",
            "CHATCTX_GUEST_DAILY_QUOTA": PLENTY,
            "CHATCTX_FEEDBACK_GUEST_QUOTA": PLENTY,
            **environ,
        }
        with run_program(settings, home, command="serve") as program:
            yield cls(program, database)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def new_key(self, daily_quota: int) -> str:
        """Make a key as `chatctx keys create` does."""
        return self._keys().create("test", daily_quota)

    def revoked_key(self) -> str:
        """Make a key and revoke it: only the database knows that it is not valid any more."""
        key = self.new_key(1)
        assert self._keys().revoke(key.split("_")[2])
        return key

    def _keys(self) -> StoredKeys:
        return StoredKeys(self._database.owner, load_peppers(self._program.home / "pepper"))

    def notice(self) -> Noticed:
        """Return what happened since this was asked last."""
        self._mark()
        lines = self._program.lines[self._seen :]
        self._seen += len(lines)
        events = [json.loads(line[line.index("{") :]) for line in lines if '{"event": "request"' in line]
        requests = [event for event in events if event["http"] != MARK]
        with self._database.owner.connect() as connection:
            rows = connection.execute(text("SELECT subject, used FROM quota_use")).all()
        before, self._used = self._used, Counter({bytes(row.subject): row.used for row in rows})
        return Noticed(
            Counter(map(_kind, requests)),
            Counter(event["status"] for event in requests),
            frozenset(event["era"] for event in requests if event.get("method", "").startswith("tools/")),
            sorted((self._used - before).values(), reverse=True),
        )

    def _mark(self) -> None:
        """Wait until everything that was sent before now is in the log."""
        # The first is answered after what was sent before it; streams that a client has left end meanwhile.
        for _ in range(2):
            before = self._marks()
            httpx.head(f"http://127.0.0.1:{self.port}/livez")
            deadline = time.monotonic() + LONGEST_WAIT
            while self._marks() == before:
                assert time.monotonic() < deadline, "the log does not say what the server was asked"
                time.sleep(0.005)

    def _marks(self) -> int:
        return sum(f'"http": "{MARK}"' in line for line in self._program.lines)


def _kind(event: dict[str, Any]) -> str:
    return event.get("method") or f"{event['http']} {event['status']}"
