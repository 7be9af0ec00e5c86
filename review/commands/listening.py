"""`review feedback`: what callers said, and what was done about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import click

from app.database import open_database
from app.errors import InvalidInput
from app.store.signals import FeedbackDesk, Outcome
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.errors import wrong_usage
from review.screen import settings_of


@click.group("feedback")
def feedback_command() -> None:
    """Read and resolve feedback. It says nothing about who sent it and never changes ranking by itself."""


@feedback_command.command("list")
@click.option("--resolved", is_flag=True, help="Show what was resolved instead of what waits.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Most entries.")
@json_option
@click.pass_context
@reports_errors
def list_command(context: click.Context, resolved: bool, limit: int, as_json: bool) -> None:
    """List feedback, oldest first."""
    with _desk(context) as desk:
        entries = desk.resolved(limit) if resolved else desk.pending(limit)
    if as_json:
        return print_json([_row(entry) for entry in entries])
    if not entries:
        click.echo("no feedback" if resolved else "no feedback waits")
        return None
    rows = [
        (
            str(entry.feedback_id),
            entry.received_on,
            entry.category,
            f"{entry.record or '-'} {_plain(entry.comment)[:60]}".strip(),
        )
        for entry in entries
    ]
    print_table(("id", "day", "category", "record and comment"), rows)
    return None


@feedback_command.command("show")
@click.argument("feedback_id", metavar="ID")
@json_option
@click.pass_context
@reports_errors
def show_command(context: click.Context, feedback_id: str, as_json: bool) -> None:
    """Show one piece of feedback in full."""
    with _desk(context) as desk:
        entry = desk.find(_identifier(feedback_id))
    if entry is None:
        raise InvalidInput("No feedback has this id: `chatctx review feedback list` shows what there is.")
    row = _row(entry)
    if as_json:
        return print_json(row)
    for name, value in row.items():
        if value not in (None, {}, ""):
            click.echo(f"{name:<12} {_plain(value)}")
    return None


@feedback_command.command("resolve")
@click.argument("feedback_id", metavar="ID")
@click.option(
    "--outcome", type=click.Choice([outcome.value for outcome in Outcome]), required=True, help="What was done."
)
@click.option("--note", required=True, help="Why, or what was changed.")
@json_option
@click.pass_context
@reports_errors
def resolve_command(context: click.Context, feedback_id: str, outcome: str, note: str, as_json: bool) -> None:
    """Note what was done about a piece of feedback. A later note replaces it."""
    identity = _identifier(feedback_id)
    with _desk(context) as desk:
        desk.resolve(identity, Outcome(outcome), note)
    if as_json:
        return print_json({"feedback_id": str(identity), "outcome": outcome})
    click.echo(f"resolved: {identity} ({outcome})")
    return None


@contextmanager
def _desk(context: click.Context) -> Iterator[FeedbackDesk]:
    with open_database(settings_of(context)) as database:
        database.migrate()
        yield FeedbackDesk(database.owner)


def _identifier(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise wrong_usage("ID is the identifier that `review feedback list` shows") from None


def _row(entry: Any) -> dict[str, Any]:
    return dict(vars(entry)) | {"feedback_id": str(entry.feedback_id)}


def _plain(value: object) -> str:
    """Return text without anything a terminal would obey: callers wrote it."""
    return "".join(character if character.isprintable() else " " for character in str(value or ""))
