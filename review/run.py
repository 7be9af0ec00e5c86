"""`chatctx run`: publish what the ledger approves, then serve it. What `make run` does."""

from __future__ import annotations

import click

from app.runtime import LocalRuntime
from app.transports.cli.printing import reports_errors
from review.publish import publish_approved


@click.command()
@click.pass_obj
@reports_errors
def run(runtime: LocalRuntime) -> None:
    """Publish the approved records and serve them, until stopped.

    Exit codes: 0 stopped, 1 refused or the port is taken, 2 wrong setting, 3 the database cannot be reached.
    """
    raise SystemExit(runtime.serve(prepare=publish_approved))
