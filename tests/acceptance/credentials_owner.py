"""Keys as an owner makes and ends them, and what the database shows of a server at work."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from app.runtime import LocalRuntime
from app.transports.cli import create_cli

PLENTY = "100000000"


@dataclass(frozen=True)
class Owner:
    """The commands of a person who has the owner's login and the pepper of a home.

    Attributes:
        home: where the servers find the pepper.
        out: where new keys are written to; apart from the home, so that what servers write can be searched for keys.
        said: what the commands have printed.
    """

    app_url: str
    owner_url: str
    home: Path
    out: Path
    said: list[str] = field(default_factory=list)

    def run(self, *words: str) -> Result:
        environ = {
            "DATABASE_URL": self.app_url,
            "CHATCTX_OWNER_DATABASE_URL": self.owner_url,
            "CHATCTX_HOME": str(self.home),
            "CHATCTX_EMBEDDER": "none",
        }
        result = CliRunner().invoke(create_cli(LocalRuntime(environ, self.out)), list(words))
        self.said.append(result.output)
        return result

    def done(self, *words: str) -> str:
        result = self.run(*words)
        assert result.exit_code == 0, result.output
        return result.output

    def mint(self, label: str) -> str:
        """Return a new key that may be used as often as a test likes."""
        self.out.mkdir(parents=True, exist_ok=True)
        file = self.out / f"{label}-{secrets.token_hex(4)}"
        self.done("keys", "create", "--label", label, "--quota", PLENTY, "--out", str(file))
        return file.read_text("ascii").strip()

    def listing(self) -> dict[str, dict[str, Any]]:
        """Return what the owner is shown of each key, by its id."""
        return {line["key_id"]: line for line in json.loads(self.done("keys", "list", "--json"))}


def id_of(key: str) -> str:
    return key.split("_")[2]


def units_taken(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text("SELECT coalesce(sum(used), 0) FROM quota_use")) or 0)


def last_statements(engine: Engine) -> list[tuple[Any, ...]]:
    """Return when each other connection of this login last did anything: it is unchanged if no statement was sent."""
    activity = """
        SELECT pid, query_start, state_change FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid() ORDER BY pid
    """
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(activity))]


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait; the limit is only there so that a broken server fails the test."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
