"""How revisions are run: one at a time, each in its own transaction, under short lock waits that are tried again.

Driven by `app.store.migrating`, which puts the owner's engine into the configuration's attributes. There is no
alembic.ini, so that nothing but the settings says which database is meant.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alembic import context
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from app.errors import Unavailable
from app.store.engine import RETRY_AFTER_SECONDS, sqlstate
from app.store.preparing import prepare
from app.store.tables import SCHEMA, metadata

# "chatctx" in ASCII: the same in every process, and unlikely in a database shared with others.
_LOCK = 0x63686174637478
# Below the server's own limit of 250 ms: callers who queue behind a change that waits are served all the same.
_LOCK_WAIT = "150ms"
# Longer than somebody's forgotten transaction lives, in pauses that let everybody who queued behind us go first.
_PATIENCE_SECONDS = 90.0
_PAUSE_SECONDS = 1.0
_LOCK_NOT_AVAILABLE = "55P03"


def main() -> None:
    """Run what the command asks for."""
    engine: Engine = context.config.attributes["engine"]
    with _alone(engine), engine.connect() as connection:
        prepare(connection, context.config.attributes.get("server_login"))
        _settle(connection)
        _run_patiently(connection)


def _run_patiently(connection: Connection) -> None:
    """Run the revisions; one that does not get a lock is undone, and tried again after a pause."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        _configure(connection)
        try:
            with context.begin_transaction():
                context.run_migrations()
        except OperationalError as error:
            if sqlstate(error) != _LOCK_NOT_AVAILABLE:
                raise
            if time.monotonic() > deadline:
                raise _waited("somebody's transaction holds a table that is to be changed") from error
            connection.rollback()
        else:
            return
        time.sleep(_PAUSE_SECONDS)


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Hold an advisory lock, on a connection of its own: Alembic's would lose it to a block outside the transaction."""
    deadline = time.monotonic() + 2 * _PATIENCE_SECONDS
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        # Asked for again and again: whoever makes an index concurrently would wait for a statement that waits for him.
        while not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}):
            if time.monotonic() > deadline:
                raise _waited("another migration is running")
            time.sleep(_PAUSE_SECONDS / 5)
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})


def _waited(reason: str) -> Unavailable:
    return Unavailable(
        f"The schema could not be changed: {reason}. pg_stat_activity shows whose it is. What was begun is undone; "
        "run chatctx migrate again.",
        details={"retry_after_seconds": RETRY_AFTER_SECONDS},
    )


def _settle(connection: Connection) -> None:
    """Give the connection the settings of a migration. It is closed at the end, so that nobody else gets it so."""
    connection.detach()
    # A change that waits for a lock makes every reader behind it wait too: rather give up and try again.
    connection.execute(
        text("SELECT set_config('lock_timeout', :wait, false), set_config('statement_timeout', '10min', false)"),
        {"wait": _LOCK_WAIT},
    )
    # Every name in a revision is qualified: with our schema in the path, Alembic would take it for the nameless one.
    connection.execute(text("SELECT set_config('search_path', 'public,extensions', false)"))
    connection.dialect.default_schema_name = "public"
    connection.commit()


def _configure(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table_schema=SCHEMA,
        include_schemas=True,
        include_name=_is_ours,
        include_object=_is_declared,
        compare_server_default=True,
        transaction_per_migration=True,
    )


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    return name == SCHEMA if kind == "schema" else True


def _is_declared(_item: Any, name: str | None, kind: str, reflected: bool, _other: Any) -> bool:
    """Leave out the indexes that publishing makes per embedding model: they come and go with the data."""
    return not (kind == "index" and reflected and str(name).startswith("hnsw_record_embedding_"))


main()
