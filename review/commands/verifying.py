"""`review verify`: run the checks that records carry."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from app.recordfile import RecordFile
from app.transports.cli.printing import (
    EXIT_REFUSED,
    EXIT_UNREACHABLE,
    json_option,
    print_json,
    print_table,
    reports_errors,
)
from review.bench import Shelf, open_shelf
from review.changed import changed_option, named_or_changed
from review.proving import run_and_keep
from review.screen import progress_bar, settings_of
from review.verify.execution import Outcome, Result


@click.command("verify")
@click.argument("slugs", nargs=-1)
@click.option("--record", "records", multiple=True, metavar="SLUG", help="The same as naming it.")
@changed_option
@click.option(
    "--jobs", type=click.IntRange(1, 32), default=min(4, os.cpu_count() or 1), show_default=True, help="Checks at once."
)
@click.option("--no-record", is_flag=True, help="Do not write the results to verifications.jsonl.")
@json_option
@click.pass_context
@reports_errors
def verify_command(
    context: click.Context,
    /,
    slugs: tuple[str, ...],
    records: tuple[str, ...],
    changed: str | None,
    jobs: int,
    no_record: bool,
    as_json: bool,
) -> None:
    """Run the checks of the named records, of those a branch changes, or of all; confined, at most 20 seconds each.

    Exit code 1 when a check failed, 3 when none failed but one could not be run here.
    """
    settings = settings_of(context)
    shelf = open_shelf(settings.records)
    files = _with_checks(shelf, named_or_changed(shelf, (*slugs, *records), changed))
    with progress_bar("running checks") as bar:
        seen = Counter[str]()

        def tell(_result: Result, total: int) -> None:
            seen["done"] += 1
            bar(seen["done"], total)

        results = run_and_keep(settings, files, jobs=jobs, keep=not no_record, done=tell)
    _print_json(results) if as_json else _print(results)
    outcomes = {result.outcome for result in results}
    if Outcome.FAILED in outcomes:
        raise SystemExit(EXIT_REFUSED)
    if Outcome.UNAVAILABLE in outcomes:
        raise SystemExit(EXIT_UNREACHABLE)


def _with_checks(shelf: Shelf, slugs: Sequence[str]) -> list[RecordFile]:
    return [file for file in map(shelf.file, slugs) if file.record.checks]


def _print(results: list[Result]) -> None:
    rows = [(result.outcome.value, _place(result), f"{result.slug}: {result.check}") for result in results]
    if rows:
        print_table(("outcome", "on", "record and check"), rows)
    for result in results:
        if result.outcome is not Outcome.PASSED:
            where = f"{result.slug}: {result.check} on {_place(result)}"
            click.echo(f"{result.outcome.value}: {where}: {result.reason}")
            click.echo("".join(f"    {line}\n" for line in result.output.splitlines()), nl=False)
    counts = Counter(result.outcome.value for result in results)
    click.echo(", ".join(f"{counts[outcome.value]} {outcome.value}" for outcome in Outcome))
    if any(result.walls and not {"network", "files"} <= result.walls for result in results):
        click.echo(
            "note: not all walls stood (no namespaces, or CHATCTX_HOME or CHATCTX_RECORDS is a system folder):"
            " the checks could reach the network or read your files",
            err=True,
        )


def _place(result: Result) -> str:
    """Return what a check was run on, in one phrase."""
    tool = f"{result.tool} {result.version}".strip()
    return f"{tool} with {result.pinned}" if result.pinned else tool


def _print_json(results: list[Result]) -> None:
    print_json([_row(result) for result in results])


def _row(result: Result) -> dict[str, Any]:
    return dict(vars(result)) | {"outcome": result.outcome.value, "walls": sorted(result.walls)}
