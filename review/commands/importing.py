"""`review import`: candidates for records out of pages that somebody else wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from app.record import Topic
from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, reports_errors
from review.bench import open_shelf
from review.commands.starting import write_draft
from review.importing.candidates import Candidate, Imported, candidates
from review.importing.reading import Kind, read_page
from review.screen import print_findings, records_of


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--as", "kind", type=click.Choice([kind.value for kind in Kind]), help="Default: what its name says.")
@click.option("--topic", type=click.Choice([topic.value for topic in Topic]),
              help="Of all candidates. Default: what a heading names, else implementation.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what would be written.")
@json_option
@click.pass_context
@reports_errors
def import_command(
    context: click.Context, file: Path, kind: str | None, topic: str | None, dry_run: bool, as_json: bool
) -> None:
    """Make candidates of a Markdown page, a Cursor rule, a SKILL.md or an AGENTS.md: one for each decision in it.

    A candidate is a skeleton with the passage to be told in our own words. It cannot be approved before that is done
    and sources are found. Exit code 1 when the safety gate holds something against a passage, whose text is left out.
    """
    shelf = open_shelf(records_of(context))
    page = read_page(file, Kind(kind) if kind else None)
    texts = "\n".join(entry.path.read_text("utf-8") for entry in shelf.files.values())
    imported = candidates(page, Topic(topic) if topic else None, {*shelf.files, *shelf.broken}, texts)
    if not dry_run:
        for candidate in imported.candidates:
            write_draft(shelf.folder, candidate.topic.value, candidate.draft)
    print_json(_as_json(imported, written=not dry_run)) if as_json else _print(imported, written=not dry_run)
    if any(candidate.findings for candidate in imported.candidates):
        raise SystemExit(EXIT_REFUSED)


def _print(imported: Imported, *, written: bool) -> None:
    for candidate in imported.candidates:
        place = f"{candidate.topic.value}/{candidate.draft.slug}"
        click.echo(f"{'written' if written else 'would write'}: {place}, from lines {_lines(candidate)}")
        print_findings([("", "safety", finding) for finding in candidate.findings])
    if imported.known:
        click.echo(f"imported before: {len(imported.known)}, from lines {', '.join(map(str, imported.known))}")
    click.echo(
        "Each is to be told in our own words, with sources that were read. Then: chatctx review check"
        if imported.candidates
        else "nothing new"
    )


def _lines(candidate: Candidate) -> str:
    return f"{candidate.first} to {candidate.last}"


def _as_json(imported: Imported, *, written: bool) -> dict[str, Any]:
    return {
        "written": written,
        "candidates": [
            {
                "slug": candidate.draft.slug,
                "topic": candidate.topic.value,
                "title": candidate.draft.title,
                "lines": [candidate.first, candidate.last],
                "findings": [finding.message for finding in candidate.findings],
            }
            for candidate in imported.candidates
        ],
        "imported_before": list(imported.known),
    }
