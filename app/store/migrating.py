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

from app.errors import Unavailable
from app.store.engine import available, connected
from app.store.tables import SCHEMA

_SCRIPTS = Path(__file__).resolve().parents[2] / "migrations"
# Alembic keeps the migration that is running in a global of its own. Other processes are kept out by the database.
_ONE_AT_A_TIME = Lock()


def upgrade(engine: Engine, *, server_login: str | None = None, revision: str = "head") -> None:
    """Bring the database to a revision, the newest unless told otherwise. Safe at any time and by several at once.

    Args:
        engine: the owner's engine.
        server_login: login the server uses, made a member of its role. None: it uses the owner's and drops its rights.

    Raises:
        SettingsError: the database lacks something that this login may not add; the message says what to run.
        Unavailable: the database does not answer, or another migration has run for a minute.
    """
    with _ONE_AT_A_TIME, available():
        command.upgrade(configuration(engine, server_login), revision)
    # Connections from before pgvector was there do not know its types.
    engine.dispose()


def downgrade(engine: Engine, revision: str) -> None:
    """Take the database back to a revision; "base" removes everything of ours but schema, extension and role."""
    with _ONE_AT_A_TIME, available():
        command.downgrade(configuration(engine), revision)


def is_at_head(engine: Engine) -> bool:
    """Tell whether the database has the newest schema. Works with either engine. Raises Unavailable."""
    return current_revision(engine) == head_revision()


def serves_at_head(server: Engine) -> bool:
    """Tell whether the server's own login finds the newest schema, so that nothing needs the owner's."""
    try:
        return is_at_head(server)
    except (Unavailable, DBAPIError):
        # Its role is not there yet, or may not read.
        return False


def current_revision(engine: Engine) -> str | None:
    """Return the revision the database is at, None for one without our schema. Raises Unavailable."""
    with connected(engine) as connection:
        context = MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA})
        return context.get_current_revision()


@cache
def head_revision() -> str | None:
    """Return the newest revision that this code knows."""
    return ScriptDirectory(str(_SCRIPTS)).get_current_head()


def configuration(engine: Engine, server_login: str | None = None) -> Config:
    """Return Alembic's configuration, for its commands on this engine's database."""
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["engine"] = engine
    config.attributes["server_login"] = server_login
    return config
