"""`review check`: what the gates say."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, reports_errors
from review.bench import Report, Shelf, check, open_shelf
from review.changed import Changes, changed_option, changed_since, toplevel
from review.errors import Refused, wrong_usage
from review.gates import Level, discover
from review.hosts import Format, Located, github, gitlab, locate, sarif
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
from review.waivers import stray_waivers

_CHANGED = "changed since approval: will not be served at the next publish"


@click.command("check")
@click.argument("slugs", nargs=-1)
@changed_option
@click.option("--words-only", is_flag=True, help="Judge likeness by words; do not load the embedding model.")
@click.option(
    "--approved", "must_be_approved", is_flag=True, help="Also fail unless every record is approved as it stands."
)
@click.option(
    "--format",
    "given_format",
    type=click.Choice([choice.value for choice in Format]),
    help="github, gitlab and sarif are shown on the line by code hosts.  [default: text; github in GitHub Actions]",
)
@json_option
@click.pass_context
@reports_errors
def check_command(
    context: click.Context,
    slugs: tuple[str, ...],
    changed: str | None,
    words_only: bool,
    must_be_approved: bool,
    given_format: str | None,
    as_json: bool,
) -> None:
    """Run every gate over the named records, over those that a branch changes, or over all of them.

    Says which records were edited after their approval. Exit code 1 when a finding is an error.
    """
    if changed is not None and slugs:
        raise wrong_usage("name records or give --changed, not both")
    shelf = open_shelf(records_of(context))
    _refuse_unknown(slugs, {*shelf.files, *shelf.broken})
    changes = changed_since(shelf, changed) if changed is not None else None
    similarity = None if words_only else similarity_of(shelf, settings_of(context))
    report = _checked(shelf, slugs, similarity, changes)
    unapproved = _unapproved(report) if must_be_approved else []
    _show(_format(given_format, as_json=as_json), report, shelf, unapproved)
    if report.has_errors or unapproved:
        raise SystemExit(EXIT_REFUSED)


def _format(given: str | None, *, as_json: bool) -> Format:
    if as_json:
        return Format.JSON
    if given is not None:
        return Format(given)
    return Format.GITHUB if os.environ.get("GITHUB_ACTIONS") == "true" else Format.TEXT


def _refuse_unknown(slugs: tuple[str, ...], known: set[str]) -> None:
    unknown = [slug for slug in slugs if slug not in known]
    if unknown:
        raise Refused(f"No such record: {', '.join(unknown)}. `review check` without names checks all.")


def _unapproved(report: Report) -> list[str]:
    return [verdict.slug for verdict in report.verdicts if verdict.state is not State.APPROVED]


def _checked(shelf: Shelf, slugs: tuple[str, ...], similarity: Any, changes: Changes | None) -> Report:
    if changes is not None:
        return _of_changes(shelf, changes, similarity)
    total = len(slugs) or len(shelf.files) + len(shelf.broken)
    with progress_bar("checking") as bar:
        seen = 0

        def tell(_slug: str) -> None:
            nonlocal seen
            seen += 1
            bar(seen, total)

        report = check(shelf, slugs, today=today(), similarity=similarity, progress=tell)
    return replace(report, verdicts=tuple(sorted(report.verdicts, key=lambda verdict: verdict.slug)))


def _of_changes(shelf: Shelf, changes: Changes, similarity: Any) -> Report:
    """Check what a branch changes; of the folder as a whole, only what the branch can have brought about."""
    everything = [*shelf.files, *shelf.broken]
    strays = stray_waivers(shelf.waivers, everything, [gate.id for gate in discover()]) if changes.waivers else ()
    notes = tuple(f"{slug} is deleted: check all records, others may name it" for slug in changes.deleted)
    if not changes.slugs:
        return Report((), strays, (*notes, "no record differs"))
    report = check(shelf, changes.slugs, today=today(), similarity=similarity)
    return replace(report, strays=strays, notes=(*notes, *report.notes))


def _show(chosen: Format, report: Report, shelf: Shelf, unapproved: list[str]) -> None:
    found = locate(report, shelf, toplevel(shelf.folder) or Path.cwd())
    if chosen is Format.JSON:
        return print_json(_as_json(report, found))
    if chosen is Format.GITLAB:
        return click.echo(gitlab(found), nl=False)
    if chosen is Format.SARIF:
        return click.echo(sarif(found, discover()), nl=False)
    if chosen is Format.GITHUB:
        click.echo(github(found), nl=False)
    else:
        lines = {(entry.slug, entry.finding): entry.line for entry in found}
        print_findings([(entry.slug, entry.gate, entry.finding) for entry in found], lines)
        if found:
            click.echo()
    _print_rest(report, unapproved)
    return None


def _as_json(report: Report, found: list[Located]) -> dict[str, Any]:
    places = {(entry.slug, entry.finding): {"file": entry.file, "line": entry.line} for entry in found}
    rows = []
    for verdict in report.verdicts:
        row = verdict_row(verdict)
        listed = zip(row["findings"], verdict.findings(), strict=True)
        rows.append(row | {"findings": [each | places[verdict.slug, finding] for each, (_, finding) in listed]})
    return {
        "records": rows,
        "changed": [verdict.slug for verdict in report.verdicts if verdict.state is State.CHANGED],
        "strays": [finding.message for finding in report.strays],
        "notes": list(report.notes),
        "counts": _counts(report),
    }


def _print_rest(report: Report, unapproved: list[str]) -> None:
    for verdict in report.verdicts:
        if verdict.state is State.CHANGED:
            click.echo(f"{verdict.slug}: {_CHANGED}")
    for note in report.notes:
        click.echo(f"note: {note}")
    click.echo(counted(_counts(report)))
    if unapproved:
        # A file may be named as it likes, and in a build log a line may be a command.
        click.echo(" ".join(f"not approved as they stand: {', '.join(unapproved)}".split()))


def _counts(report: Report) -> dict[str, int]:
    states = [verdict.state for verdict in report.verdicts]
    return {
        "record": len(states),
        "error": sum(len(verdict.findings(Level.ERROR)) for verdict in report.verdicts) + len(report.strays),
        "warning": sum(len(verdict.findings(Level.WARNING)) for verdict in report.verdicts),
        "waiver": sum(len(verdict.waived) for verdict in report.verdicts),
    }
