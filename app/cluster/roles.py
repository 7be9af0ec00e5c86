"""The database inside the cluster: who may log in, what they own, and whether this processor can run pgvector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from app.cluster.address import APP, DATABASE, OWNER, PORT, SUPERUSER
from app.cluster.postmaster import wait_until
from app.cluster.serverlog import tail
from app.errors import ClusterError

_CONNECT_SECONDS = 10
_LOG_SECONDS = 3
_PROOF = "SELECT '[1,2]'::vector <=> '[2,1]'::vector"
_ILLEGAL_INSTRUCTION = "signal 4"
# The migrations grant what a server may do to this role. It is made here, because neither login may make roles.
_SERVER_ROLE = "chatctx_server"

_OWNER_RIGHTS = sql.SQL("NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS")
# Tests clone databases, end sessions and make logins.
_SCRATCH_OWNER_RIGHTS = sql.SQL("NOSUPERUSER CREATEDB CREATEROLE NOREPLICATION NOBYPASSRLS")
_APP_RIGHTS = sql.SQL("NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS")

_GRANTS = """
GRANT chatctx_server TO chatctx_owner WITH ADMIN OPTION;
GRANT chatctx_server TO chatctx_app;
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC;
REVOKE ALL ON DATABASE chatctx FROM PUBLIC;
GRANT CONNECT ON DATABASE chatctx TO chatctx_app;
"""
# Anybody may make large objects otherwise, and fill the disk with them.
_INSIDE = """
CREATE EXTENSION IF NOT EXISTS vector;
ALTER EXTENSION vector UPDATE;
REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC;
"""


def verify_data_directory(sockets: Path, passwords: Mapping[str, str], data: Path) -> None:
    """Make sure that the server behind the socket works on our data directory, before anybody touches it.

    Raises:
        ClusterError: it is another server, or it does not answer.
    """
    with _superuser(sockets, passwords, "postgres") as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    if row is None or row[0] != str(data):
        raise ClusterError(f"The server at {sockets} works on another data directory than {data}. Stop it.")


def provide_database(sockets: Path, passwords: Mapping[str, str], *, scratch: bool) -> None:
    """Make the roles, the database and the extension, or set them right where they exist."""
    with _superuser(sockets, passwords, "postgres") as connection:
        _provide_roles(connection, passwords, scratch=scratch)
        if not _exists(connection, "SELECT FROM pg_database WHERE datname = %s", DATABASE):
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), _name(OWNER)))
        connection.execute(_GRANTS)
    with _superuser(sockets, passwords, DATABASE) as connection:
        connection.execute(_INSIDE)


def prove_pgvector(sockets: Path, passwords: Mapping[str, str], log: Path) -> None:
    """Measure one distance, because the wheel's pgvector needs instructions that some processors lack.

    Raises:
        ClusterError: this processor cannot run it.
    """
    try:
        with _superuser(sockets, passwords, DATABASE) as connection:
            connection.execute(_PROOF)
    except ClusterError as error:
        # The client hears of it before the log does.
        if not wait_until(lambda: _ILLEGAL_INSTRUCTION in tail(log), _LOG_SECONDS):
            raise
        raise ClusterError(
            "This processor cannot run the embedded pgvector, which needs AVX2 on x86-64 and SVE on Linux on ARM. "
            "Set DATABASE_URL to a PostgreSQL 15 or later with pgvector 0.8 or later."
        ) from error


def _provide_roles(connection: psycopg.Connection, passwords: Mapping[str, str], *, scratch: bool) -> None:
    if not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", _SERVER_ROLE):
        connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(_name(_SERVER_ROLE)))
    rights = {OWNER: _SCRATCH_OWNER_RIGHTS if scratch else _OWNER_RIGHTS, APP: _APP_RIGHTS}
    for role, attributes in rights.items():
        exists = _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", role)
        statement = sql.SQL("{} ROLE {} LOGIN {} PASSWORD {}").format(
            sql.SQL("ALTER" if exists else "CREATE"), _name(role), attributes, sql.Literal(passwords[role])
        )
        connection.execute(statement)
    if scratch:
        connection.execute(sql.SQL("GRANT pg_signal_backend TO {}").format(_name(OWNER)))


def _exists(connection: psycopg.Connection, statement: str, name: str) -> bool:
    query = sql.SQL("SELECT EXISTS ({})").format(sql.SQL(statement))
    row = connection.execute(query, [name]).fetchone()
    return row is not None and row[0] is True


def _name(role: str) -> sql.Identifier:
    return sql.Identifier(role)


@contextmanager
def _superuser(sockets: Path, passwords: Mapping[str, str], database: str) -> Iterator[psycopg.Connection]:
    """Connect as the superuser, whom nobody else uses, and translate the driver's errors."""
    try:
        with psycopg.connect(
            host=str(sockets), port=PORT, user=SUPERUSER, password=passwords[SUPERUSER], dbname=database,
            connect_timeout=_CONNECT_SECONDS, autocommit=True,
        ) as connection:  # fmt: skip
            yield connection
    except psycopg.Error as error:
        raise ClusterError(f"The embedded PostgreSQL could not be prepared: {error}") from error
