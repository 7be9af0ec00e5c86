"""Serving from the command line."""

from __future__ import annotations

import click

from app.transports.cli.printing import reports_errors
from app.transports.cli.runtime import Runtime


@click.command()
@click.pass_obj
@reports_errors
def serve(runtime: Runtime) -> None:
    """Serve what is published, until stopped. Exit code 1 when the port is taken."""
    raise SystemExit(runtime.serve())
