"""`review stale`: what has to be looked at again."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import click

from app.database import open_database
from app.errors import AppError
from app.settings import Settings
from app.store.signals import FeedbackDesk
from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, reports_errors, wrapped
from review.bench import Shelf, open_shelf
from review.screen import settings_of, today
from review.stale import Due, NotKnown, Waiting, due, not_known, results_of, waiting

_MOST = 10_000
_ORDER = "How often a record is used is kept nowhere: ordered by urgency, then by feedback, then by age."


@click.command("stale")
@click.option("--days", type=click.IntRange(0, 730), default=0, show_default=True, help="Also what falls due so soon.")
@click.option("--no-database", is_flag=True, help="Do not look for feedback.")
@json_option
@click.pass_context
@reports_errors
def stale_command(context: click.Context, days: int, no_database: bool, as_json: bool) -> None:
    """List approved records to look at again: sources not read for a year, new majors, failing checks, feedback.

    Exit code 1 when there are any. A database that is not there or cannot be reached is said, and does not matter.
    """
    settings = settings_of(context)
    shelf, day = open_shelf(settings.records), today()
    notes, said = ["feedback was not looked for"], dict[str, Waiting]()
    if not no_database:
        said, notes = _feedback(settings, shelf)
    found = due(shelf, day, results=results_of(shelf), feedback=said, ahead=timedelta(days=days))
    unknown = not_known(shelf, day)
    if as_json:
        print_json({"due": [_row(one) for one in found], "notes": notes, "majors_not_known": asdict(unknown)})
    else:
        _print(found, unknown, notes)
    if found:
        raise SystemExit(EXIT_REFUSED)


def _feedback(settings: Settings, shelf: Shelf) -> tuple[dict[str, Waiting], list[str]]:
    """Return what waits in the database; none is made for it."""
    if settings.database_url is None and not any(settings.home.glob("postgres-*")):
        return {}, ["no database is set or was started here: feedback is not counted"]
    try:
        with open_database(settings) as database:
            database.migrate()
            return waiting(shelf, FeedbackDesk(database.owner).pending(_MOST)), []
    except AppError as error:
        return {}, [f"feedback is not counted: {error.message}"]


def _row(one: Due) -> dict[str, object]:
    return asdict(one) | {
        "state": one.state.value,
        "reasons": [asdict(reason) | {"cause": reason.cause.value} for reason in one.reasons],
    }


def _print(found: list[Due], unknown: NotKnown, notes: list[str]) -> None:
    for one in found:
        click.echo(one.slug)
        for reason in one.reasons:
            click.echo(wrapped(f"{reason.cause.value}, since {reason.since}: {reason.words}"))
    click.echo(_ORDER if found else "nothing is due")
    for note in notes:
        click.echo(f"note: {note}")
    if unknown.missing:
        click.echo(wrapped(f"note: newest major not known: {', '.join(unknown.missing)} (review/majors.py)", 0))
    if unknown.old:
        click.echo(wrapped(f"note: newest major looked up long ago: {', '.join(unknown.old)} (review/majors.py)", 0))
