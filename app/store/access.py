"""Keys and quotas in the database: what the edge asks on every call, and what the owner administers."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from app.errors import InvalidInput, Unavailable
from app.ports import KeyRow, QuotaTake
from app.store.engine import RETRY_AFTER_SECONDS, connected, sql, sqlstate, transaction
from app.store.tables import api_key

SALT_BYTES = 32
# Counts of yesterday and the day before are kept for the owner to look at.
KEEP_DAYS = 2
# Salts go with their day, but for this long a clock may still be set back into it, where counting must go on as before.
SETTLING_MINUTES = 10
_FORGOTTEN_AT_ONCE = 20_000
_log = logging.getLogger(__name__)


class PostgresAccessStore:
    """Implements `app.ports.AccessStore` on the server's engine. Every statement is committed before it returns."""

    def __init__(self, engine: Engine) -> None:
        """Keep the engine; nothing is connected yet.

        Args:
            engine: made by `app.store.engine.server_engine`.
        """
        self._engine = engine

    def find_key(self, key_id: str) -> KeyRow | None:
        """Return the key with this id, revoked or not. Raises Unavailable."""
        with self._reached() as connection:
            row = connection.execute(sql("find_key"), {"key_id": key_id}).one()
        key = KeyRow(row.key_id, bytes(row.mac), row.pepper_id, row.daily_quota, row.revoked_at)
        return key if row.is_known else None

    def rekey(self, key_id: str, old_pepper_id: str, mac: bytes, pepper_id: str) -> None:
        """Move a key to a newer pepper, if it is still on the old one. Raises Unavailable."""
        self._run("rekey", {"key_id": key_id, "old_pepper_id": old_pepper_id, "mac": mac, "pepper_id": pepper_id})

    def touch_key(self, key_id: str) -> None:
        """Note that the key was used today; at most one write a day, never waits for a lock. Raises Unavailable."""
        self._run("touch_key", {"key_id": key_id})

    def daily_salt(self) -> tuple[date, bytes]:
        """Return the database's UTC day and that day's 32-byte salt, made on first use. Raises Unavailable.

        Whoever makes a day's salt deletes what is left of the days that are over.
        """
        # Twice more: midnight may pass between reading and making.
        for _ in range(3):
            with self._reached() as connection:
                row = connection.execute(sql("read_salt")).one_or_none()
                if row is not None:
                    return row.day, bytes(row.salt)
                made = connection.execute(sql("make_salt"), {"salt": secrets.token_bytes(SALT_BYTES)}).one_or_none()
                if made is not None:
                    _forget_some(connection)
        raise Unavailable("Today's salt could not be made.", details={"retry_after_seconds": RETRY_AFTER_SECONDS})

    def forget_days(self) -> None:
        """Delete salts SETTLING_MINUTES and counts KEEP_DAYS after their day is over. Raises Unavailable."""
        with self._reached() as connection:
            while _forget_some(connection) == _FORGOTTEN_AT_ONCE:
                pass

    def take(self, subject: bytes, limit: int, day: date | None = None) -> QuotaTake:
        """Take one unit of today's allowance for the subject, in one committed statement. Raises Unavailable.

        One statement decides and counts, because reading before writing admits too many. A refused call is not counted,
        and is told the limit as what was used. Where a day is given and it is another one, nothing is counted either.
        """
        values = {"subject": subject, "allowance": limit, "day": day}
        with self._reached() as connection:
            row = connection.execute(sql("take_quota"), values).one()
        admitted = row.used is not None
        return QuotaTake(admitted, row.used if admitted else limit, max(row.seconds_left, 1), row.day)

    @contextmanager
    def _reached(self) -> Iterator[Connection]:
        """Lend a connection. Whatever the database refuses, rights included, leaves as Unavailable.

        Whoever is told that his key is wrong throws it away, and whoever cannot be counted is not let in.
        """
        try:
            with connected(self._engine) as connection:
                yield connection
        except DBAPIError as error:
            _log.error("keys and quotas cannot be read or written: SQLSTATE %s", sqlstate(error))
            raise Unavailable(
                "Keys and quotas cannot be looked up just now; the same call may work shortly.",
                details={"retry_after_seconds": RETRY_AFTER_SECONDS},
            ) from error

    def _run(self, statement: str, parameters: Mapping[str, Any]) -> None:
        with self._reached() as connection:
            connection.execute(sql(statement), parameters)


def _forget_some(connection: Connection) -> int:
    """Delete the salts of days that are over and some of their counts; return how many counts."""
    connection.execute(sql("forget_salts"), {"minutes": SETTLING_MINUTES})
    return connection.execute(sql("forget_counts"), {"keep_days": KEEP_DAYS, "batch": _FORGOTTEN_AT_ONCE}).rowcount


@dataclass(frozen=True)
class KeyListing:
    """A key as the owner sees it: nothing in it lets anyone in."""

    key_id: str
    label: str
    pepper_id: str
    daily_quota: int | None
    created_at: datetime
    last_used_on: date | None
    revoked_at: datetime | None


class KeyRing:
    """Administration of keys, on the owner's engine. Every method raises Unavailable."""

    def __init__(self, engine: Engine) -> None:
        """Keep the engine; nothing is connected yet.

        Args:
            engine: made by `app.store.engine.owner_engine`.
        """
        self._engine = engine

    def add(self, key_id: str, mac: bytes, pepper_id: str, label: str, daily_quota: int | None) -> None:
        """Keep a new key.

        Args:
            key_id: the public part that it is looked up by.
            mac: HMAC-SHA256 of the whole key under the pepper `pepper_id`, 32 bytes.
            label: what the owner calls it.
            daily_quota: tool calls per UTC day, None for the server's default.
        """
        values = {"key_id": key_id, "mac": mac, "pepper_id": pepper_id, "label": label, "daily_quota": daily_quota}
        with transaction(self._engine) as connection:
            connection.execute(insert(api_key).values(values))

    def all(self) -> Sequence[KeyListing]:
        """Return every key, oldest first, revoked ones included."""
        column = api_key.c
        shown = (
            column.key_id, column.label, column.pepper_id, column.daily_quota, column.created_at, column.last_used_on,
            column.revoked_at,
        )  # fmt: skip
        with connected(self._engine) as connection:
            rows = connection.execute(select(*shown).order_by(column.created_at, column.key_id)).all()
        return [KeyListing(*row) for row in rows]

    def revoke(self, key_id: str) -> None:
        """Revoke a key, from the next call on; a revoked one stays so. Raises InvalidInput for an unknown id."""
        self._change(key_id, {"revoked_at": func.coalesce(api_key.c.revoked_at, func.now())})

    def set_quota(self, key_id: str, daily_quota: int | None) -> None:
        """Set a key's tool calls per UTC day, None for the default. Raises InvalidInput for an unknown id."""
        self._change(key_id, {"daily_quota": daily_quota})

    def _change(self, key_id: str, values: Mapping[str, Any]) -> None:
        with transaction(self._engine) as connection:
            if connection.execute(update(api_key).where(api_key.c.key_id == key_id).values(values)).rowcount == 0:
                raise InvalidInput("No key has this id: `chatctx keys list` shows them.")
