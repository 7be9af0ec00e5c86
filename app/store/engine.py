"""Connections: how they are made, and the one place where a driver's error becomes one of ours."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from typing import Any, Final

from pgvector.psycopg import register_vector
from psycopg import ProgrammingError
from sqlalchemy import URL, Connection, Engine, TextClause, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from app.errors import SettingsError, Unavailable
from app.store.tables import SCHEMA, SERVER_ROLE

__all__ = [
    "RETRY_AFTER_SECONDS",
    "Engine",
    "available",
    "connected",
    "is_unavailable",
    "owner_engine",
    "parameters_of",
    "server_engine",
    "sql",
    "sql_text",
    "sqlstate",
    "transaction",
]

RETRY_AFTER_SECONDS: Final = 2
_LONGEST_HINT: Final = 300
_log = logging.getLogger(__name__)

# `public` and `extensions` are where a database may keep pgvector; nothing of ours is ever found there first.
_SEARCH_PATH: Final = f"{SCHEMA},public,extensions"
# 08 connection, 53 lacks resources, 57 stopped by an operator or a timeout, 58 the system below;
# 25P03 and 25006 come after a stall and a fail-over.
_UNAVAILABLE_CLASSES: Final = ("08", "53", "57", "58")
_UNAVAILABLE_STATES: Final = frozenset({"25P03", "25P04", "25006", "55P03", "40001", "40P01"})
# A right, table, column, function, type or schema that is not there. Every statement of the server's is tested with the
# schema of its release, so the database is another's: taken back, half restored, or without the server's rights.
_UNSUITED_STATES: Final = frozenset({"42501", "42P01", "42703", "42883", "42704", "3F000"})
_LACKING: Final = "The database, or the server's right to it, is not what this release needs: run chatctx migrate"
_SERVING: Final = "chatctx_serving"

_CONNECT: Final[dict[str, Any]] = {
    "connect_timeout": 2,
    "tcp_user_timeout": 3000,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "application_name": "chatctx",
}
_SERVER_OPTIONS: Final = {
    "timezone": "UTC",
    "search_path": _SEARCH_PATH,
    "statement_timeout": "1000ms",
    "lock_timeout": "250ms",
    "idle_in_transaction_session_timeout": "5s",
    # An index scan goes on until it has enough rows that pass the filter, in exact order.
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": "200",
    # Compiling costs more than any of our statements takes.
    "jit": "off",
    # Whatever the database is told to log: what callers ask is not part of it. See also `logged_values`.
    "log_parameter_max_length_on_error": "0",
    "debug_print_parse": "off",
    "debug_print_rewritten": "off",
    "debug_print_plan": "off",
}
_OWNER_OPTIONS: Final = {
    "timezone": "UTC",
    "search_path": _SEARCH_PATH,
    "statement_timeout": "15min",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "5min",
    "jit": "off",
}


def server_engine(url: str, *, pool_size: int = 8, drop_rights: bool = False) -> Engine:
    """Return the engine that answers callers: short timeouts, every statement committed on its own. Does not connect.

    Args:
        url: PostgreSQL address, `postgresql://...`.
        pool_size: most connections; one more caller waits for half a second, then gets Unavailable.
        drop_rights: the login may do more than a server should: take the server's role on every connection.

    Raises:
        SettingsError: the address cannot be read or is not PostgreSQL's.
    """
    options = {**_SERVER_OPTIONS, **({"role": SERVER_ROLE} if drop_rights else {})}
    engine = _engine(
        url, options, pool_size=pool_size, pool_timeout=0.5, isolation_level="AUTOCOMMIT",
        execution_options={_SERVING: True},
    )  # fmt: skip
    event.listen(engine, "connect", _keep_values_from_log)
    return engine


def owner_engine(url: str) -> Engine:
    """Return the engine for migrations, publishing and administration: long timeouts. Raises SettingsError."""
    return _engine(url, _OWNER_OPTIONS, pool_size=3, pool_timeout=10)


def parameters_of(engine: Engine) -> tuple[dict[str, str], str, int]:
    """Return what libpq needs to connect as the engine does, the password, and the server's major version.

    Raises:
        Unavailable: the database does not answer.
    """
    with connected(engine) as connection:
        driver: Any = connection.connection.driver_connection
        info = driver.info
        return info.get_parameters(), info.password, info.server_version // 10_000


@contextmanager
def connected(engine: Engine) -> Iterator[Connection]:
    """Lend a connection. A driver's error that means "not now" leaves as Unavailable, without the driver's message.

    On the server's engine, that is also one that means "not this database": whoever calls cannot mend it, and may well
    be answered when the owner has.
    """
    with available(), _suited(engine), engine.connect() as connection:
        yield connection


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """Lend a connection in a transaction that is committed at the end and undone by any error. Raises Unavailable."""
    with available(), engine.begin() as connection:
        yield connection


@contextmanager
def available() -> Iterator[None]:
    """Turn driver errors that mean "not now" into Unavailable; let every other error pass."""
    try:
        yield
    except (DBAPIError, PoolTimeout, DisconnectionError) as error:
        if not is_unavailable(error):
            raise
        raise _unavailable(_hint(error)) from error


@contextmanager
def _suited(engine: Engine) -> Iterator[None]:
    """Turn a server's errors that mean "not this database" into Unavailable; let every other error pass."""
    try:
        yield
    except DBAPIError as error:
        state = sqlstate(error)
        if state not in _UNSUITED_STATES or not engine.get_execution_options().get(_SERVING):
            raise
        _log.error("the database is not what this release needs: SQLSTATE %s", state)
        raise _unavailable(f"{_LACKING} (SQLSTATE {state})") from error


