"""`review check`: what the gates say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, reports_errors
from review.bench import Report, check, open_shelf
from review.errors import Refused
from review.gates import Level
from review.ledger import State
from review.screen import (
    counted,
    print_findings,
    progress_bar,
    records_of,
    settings_of,
    similarity_of,
    today,
    verdict_row,
)

_CHANGED = "changed since approval: will not be served at the next publish"


@click.command("check")
@click.argument("slugs", nargs=-1)
@click.option("--words-only", is_flag=True, help="Judge likeness by words; do not load the embedding model.")
@click.option(
    "--approved", "must_be_approved", is_flag=True, help="Also fail unless every record is approved as it stands."
)
@json_option
@click.pass_context
@reports_errors
def check_command(
    context: click.Context, slugs: tuple[str, ...], words_only: bool, must_be_approved: bool, as_json: bool
) -> None:
    """Run every gate over the named records, or over all of them.

    Says which records were edited after their approval. Exit code 1 when a finding is an error.
    """
    shelf = open_shelf(records_of(context))
    _refuse_unknown(slugs, {*shelf.files, *shelf.broken})
    similarity = None if words_only else similarity_of(shelf, settings_of(context))
    report = _checked(shelf, slugs, similarity)
    unapproved = (
        [verdict.slug for verdict in report.verdicts if verdict.state is not State.APPROVED] if must_be_approved else []
    )
    if as_json:
        print_json(_as_json(report))
    else:
        _print(report)
    if unapproved and not as_json:
        click.echo(f"not approved as they stand: {', '.join(unapproved)}")
    if report.has_errors or unapproved:
        raise SystemExit(EXIT_REFUSED)


def _refuse_unknown(slugs: tuple[str, ...], known: set[str]) -> None:
    unknown = [slug for slug in slugs if slug not in known]
    if unknown:
        raise Refused(f"No such record: {', '.join(unknown)}. `review check` without names checks all.")


def _checked(shelf: Any, slugs: tuple[str, ...], similarity: Any) -> Report:
    total = len(slugs) or len(shelf.files) + len(shelf.broken)
    with progress_bar("checking") as bar:
        seen = 0

        def tell(_slug: str) -> None:
            nonlocal seen
            seen += 1
            bar(seen, total)

        report = check(shelf, slugs, today=today(), similarity=similarity, progress=tell)
    return replace(report, verdicts=tuple(sorted(report.verdicts, key=lambda verdict: verdict.slug)))


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "records": [verdict_row(verdict) for verdict in report.verdicts],
        "changed": [verdict.slug for verdict in report.verdicts if verdict.state is State.CHANGED],
        "strays": [finding.message for finding in report.strays],
        "notes": list(report.notes),
        "counts": _counts(report),
    }


def _print(report: Report) -> None:
    rows = [(verdict.slug, gate, finding) for verdict in report.verdicts for gate, finding in verdict.findings()]
    print_findings(rows + [("waivers.yaml", "waivers", finding) for finding in report.strays])
    changed = [verdict.slug for verdict in report.verdicts if verdict.state is State.CHANGED]
    if rows or report.strays:
        click.echo()
    for slug in changed:
        click.echo(f"{slug}: {_CHANGED}")
    for note in report.notes:
        click.echo(f"note: {note}")
    click.echo(counted(_counts(report)))


def _counts(report: Report) -> dict[str, int]:
    states = [verdict.state for verdict in report.verdicts]
    return {
        "record": len(states),
        "error": sum(len(verdict.findings(Level.ERROR)) for verdict in report.verdicts) + len(report.strays),
        "warning": sum(len(verdict.findings(Level.WARNING)) for verdict in report.verdicts),
        "waiver": sum(len(verdict.waived) for verdict in report.verdicts),
    }
