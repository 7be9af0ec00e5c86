"""What the database has counted, by the address it was counted for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import insert, text

from app.access import PepperRing, load_peppers
from app.access.pepper import keyed_hash
from app.cluster import Cluster
from app.runtime import PEPPER_NAME
from app.store.access import PostgresAccessStore
from app.store.tables import quota_use
from tests.acceptance.conftest import Program, run_program
from tests.acceptance.quota_clock import DatabaseClock, database_clock
from tests.core.records import make_record
from tests.databases import Database, DatabaseServer


@dataclass(frozen=True)
class Counters:
    """The table of counters, and the pepper that tells whose they are."""

    database: Database
    peppers: PepperRing

    def subject(self, address: str, salt: bytes | None = None) -> bytes:
        """Return what an address is stored as today, or was under another day's salt."""
        salt = salt or PostgresAccessStore(self.database.server).daily_salt()[1]
        return keyed_hash(self.peppers.subkey("address", salt=salt), f"call\0{address}")

    def used(self, address: str) -> int:
        """Return the units that an address has used today."""
        return self.rows().get(self.subject(address), 0)

    def rows(self) -> dict[bytes, int]:
        """Return today's counters by subject."""
        with self.database.server.connect() as connection:
            day = "CAST(now() AT TIME ZONE 'UTC' AS date)"
            rows = connection.execute(text(f"SELECT subject, used FROM quota_use WHERE day = {day}"))  # noqa: S608
            return {bytes(row.subject): row.used for row in rows}

    def preset(self, addresses: Iterable[str], used: int) -> None:
        """Let addresses that have not called today have used some units."""
        day, salt = PostgresAccessStore(self.database.server).daily_salt()
        rows = [{"day": day, "subject": self.subject(address, salt), "used": used} for address in addresses]
        with self.database.owner.begin() as connection:
            connection.execute(insert(quota_use), rows)

    def searches(self) -> int:
        """Return how many searches have been run: each leaves an event."""
        with self.database.owner.connect() as connection:
            return int(connection.execute(text("SELECT count(*) FROM retrieval_event")).scalar_one())


@dataclass(frozen=True)
class Service:
    """Server processes on one database, and that database's clock."""

    ports: list[int]
    counters: Counters
    clock: DatabaseClock

    @property
    def database(self) -> Database:
        return self.counters.database


def port_of(program: Program) -> int:
    return int(program.base.rpartition(":")[2])


@contextmanager
def service(database_server: DatabaseServer, cluster: Cluster, home: Path, *, processes: int = 2) -> Iterator[Service]:
    """Run server processes as two hosts behind a balancer would: one database, one pepper, nothing else in common.

    Their database believes that it is noon: a day that ended during a test would hand out second allowances.
    """
    with database_server.clone() as database, database_clock(cluster, database) as clock:
        clock.set(datetime.now(UTC).replace(hour=12))
        database.publish(make_record())
        with serving(database, home, processes=processes) as programs:
            counters = Counters(database, load_peppers(home / PEPPER_NAME))
            yield Service([port_of(program) for program in programs], counters, clock)


@contextmanager
def serving(database: Database, home: Path, *, processes: int) -> Iterator[list[Program]]:
    """Run `chatctx serve` several times on a database."""
    environ = {
        "CHATCTX_EMBEDDER": "none",
        # On a noisy machine nobody is to wait for a connection or run out of time after he was counted.
        "CHATCTX_POOL_SIZE": "16",
        "CHATCTX_CALL_TIMEOUT_MS": "30000",
        "DATABASE_URL": database.app_url,
        "CHATCTX_OWNER_DATABASE_URL": database.owner_url,
    }
    if processes == 0:
        yield []
        return
    with (
        run_program(environ, home, command="serve") as program,
        serving(database, home, processes=processes - 1) as others,
    ):
        yield [program, *others]
