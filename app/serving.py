"""Serving: the edge over the operations, with the public files and what is told at the start."""

from __future__ import annotations

import socket
from functools import partial

from app.access import Access
from app.database import Database
from app.errors import SettingsError, Unavailable
from app.operations import OPERATIONS, Services, call
from app.ports import Publication
from app.publicfiles import render_all
from app.settings import Environment, Settings
from app.store.migrating import is_at_head
from app.store.served import publication
from app.transports.http import EdgeServices, create_app
from app.transports.server import bind
from app.transports.server import serve as serve_app
from app.welcome import announce, instructions, site_of

__all__ = ["bind", "refuse_demo_in_production", "serve"]


def serve(settings: Settings, database: Database, access: Access, services: Services, listener: socket.socket) -> int:
    """Serve what is published until told to stop; return the exit code.

    Raises:
        SettingsError: the published records are a demonstration set, and this is production.
    """
    served = publication(database.server)
    refuse_demo_in_production(settings, served)
    site = site_of(settings, served)
    app = create_app(
        EdgeServices(
            settings=settings,
            access=access,
            tools=OPERATIONS,
            call=partial(call, services),
            instructions=instructions(site),
            public_files={path: (file.media_type, file.content) for path, file in render_all(site).items()},
            ready=partial(_ready, database),
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
