"""What a database needs before the schema: a recent PostgreSQL, pgvector, our schema, and the server's role.

Each check says what is missing and what an administrator runs to mend it, because on a hosted database only they may.
"""

from __future__ import annotations

import re

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from app.errors import SettingsError
from app.store.engine import connected, is_unavailable
from app.store.tables import SCHEMA, SERVER_ROLE

MINIMUM_POSTGRES = 15
MINIMUM_PGVECTOR = (0, 8)
# From this version on, being a member of a role and being allowed to take it are two things.
_SET_OPTION = 16


def prepare(connection: Connection, server_login: str | None) -> None:
    """Make the database ready for the schema and commit it; what is there already is left alone.

    Args:
        connection: a connection of the owner.
        server_login: login that the server will use; None: it uses the owner's and drops to the server's role.

    Raises:
        SettingsError: something is missing that this login may not make; the message says what to run.
    """
    check_postgres(connection)
    if not check_pgvector(connection):
        _run(
            connection,
            "CREATE EXTENSION IF NOT EXISTS vector",
            "pgvector is installed on the database server but not in this database, and this login may not add it. "
            "Have an administrator run in this database: CREATE EXTENSION vector",
        )
        check_pgvector(connection)
    if not _exists(connection, "SELECT FROM pg_namespace WHERE nspname = :name", SCHEMA):
        _run(
            connection,
            f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
            "This login may not create a schema in the database. Have an administrator run: "
            f"CREATE SCHEMA {SCHEMA} AUTHORIZATION <this login>",
        )
    _ensure_role(connection)
    _allow_discretion(connection)
    _admit(connection, server_login)
    connection.commit()


def holds_anything(engine: Engine) -> bool:
    """Tell whether there is anything in our schema, whoever made it. Raises Unavailable."""
    with connected(engine) as connection:
        return _exists(connection, "SELECT FROM pg_class WHERE relnamespace = to_regnamespace(:name)", SCHEMA)


def make_ready(engine: Engine, server_login: str | None) -> None:
    """Make a database ready for what a backup holds: as `prepare`, with an empty schema that the server may use.

    Raises:
        SettingsError: something is missing that this login may not make; the message says what to run.
        Unavailable: the database does not answer.
    """
    with connected(engine) as connection:
        prepare(connection, server_login)
        connection.execute(text(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {SERVER_ROLE}"))
        connection.commit()
    # Connections from before pgvector was there do not know its types.
    engine.dispose()


def check_postgres(connection: Connection) -> int:
    """Return the major version of the database server. Raises SettingsError for one that is too old."""
    number = int(connection.scalar(text("SHOW server_version_num")) or 0)
    if number < MINIMUM_POSTGRES * 10_000:
        raise SettingsError(f"The database is PostgreSQL {number // 10_000}; {MINIMUM_POSTGRES} or later is needed.")
    return number // 10_000


def check_pgvector(connection: Connection) -> str | None:
    """Return the version of pgvector in this database, None when it can be added.

    Raises:
        SettingsError: it is too old, or not installed on the database server at all.
    """
    row = connection.execute(
        text("SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'")
    ).one_or_none()
    if row is None:
        raise SettingsError(
            "The database server has no pgvector. Install pgvector 0.8 or later there (package postgresql-NN-pgvector)."
        )
    installed: str | None = row.installed_version
    version = installed or str(row.default_version)
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < MINIMUM_PGVECTOR:
        remedy = "Install pgvector 0.8 or later on the database server, then run: ALTER EXTENSION vector UPDATE"
        raise SettingsError(f"pgvector {version} is too old. {remedy}")
    return installed


def _ensure_role(connection: Connection) -> None:
    if _exists(connection, "SELECT FROM pg_roles WHERE rolname = :name", SERVER_ROLE):
        return
    # Roles belong to the whole cluster: another database's migration may make it at the same time.
    _run(
        connection,
        f"""DO $$ BEGIN CREATE ROLE {SERVER_ROLE} NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$""",
        f"The role {SERVER_ROLE} does not exist and this login may not create roles. Have an administrator run: "
        f"CREATE ROLE {SERVER_ROLE} NOLOGIN; GRANT {SERVER_ROLE} TO <the server's login>",
    )


def _allow_discretion(connection: Connection) -> None:
    """Let the server keep what callers ask out of the database's log, if this login may; the doctor tells if not."""
    if connection.scalar(text("SELECT has_parameter_privilege('log_parameter_max_length', 'SET WITH GRANT OPTION')")):
        connection.execute(text(f"GRANT SET ON PARAMETER log_parameter_max_length TO {SERVER_ROLE}"))


def _admit(connection: Connection, server_login: str | None) -> None:
    """Make the server's login a member of the role, unless it is."""
    if server_login and not _exists(connection, "SELECT FROM pg_roles WHERE rolname = :name", server_login):
        raise SettingsError(f"There is no login {server_login!r} for the server: have an administrator make it.")
    if _is_member(connection, server_login):
        return
    login = server_login or connection.scalar(text("SELECT current_user"))
    quoted = connection.dialect.identifier_preparer.quote_identifier(str(login))
    _run(
        connection,
        f"GRANT {SERVER_ROLE} TO {quoted}",
        f"The server's login is not a member of {SERVER_ROLE} and this login may not make it one. "
        f"Have an administrator run: GRANT {SERVER_ROLE} TO {quoted}",
    )


def _is_member(connection: Connection, server_login: str | None) -> bool:
    may_take = "SET" if check_postgres(connection) >= _SET_OPTION else "MEMBER"
    right = "USAGE" if server_login else may_take
    statement = text("SELECT pg_has_role(COALESCE(CAST(:login AS text), current_user), :role, :right)")
    return bool(connection.scalar(statement, {"login": server_login, "role": SERVER_ROLE, "right": right}))


def _exists(connection: Connection, statement: str, name: str) -> bool:
    return connection.execute(text(f"SELECT EXISTS ({statement})"), {"name": name}).scalar_one() is True


def _run(connection: Connection, statement: str, remedy: str) -> None:
    """Run a statement that may need more rights than we have, and say what to do when it does."""
    try:
        with connection.begin_nested():
            connection.execute(text(statement))
    except DBAPIError as error:
        if is_unavailable(error):
            raise
        raise SettingsError(remedy) from error
