"""Bringing a database to the schema that this code expects, and telling whether it is there."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Lock

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from app.errors import SettingsError, Unavailable
from app.store.engine import available, connected, sql
from app.store.tables import SCHEMA, metadata

_SCRIPTS = Path(__file__).resolve().parents[2] / "migrations"
# Alembic keeps the migration that is running in a global of its own. Other processes are kept out by the database.
_ONE_AT_A_TIME = Lock()


def upgrade(engine: Engine, *, server_login: str | None = None, revision: str = "head") -> None:
    """Bring the database to a revision, the newest unless told otherwise. Safe at any time and by several at once.

    Args:
        engine: the owner's engine.
        server_login: login the server uses, made a member of its role. None: it uses the owner's and drops its rights.

    Raises:
        SettingsError: the database lacks something that this login may not add; the message says what to run. Or it
            is a later release's, and this one cannot work with it.
        Unavailable: the database does not answer, another migration has run for three minutes, or somebody's
            transaction kept a table from being changed for one and a half.
    """
    if _is_ahead(engine):
        return _refuse_unsuited(engine)
    with _ONE_AT_A_TIME, available():
        command.upgrade(configuration(engine, server_login), revision)
    # Connections from before pgvector was there do not know its types.
    engine.dispose()
    return None


def downgrade(engine: Engine, revision: str) -> None:
    """Take the database back to a revision; "base" removes everything of ours but schema, extension and role."""
    with _ONE_AT_A_TIME, available():
        command.downgrade(configuration(engine), revision)


def is_at_head(engine: Engine) -> bool:
    """Tell whether the database has the newest schema. Works with either engine. Raises Unavailable."""
    return current_revision(engine) == head_revision()


def suits(engine: Engine) -> bool:
    """Tell whether this code works with the schema: its newest, or a later release's that still has all of that.

    A later release's has it while this release is replaced or has been gone back to. Works with either engine.

    Raises:
        Unavailable: the database does not answer.
    """
    revision = current_revision(engine)
    return revision == head_revision() or (is_later(revision) and not missing_columns(engine))


def serves(server: Engine) -> bool:
    """Tell whether the server's own login finds a schema that suits, so that nothing needs the owner's."""
    try:
        return suits(server)
    except (Unavailable, DBAPIError):
        # Its role is not there yet, or may not read.
        return False


def is_later(revision: str | None) -> bool:
    """Tell whether a revision is one that this code does not know, as only a later release makes."""
    return revision is not None and revision not in _known_revisions()


def _is_ahead(engine: Engine) -> bool:
    try:
        return is_later(current_revision(engine))
    except DBAPIError:
        # A login that may not look is told by name, on the way to the schema, what it lacks.
        return False


def missing_columns(engine: Engine) -> list[str]:
    """Return what this code needs of the schema and the database does not have, as table.column. Raises Unavailable."""
    with connected(engine) as connection:
        found = {tuple(row) for row in connection.execute(sql("columns"), {"schema": SCHEMA})}
    needed = {(table.name, column.name) for table in metadata.tables.values() for column in table.columns}
    return sorted(f"{table}.{column}" for table, column in needed - found)


def current_revision(engine: Engine) -> str | None:
    """Return the revision the database is at, None for one without our schema. Raises Unavailable."""
    with connected(engine) as connection:
        context = MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA})
        return context.get_current_revision()


@cache
def head_revision() -> str | None:
    """Return the newest revision that this code knows."""
    return ScriptDirectory(str(_SCRIPTS)).get_current_head()


@cache
def _known_revisions() -> frozenset[str]:
    return frozenset(script.revision for script in ScriptDirectory(str(_SCRIPTS)).walk_revisions())


def _refuse_unsuited(engine: Engine) -> None:
    """Refuse a later release's schema that lacks what this one needs; leave any other as it is."""
    if missing := missing_columns(engine):
        raise SettingsError(
            f"The database has the schema of a later release, without {', '.join(missing)}: run that release."
        )


def configuration(engine: Engine, server_login: str | None = None) -> Config:
    """Return Alembic's configuration, for its commands on this engine's database."""
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    config.attributes["server_login"] = server_login
    return config
