"""Where a running cluster is reached, as each of its two logins."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

DATABASE = "chatctx"
SUPERUSER = "postgres"
OWNER = "chatctx_owner"
APP = "chatctx_app"
PORT = 5432


@dataclass(frozen=True)
class ClusterAddress:
    """How to connect: SQLAlchemy URLs and libpq URIs. They hold passwords, so that they are kept out of `repr`.

    Attributes:
        socket_folder: folder of the Unix socket; there is no TCP listener.
        owner_url: SQLAlchemy URL of the login that owns the database: migrations, publishing.
        app_url: SQLAlchemy URL of the server's login, which has no rights but those granted to it.
        owner_uri: the first in libpq's form, for psycopg, psql and pg_dump.
        app_uri: the second in libpq's form.
    """

    socket_folder: Path
    owner_url: str = field(repr=False)
    app_url: str = field(repr=False)
    owner_uri: str = field(repr=False)
    app_uri: str = field(repr=False)


def address_of(socket_folder: Path, passwords: dict[str, str]) -> ClusterAddress:
    """Build the address from the socket's folder and the passwords by role."""
    owner = _uri(OWNER, passwords[OWNER], socket_folder)
    app = _uri(APP, passwords[APP], socket_folder)
    return ClusterAddress(
        socket_folder=socket_folder,
        owner_url=owner.replace("postgresql:", "postgresql+psycopg:", 1),
        app_url=app.replace("postgresql:", "postgresql+psycopg:", 1),
        owner_uri=owner,
        app_uri=app,
    )


def _uri(role: str, password: str, socket_folder: Path) -> str:
    # The port is named so that PGPORT in somebody's shell does not move it.
    return f"postgresql://{role}:{password}@/{DATABASE}?host={quote(str(socket_folder))}&port={PORT}"