def _unavailable(hint: str) -> Unavailable:
    return Unavailable(
        "The knowledge base cannot be reached just now; the same call may work shortly.",
        details={"retry_after_seconds": RETRY_AFTER_SECONDS},
        hint=hint,
    )


def _hint(error: Exception) -> str:
    """Return why a connection could not be made. Only then: before there is a statement, there is no caller's text."""
    if getattr(error, "statement", None) is not None or getattr(error, "orig", None) is None:
        return ""
    lines = [line.strip() for line in str(error.orig).splitlines() if line.strip()]  # type: ignore[attr-defined]
    return lines[0][:_LONGEST_HINT] if lines else ""


def is_unavailable(error: Exception) -> bool:
    """Tell a database that is away, busy or stopped from a statement that is wrong."""
    if isinstance(error, OperationalError | InterfaceError | PoolTimeout | DisconnectionError):
        return True
    state = sqlstate(error)
    invalidated = isinstance(error, DBAPIError) and error.connection_invalidated
    return invalidated or state[:2] in _UNAVAILABLE_CLASSES or state in _UNAVAILABLE_STATES


def sqlstate(error: BaseException) -> str:
    """Return the five-character SQLSTATE of an error, or "" when it has none. Safe to log, unlike the message."""
    return str(getattr(getattr(error, "orig", error), "sqlstate", None) or "")


@cache
def sql(name: str) -> TextClause:
    """Return the statement in `app/store/sql/<name>.sql`."""
    return text(sql_text(name))


@cache
def sql_text(name: str) -> str:
    """Return the text of `app/store/sql/<name>.sql` without its header comment."""
    lines = files("app.store").joinpath("sql", f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


def _engine(url: str, options: dict[str, str], **pool: Any) -> Engine:
    address = _address(url)
    given = address.query.get("options", "")
    settings = " ".join(f"-c {name}={value}" for name, value in options.items())
    engine = create_engine(
        address.difference_update_query(["options"]),
        # Values would otherwise stand in exceptions, and a value may be a caller's text.
        hide_parameters=True,
        pool_pre_ping=True,
        pool_use_lifo=True,
        max_overflow=0,
        connect_args={
            **_CONNECT,
            "options": f"{given if isinstance(given, str) else ' '.join(given)} {settings}".strip(),
        },
        **pool,
    )
    event.listen(engine, "connect", _teach_vectors)
    return engine


def _address(url: str) -> URL:
    scheme, separator, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg") or not separator:
        raise SettingsError("The database address must begin with postgresql://")
    try:
        return make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError):
        # The library's message repeats the address, password included.
        raise SettingsError(
            "The database address cannot be read: write postgresql://user:password@host:port/name"
        ) from None


def _teach_vectors(connection: Any, _record: Any) -> None:
    """Let vectors travel in binary. Without pgvector in the database yet, everything but vectors works."""
    with _committing(connection), suppress(ProgrammingError):
        register_vector(connection)


def _keep_values_from_log(connection: Any, _record: Any) -> None:
    """Keep what callers send out of the database's log, where an administrator has given the role that right."""
    # One that is too old to be asked is refused by name later.
    with _committing(connection), suppress(ProgrammingError):
        connection.execute(sql_text("keep_values_from_log"))


@contextmanager
def _committing(connection: Any) -> Iterator[None]:
    """Commit every statement on its own, so that what a new connection is told outlives the next rollback."""
    autocommit = connection.autocommit
    connection.autocommit = True
    yield
    connection.autocommit = autocommit
