"""`review gaps`: what was asked and not found."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import click

from app.database import open_database
from app.store.gaps import Aspect
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.commands.quoting import WARNING, group_row, print_group
from review.gaps import LEAST_QUESTIONS, Gap, Report, read_report
from review.screen import settings_of, today

_MOST = 10_000
_TITLES = {
    Aspect.TOPIC: "By topic",
    Aspect.TECHNOLOGY: "By technology",
    Aspect.TOPIC_AND_TECHNOLOGY: "By topic and technology",
    Aspect.RECORD: "Records that came close",
}


@click.command("gaps")
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="How far back to look.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=10, show_default=True, help="Most rows of each kind.")
@json_option
@click.pass_context
@reports_errors
def gaps_command(context: click.Context, days: int, limit: int, as_json: bool) -> None:
    """Show what was asked and not found: counts of different questions, never a word of one.

    A row stands for at least five different questions of a month. What callers reported as missing is shown below, in
    their own words, unverified.
    """
    with open_database(settings_of(context)) as database:
        database.migrate()
        found = read_report(database.owner, today() - timedelta(days=days))
    print_json(_row(found, limit)) if as_json else _print(found, limit)


def _row(found: Report, limit: int) -> dict[str, Any]:
    return {
        "since": str(found.since),
        "asked": found.asked,
        "unanswered": found.unanswered,
        "least_questions": LEAST_QUESTIONS,
        "withheld": found.withheld,
        **{aspect.value: [_gap_row(gap) for gap in found.by(aspect)[:limit]] for aspect in _TITLES},
        "note": WARNING,
        "missing": [group_row(group, None) for group in found.missing[:limit]],
    }


def _gap_row(gap: Gap) -> dict[str, Any]:
    return asdict(gap) | {"latest": f"{gap.latest:%Y-%m}"}


def _print(found: Report, limit: int) -> None:
    click.echo(f"Since {found.since}: {found.asked} different questions, {found.unanswered} found nothing.")
    for aspect, title in _TITLES.items():
        if rows := found.by(aspect)[:limit]:
            click.echo(f"\n{title}")
            print_table(("questions", "last in", "about"), [_cells(gap) for gap in rows])
    if found.withheld:
        click.echo(
            f"\nNot shown: {found.withheld} rows of fewer than {LEAST_QUESTIONS} different questions in a month."
        )
    if found.missing:
        click.echo(f"\nReported as missing\n{WARNING}")
    for group in found.missing[:limit]:
        print_group(group, None)


def _cells(gap: Gap) -> tuple[object, ...]:
    about = {
        Aspect.TOPIC: gap.topic or "(no topic named)",
        Aspect.TECHNOLOGY: gap.technology or "(no technology named)",
        Aspect.TOPIC_AND_TECHNOLOGY: f"{gap.topic}, {gap.technology}",
        Aspect.RECORD: gap.record,
    }
    return gap.questions, f"{gap.latest:%Y-%m}", about[gap.aspect]
