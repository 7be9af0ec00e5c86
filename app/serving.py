"""Serving: the edge over the operations, with the public files and what is told at the start."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Protocol

from app.access import Access
from app.database import Database, policy_of
from app.errors import SettingsError, Unavailable
from app.integrity import Policy
from app.operations import OPERATIONS, Services, call
from app.ports import Publication
from app.publicfiles import Site, render_all
from app.settings import Environment, Settings
from app.store.guard import Guard
from app.store.migrating import suits
from app.store.served import publication
from app.transports.http import EdgeApp, EdgeServices, create_app
from app.transports.server import bind
from app.transports.server import serve as serve_app
from app.welcome import announce, instructions, site_of

__all__ = ["bind", "refuse_demo_in_production", "serve"]

# Salts of guests' addresses must not outlive their days by more than this.
FORGET_SECONDS = 3600

_log = logging.getLogger(__name__)


class Served(Protocol):
    """What an open program lends to serve."""

    @property
    def database(self) -> Database:
        """The database."""

    @property
    def access(self) -> Access:
        """Who may call."""

    @property
    def services(self) -> Services:
        """What operations work with."""

    @property
    def guard(self) -> Guard:
        """Tells which records are what was approved; the services' catalogue asks the same one."""


def serve(settings: Settings, opened: Served, listener: socket.socket) -> int:
    """Serve what is published until told to stop; return the exit code.

    Every served record is held against its approval before the first call, and again every `verify_seconds`. What is
    left of days that are over is deleted before the first call, and again every hour, whether anybody calls or not.

    Raises:
        SettingsError: the published records are a demonstration set, and this is production.
        Unavailable: the database does not answer.
    """
    told = Told(settings, opened)
    refuse_demo_in_production(settings, told.served)
    opened.access.forget_days()
    app = create_app(
        EdgeServices(
            settings=settings,
            access=opened.access,
            tools=OPERATIONS,
            call=partial(call, opened.services),
            instructions=instructions(told.site),
            public_files=told.files(),
            ready=partial(_ready, opened),
        )
    )
    verifying = _repeated("verify-records", settings.verify_seconds, partial(told.look_again, app))
    forgetting = _repeated("forget-days", FORGET_SECONDS, opened.access.forget_days)
    with verifying, forgetting:
        return serve_app(app, listener, on_started=lambda _host, _port: announce(settings, told.site, told.withheld))


class Told:
    """What callers are told of what is served: how much it is, and whether it is a demonstration."""

    def __init__(self, settings: Settings, opened: Served) -> None:
        self._settings = settings
        self._opened = opened
        self.served = self._look()

    @property
    def site(self) -> Site:
        """The facts that the public files state."""
        return site_of(self._settings, self.served)

    def files(self) -> Mapping[str, tuple[str, bytes]]:
        """Return media type and content of each public file by its path."""
        return {path: (file.media_type, file.content) for path, file in render_all(self.site).items()}

    def look_again(self, app: EdgeApp) -> None:
        """Verify every record; where another set is served than was told, tell that. Raises Unavailable."""
        served = self._look()
        if served != self.served:
            self.served = served
            app.renew(instructions(self.site), self.files())

    def _look(self) -> Publication:
        engine = self._opened.database.server
        found = self._opened.guard.examine(engine, self._policy())
        self.withheld = len(found.withheld)
        served = publication(engine)
        # The row that says so can be written by whoever can write to the database; the approvals cannot.
        demo = found.demo if found.records else served.demo
        return replace(served, demo=demo, records=found.records - self.withheld)

    def _policy(self) -> Policy | None:
        """Read who may sign anew, so that a key that is taken out of the file counts no longer."""
        try:
            return policy_of(self._settings)
        except SettingsError:
            _log.error("the allowed signers cannot be read: those that were read before stay")
            return None


def refuse_demo_in_production(settings: Settings, served: Publication) -> None:
    """Raise SettingsError when a demonstration set would be served in production as if an owner stood behind it."""
    if served.demo and served.records and settings.env is Environment.PRODUCTION and not settings.allow_demo_records:
        raise SettingsError(
            "CHATCTX_ENV is production and the published records are a demonstration set: approve and publish your "
            "own, or set CHATCTX_ALLOW_DEMO_RECORDS=true."
        )


@contextmanager
def _repeated(name: str, seconds: float, work: Callable[[], object]) -> Iterator[None]:
    """Do some work now and then, in a thread of its own, while the context lasts."""
    stop = threading.Event()
    threading.Thread(target=_repeat, args=(name, seconds, work, stop), name=name, daemon=True).start()
    try:
        yield
    finally:
        stop.set()


def _repeat(name: str, seconds: float, work: Callable[[], object], stop: threading.Event) -> None:
    while not stop.wait(seconds):
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the next time may succeed, and somebody must hear of this one
            _log.error("%s failed: %s", name, type(error).__name__)


def _ready(opened: Served) -> Mapping[str, bool]:
    """Say whether traffic should come here. A missing model is no reason against it: words are still searched."""
    try:
        schema = suits(opened.database.server)
    except Unavailable:
        return {"database": False, "schema": False, "records": False}
    return {"database": True, "schema": schema, "records": opened.guard.serves_any()}
