"""A database whose clock a test can set."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import psycopg

from app.cluster import Cluster
from app.cluster.address import PORT, SUPERUSER
from tests.databases import Database

_REPLACE = """
CREATE OR REPLACE FUNCTION pg_catalog.now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT {} $$
"""


STILL_THERE = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND usename = 'postgres'"


class DatabaseClock:
    """Sets what `now()` returns in one database, for every session at once.

    It stands in for setting the machine's clock: PostgreSQL's own `now()` is put aside under another name, and one that
    adds a shift takes its place. Every statement of the product runs unchanged and believes it.
    """

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        connection.execute("ALTER FUNCTION pg_catalog.now() RENAME TO machine_now")
        self.set(datetime.now(UTC))

    def set(self, moment: datetime) -> None:
        """Let it be that moment, and time go on from there."""
        shift = (moment - datetime.now(UTC)).total_seconds()
        self._replace(f"pg_catalog.machine_now() + interval '{shift:.6f} seconds'")

    def freeze(self, moment: datetime) -> None:
        """Let it be that moment, and time stand still."""
        self._replace(f"timestamptz '{moment.isoformat()}'")

    def now(self) -> datetime:
        row = self._connection.execute("SELECT pg_catalog.now()").fetchone()
        assert row is not None
        moment: datetime = row[0]
        return moment.astimezone(UTC)

    def _replace(self, expression: str) -> None:
        self._connection.execute(_REPLACE.format(expression).encode())


def tomorrow(moment: datetime) -> datetime:
    """Return the midnight that follows."""
    return datetime(moment.year, moment.month, moment.day, tzinfo=UTC) + timedelta(days=1)


@contextmanager
def database_clock(cluster: Cluster, database: Database) -> Iterator[DatabaseClock]:
    """Lend the clock of a test's own database. Only the superuser may exchange a function of PostgreSQL's."""
    with superuser(cluster, "postgres") as outside:
        row = outside.execute("SHOW data_directory").fetchone()
        assert row == (str(cluster.status().data_directory),)
        with superuser(cluster, database.name) as connection:
            yield DatabaseClock(connection)
        # A session ends a moment after it was closed, and nobody else may end the superuser's to drop the database.
        while outside.execute(STILL_THERE, [database.name]).fetchone():
            time.sleep(0.01)


def superuser(cluster: Cluster, database: str) -> psycopg.Connection:
    return psycopg.connect(
        host=str(cluster.address.socket_folder),
        port=PORT,
        user=SUPERUSER,
        password=cluster._server.passwords()[SUPERUSER],
        dbname=database,
        autocommit=True,
    )
