"""`chatctx run`: publish what the ledger approves, then serve it. What `make run` does."""

from __future__ import annotations

import sys

import click

from app.database import Database
from app.ports import Embedder
from app.runtime import LocalRuntime
from app.settings import Settings
from app.transports.cli.printing import reports_errors
from review.publish import publish_approved
from review.screen import progress_bar


@click.command()
@click.pass_obj
@reports_errors
def run(runtime: LocalRuntime) -> None:
    """Publish the approved records and serve them, until stopped.

    Exit codes: 0 stopped, 1 refused or the port is taken, 2 wrong setting, 3 the database cannot be reached.
    """
    raise SystemExit(runtime.serve(prepare=_publish))


def _publish(settings: Settings, database: Database, embedder: Embedder | None) -> None:
    """Publish, with a bar on a terminal and a line anywhere else: the first time takes long enough to wonder."""
    with progress_bar("publishing") as bar:
        told = False

        def progress(step: str, done: int, total: int) -> None:
            nonlocal told
            if step == "embedding" and not told and not sys.stderr.isatty():
                click.echo(f"Reading {total} records for search by meaning; this is done once.", err=True)
                told = True
            bar.step(step, done, total)

        publish_approved(settings, database, embedder, progress)
