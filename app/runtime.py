"""The program as it runs on this machine: settings from the environment, the database, the model, the server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.access import Access, load_peppers
from app.administration import StoredKeys
from app.backup import back_up, restore
from app.database import Database, open_database, policy_of
from app.doctor import examine
from app.embedding.factory import create_embedder, create_query_embedder
from app.embedding.query import BoundedQueryEmbedder, DisabledQueryEmbedder
from app.explanation import explain
from app.operations import Services
from app.ports import Embedder
from app.publicfiles import Site
from app.settings import Settings, read_settings
from app.store.access import PostgresAccessStore
from app.store.catalogue import PostgresCatalogue
from app.store.guard import Guard
from app.store.migrating import current_revision
from app.store.signals import PostgresSignals
from app.transports import eventlog
from app.transports.cli.runtime import Diagnosis
from app.welcome import site_of

PEPPER_NAME = "pepper"
# The server is not announced before its model answers, or this long has passed: the first question must not time out.
MODEL_PATIENCE_SECONDS = 20

# What is done once the database can be used. It gets the model that questions will be embedded with: loading is dear.
Prepare = Callable[[Settings, Database, Embedder | None], None]


class SystemClock:
    """The machine's own time."""

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def now(self) -> datetime:
        """Aware UTC time."""
        return datetime.now(UTC)


@dataclass(frozen=True)
class Opened:
    """What an open program holds."""

    database: Database
    questions: BoundedQueryEmbedder | DisabledQueryEmbedder
    services: Services
    access: Access
    guard: Guard


class LocalRuntime:
    """The program behind the commands; nothing is opened before it is needed."""

    def __init__(self, environ: Mapping[str, str], base: Path) -> None:
        self._environ = environ
        self._base = base

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment settings are read from."""
        return self._environ

    def settings(self) -> Settings:
        """Read and check the settings. Raises SettingsError."""
        return read_settings(self._environ, base=self._base)

    def site(self) -> Site:
        """Return the facts the public files state, without opening the database."""
        return site_of(self.settings(), None)

    @contextmanager
    def opened(self, *, supervised: bool = False, prepare: Prepare | None = None) -> Iterator[Opened]:
        """Open database and model, with the schema at its newest.

        Args:
            supervised: keep an embedded database alive while open.
            prepare: called once the database can be used, before anything reads it.
        """
        settings = self.settings()
        with open_database(settings, supervised=supervised) as database:
            database.migrate()
            embedder = create_embedder(settings)
            if prepare is not None:
                prepare(settings, database, embedder)
            yield from _opened(settings, database, embedder)

    @contextmanager
    def services(self) -> Iterator[Services]:
        """Open the database and the model for operations."""
        with self.opened() as opened:
            opened.questions.warm_up(MODEL_PATIENCE_SECONDS)
            yield opened.services

    def explain(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a search and return everything that led to its answer."""
        with self.services() as services:
            return explain(services, arguments, SystemClock().monotonic)

    @contextmanager
    def key_administration(self) -> Iterator[StoredKeys]:
        """Open the database for work on keys."""
        settings = self.settings()
        with open_database(settings) as database:
            database.migrate()
            yield StoredKeys(database.owner, load_peppers(pepper_path(settings)))

    def back_up(self, path: Path) -> int:
        """Write the database into a new file and return its size in bytes."""
        return back_up(self.settings(), path)

    def restore(self, path: Path) -> int:
        """Fill an empty database from a file and return how many records are served."""
        return restore(self.settings(), path)

    def migrate(self) -> str:
        """Bring the database's schema to the newest revision, and return the id of the one it is at."""
        with open_database(self.settings()) as database:
            database.migrate()
            return current_revision(database.owner) or "none"

    def diagnose(self) -> Sequence[Diagnosis]:
        """Look at everything the server needs."""
        settings = self.settings()
        return examine(settings, pepper_path(settings))

    def serve(self, prepare: Prepare | None = None) -> int:
        """Serve until told to stop; return the exit code. The port is claimed before anything slow is done."""
        # The web server takes as long to load as everything else together, and only serving needs it.
        from app import serving  # noqa: PLC0415

        settings = self.settings()
        eventlog.start(settings.log_level)
        listener = serving.bind(settings)
        try:
            settings = settings.model_copy(update={"port": listener.getsockname()[1]})
            with self.opened(supervised=True, prepare=prepare) as opened:
                opened.questions.warm_up(MODEL_PATIENCE_SECONDS)
                return serving.serve(settings, opened, listener)
        finally:
            listener.close()


def pepper_path(settings: Settings) -> Path:
    """Return where the pepper file is."""
    return settings.pepper_file or settings.home / PEPPER_NAME


def _opened(settings: Settings, database: Database, embedder: Embedder | None) -> Iterator[Opened]:
    clock = SystemClock()
    questions = create_query_embedder(settings, embedder, clock)
    peppers = load_peppers(pepper_path(settings))
    access = Access(PostgresAccessStore(database.server), peppers, settings, clock)
    guard = Guard(policy_of(settings))
    services = Services(
        catalogue=PostgresCatalogue(database.server, guard),
        embedder=questions,
        signals=PostgresSignals(database.server),
        query_hash=access.query_hash,
        feedback_hash=access.feedback_hash,
        feedback_daily_cap=settings.feedback_daily_cap,
    )
    try:
        yield Opened(database, questions, services, access, guard)
    finally:
        questions.close()
