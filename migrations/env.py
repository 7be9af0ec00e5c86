"""How revisions are run: one at a time, each in its own transaction, under short lock waits.

Driven by `app.store.migrating`, which puts the owner's engine into the configuration's attributes. There is no
alembic.ini, so that nothing but the settings says which database is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from alembic import context
from sqlalchemy import Connection, Engine, text

from app.store.preparing import prepare
from app.store.tables import SCHEMA, metadata

# "chatctx" in ASCII: the same in every process, and unlikely in a database shared with others.
_LOCK = 0x63686174637478


def main() -> None:
    """Run what the command asks for."""
    engine: Engine = context.config.attributes["engine"]
    with _alone(engine), engine.connect() as connection:
        prepare(connection, context.config.attributes.get("server_login"))
        _settle(connection)
        _configure(connection)
        with context.begin_transaction():
            context.run_migrations()


@contextmanager
def _alone(engine: Engine) -> Iterator[None]:
    """Hold an advisory lock, on a connection of its own: Alembic's would lose it to a block outside the transaction."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SELECT set_config('lock_timeout', '60s', false)"))
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})


def _settle(connection: Connection) -> None:
    """Give the connection the settings of a migration. It is closed at the end, so that nobody else gets it so."""
    connection.detach()
    # A change that waits for a lock makes every reader behind it wait too: rather give up and try again.
    connection.execute(
        text("SELECT set_config('lock_timeout', '2s', false), set_config('statement_timeout', '10min', false)")
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
