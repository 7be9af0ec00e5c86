"""The database behind everything: the one that is named, or an embedded PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.cluster import Cluster
from app.cluster.address import APP
from app.errors import SettingsError
from app.integrity import Policy
from app.settings import Environment, Settings
from app.signatures import read_signers
from app.store.engine import Engine, owner_engine, server_engine
from app.store.migrating import serves, upgrade


@dataclass(frozen=True)
class Database:
    """Two ways into one database.

    Attributes:
        owner: may migrate, publish and administer.
        server: may read what is published and write quotas, statistics and feedback; nothing else.
        server_login: role to admit to the server's rights when migrating; None when the server drops rights instead.
        embedded: the server was started by us.
    """

    owner: Engine
    server: Engine
    server_login: str | None
    embedded: bool

    def migrate(self) -> None:
        """Bring the schema to the newest revision, unless it suits. Raises SettingsError, Unavailable."""
        if not serves(self.server):
            upgrade(self.owner, server_login=self.server_login)


def policy_of(settings: Settings) -> Policy:
    """Return what a decision must carry to count. Raises SettingsError when the allowed signers cannot be read."""
    demo = settings.env is not Environment.PRODUCTION or settings.allow_demo_records
    if settings.allowed_signers is None:
        if settings.require_signatures:
            raise SettingsError("CHATCTX_REQUIRE_SIGNATURES needs CHATCTX_ALLOWED_SIGNERS, which says whose.")
        return Policy(demo=demo)
    return Policy(read_signers(settings.allowed_signers), settings.require_signatures, demo)


@contextmanager
def open_database(settings: Settings, *, supervised: bool = False) -> Iterator[Database]:
    """Open the database for as long as the context lasts.

    Args:
        settings: names the database, or leaves it to an embedded one.
        supervised: keep an embedded server alive: start it again when it dies.

    Raises:
        ClusterError: the embedded PostgreSQL cannot be started.
        SettingsError: an address cannot be read.
    """
    if settings.database_url is not None:
        yield from _opened(_named(settings))
        return
    with Cluster(settings.home, major=settings.postgres_major) as cluster:
        address = cluster.start()
        database = Database(
            owner_engine(address.owner_url),
            server_engine(address.app_url, pool_size=settings.pool_size),
            APP,
            embedded=True,
        )
        if supervised:
            cluster.watch()
        yield from _opened(database)


def _opened(database: Database) -> Iterator[Database]:
    try:
        yield database
    finally:
        database.server.dispose()
        database.owner.dispose()


def _named(settings: Settings) -> Database:
    assert settings.database_url is not None  # noqa: S101 - the caller has looked
    server_url = settings.database_url.get_secret_value()
    owner_url = settings.owner_database_url.get_secret_value() if settings.owner_database_url else server_url
    shared = owner_url == server_url
    owner = owner_engine(owner_url)
    server = server_engine(server_url, pool_size=settings.pool_size, drop_rights=shared)
    return Database(owner, server, None if shared else server.url.username, embedded=False)
