"""The program as it runs on this machine: settings from the environment, the database, the model, the server."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from app.access import Access, PepperRing, load_peppers
from app.administration import StoredKeys
from app.database import Database, open_database
from app.doctor import examine
from app.embedding.factory import create_embedder, create_query_embedder
from app.embedding.query import BoundedQueryEmbedder, DisabledQueryEmbedder
from app.errors import SettingsError, Unavailable
from app.explanation import explain
from app.operations import OPERATIONS, Services, call
from app.ports import Embedder, Publication
from app.publicfiles import Site, render_all
from app.settings import Environment, Settings, read_settings
from app.store.access import PostgresAccessStore
from app.store.catalogue import PostgresCatalogue
from app.store.migrating import head_revision, is_at_head
from app.store.served import publication
from app.store.signals import PostgresSignals
from app.transports.cli.runtime import Diagnosis
from app.transports.eventlog import LOGGER
from app.transports.http import EdgeServices, create_app
from app.transports.server import bind
from app.transports.server import serve as serve_app
from app.welcome import announce, instructions

PEPPER_NAME = "pepper"
# The server is not announced before its model answers, or this long has passed: the first question must not time out.
MODEL_PATIENCE_SECONDS = 20


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

    settings: Settings
    database: Database
    embedder: Embedder | None
    questions: BoundedQueryEmbedder | DisabledQueryEmbedder
    peppers: PepperRing
    services: Services
    access: Access


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
    def opened(
        self, *, supervised: bool = False, prepare: Callable[[Settings, Database], None] | None = None
    ) -> Iterator[Opened]:
        """Open database and model, with the schema at its newest.

        Args:
            supervised: keep an embedded database alive while open.
            prepare: called once the database can be used, before anything reads it.
        """
        settings = self.settings()
        with open_database(settings, supervised=supervised) as database:
            database.migrate()
            if prepare is not None:
                prepare(settings, database)
            yield from _opened(settings, database)

    @contextmanager
    def services(self) -> Iterator[Services]:
        """Open the database and the model for operations."""
        with self.opened() as opened:
            opened.questions.warm_up(MODEL_PATIENCE_SECONDS)
            yield opened.services

    def explain(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a search and return how each candidate was judged."""
        with self.services() as services:
            return explain(services, arguments)

    @contextmanager
    def key_administration(self) -> Iterator[StoredKeys]:
        """Open the database for work on keys."""
        settings = self.settings()
        with open_database(settings) as database:
            database.migrate()
            yield StoredKeys(database.owner, load_peppers(pepper_path(settings)))

    def migrate(self) -> str:
        """Bring the database's schema to the newest revision and return its id."""
        with open_database(self.settings()) as database:
            database.migrate()
            return head_revision() or "none"

    def diagnose(self) -> Sequence[Diagnosis]:
        """Look at everything the server needs."""
        settings = self.settings()
        return examine(settings, pepper_path(settings))

    def serve(self, prepare: Callable[[Settings, Database], None] | None = None) -> int:
        """Serve until told to stop; return the exit code. The port is claimed before anything slow is done."""
        settings = self.settings()
        _start_log(settings)
        listener = bind(settings)
        try:
            settings = settings.model_copy(update={"port": listener.getsockname()[1]})
            with self.opened(supervised=True, prepare=prepare) as opened:
                return _serve(settings, opened, listener)
        finally:
            listener.close()


def _start_log(settings: Settings) -> None:
    """Log to stderr, so that what a person is told stays readable; of libraries, only what is wrong."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(message)s")
    logging.getLogger(LOGGER).setLevel(settings.log_level.upper())


def pepper_path(settings: Settings) -> Path:
    """Return where the pepper file is."""
    return settings.pepper_file or settings.home / PEPPER_NAME


def site_of(settings: Settings, served: Publication | None) -> Site:
    """Return what the public files say of this server."""
    base = settings.public_url or f"http://{_reachable(settings.host)}:{settings.port}"
    return Site(
        base=base,
        demo=served.demo if served else True,
        records=served.records if served else None,
        guest_daily_quota=settings.guest_daily_quota,
    )


def _reachable(host: str) -> str:
    """Return an address to call where the server listens on all of them."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _opened(settings: Settings, database: Database) -> Iterator[Opened]:
    clock = SystemClock()
    embedder = create_embedder(settings)
    questions = create_query_embedder(settings, embedder, clock)
    peppers = load_peppers(pepper_path(settings))
    access = Access(PostgresAccessStore(database.server), peppers, settings, clock)
    services = Services(
        catalogue=PostgresCatalogue(database.server),
        embedder=questions,
        signals=PostgresSignals(database.server),
        query_hash=access.query_hash,
        feedback_hash=access.feedback_hash,
        feedback_daily_cap=settings.feedback_daily_cap,
    )
    try:
        yield Opened(settings, database, embedder, questions, peppers, services, access)
    finally:
        questions.close()


def _serve(settings: Settings, opened: Opened, listener: Any) -> int:
    served = publication(opened.database.server)
    refuse_demo_in_production(settings, served)
    site = site_of(settings, served)
    opened.questions.warm_up(MODEL_PATIENCE_SECONDS)
    app = create_app(
        EdgeServices(
            settings=settings,
            access=opened.access,
            tools=OPERATIONS,
            call=partial(call, opened.services),
            instructions=instructions(site),
            public_files={path: (file.media_type, file.content) for path, file in render_all(site).items()},
            ready=partial(_ready, opened.database),
        )
    )
    return serve_app(app, listener, on_started=lambda _host, _port: announce(settings, site))


def refuse_demo_in_production(settings: Settings, served: Publication) -> None:
    """Raise SettingsError when a demonstration set would be served in production as if an owner stood behind it."""
    if served.demo and served.records and settings.env is Environment.PRODUCTION and not settings.allow_demo_records:
        raise SettingsError(
            "CHATCTX_ENV is production and the published records are a demonstration set: approve and publish your "
            "own, or set CHATCTX_ALLOW_DEMO_RECORDS=true."
        )


def _ready(database: Database) -> dict[str, bool]:
    """Say whether traffic should come here. A missing model is no reason against it: words are still searched."""
    try:
        return {"database": True, "schema": is_at_head(database.server)}
    except Unavailable:
        return {"database": False, "schema": False}
