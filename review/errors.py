"""What the bench refuses to do."""

from __future__ import annotations

import click

from app.errors import AppError
from app.transports.cli.printing import EXIT_USAGE


class Refused(AppError):
    """The bench will not do what was asked; the message says why and what would change that."""

    code = "refused"


class InvalidDecision(AppError):
    """A name or a reason that a decision cannot carry; the message says what is wanted."""

    code = "invalid_decision"


def wrong_usage(message: str) -> SystemExit:
    """Print what is wrong with the command line, as click does, and return the exit to raise."""
    click.UsageError(message, click.get_current_context()).show()
    return SystemExit(EXIT_USAGE)
