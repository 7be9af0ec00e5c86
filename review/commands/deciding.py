"""`review approve`, `deprecate` and `history`: decisions, one record at a time."""

from __future__ import annotations

import sys

import click

from app.recordfile import RecordFile
from app.transports.cli.asking import confirm_owner, expect_owner
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.bench import Shelf, Verdict, judge, open_shelf
from review.commands.options import REASON, by_option, yes_option
from review.commands.writing import changes
from review.decisions import LEDGER, approve, deprecate, refuse_errors, warned
from review.errors import Refused, wrong_usage
from review.ledger import Entry, read_ledger
from review.proving import prove
from review.screen import print_findings, records_of, settings_of, similarity_of, today


@click.command("approve")
@click.argument("slugs", nargs=-1, metavar="SLUG")
@click.option("--note", type=REASON, help="Reason; required when a gate warns.")
@by_option
@yes_option
@click.option("--words-only", is_flag=True, help="Judge likeness by words; do not load the embedding model.")
@json_option
@click.pass_context
@reports_errors
def approve_command(
    context: click.Context,
    slugs: tuple[str, ...],
    note: str | None,
    by: str | None,
    yes: bool,
    words_only: bool,
    as_json: bool,
) -> None:
    """Approve one record as it stands.

    Refused when a gate finds an error or a check fails: those that have not passed on this text are run. Where a
    gate warns, a reason is asked for and kept in the ledger. What is approved already is approved again where the
    approval does not count, or where name, key or signature differ.
    """
    slug = _the_one(slugs)
    if not yes:
        _need_terminal()
    expect_owner(settings_of(context))
    shelf = open_shelf(records_of(context))
    file = shelf.file(slug)
    verdict = _passed(context, shelf, file, words_only=words_only, quiet=as_json)
    note = _reason(verdict, note, yes=yes)
    if not yes:
        _show_and_ask(shelf, file)
    lock = confirm_owner(settings_of(context))
    entry = approve(settings_of(context), file, by=by, note=note, lock=lock)
    _tell(entry, as_json=as_json, then="It is served from the next publish on.")


@click.command("deprecate")
@click.argument("slugs", nargs=-1, metavar="SLUG")
@click.option("--reason", type=REASON, required=True, help="Why it is no longer to be served; kept in the ledger.")
@by_option
@yes_option
@json_option
@click.pass_context
@reports_errors
def deprecate_command(
    context: click.Context, slugs: tuple[str, ...], reason: str, by: str | None, yes: bool, as_json: bool
) -> None:
    """Take one record out of service from the next publish on. Its file stays."""
    slug = _the_one(slugs)
    if not yes:
        _ask(f"Deprecate {slug}?")
    lock = confirm_owner(settings_of(context))
    entry = deprecate(settings_of(context), slug, by=by, reason=reason, lock=lock)
    _tell(entry, as_json=as_json, then="It is withdrawn at the next publish.")


@click.command("history")
@click.argument("slug", required=False)
@json_option
@click.pass_context
@reports_errors
def history_command(context: click.Context, slug: str | None, as_json: bool) -> None:
    """List decisions, oldest first, of one record or of all. Verifies the ledger's chain."""
    ledger = read_ledger(records_of(context) / LEDGER)
    entries = ledger.history(slug) if slug else ledger.entries
    if as_json:
        return print_json([_row(entry) for entry in entries])
    if not entries:
        click.echo("no decisions yet")
        return None
    rows = [(entry.at[:10], entry.decision.value, entry.by, entry.slug, entry.note or "") for entry in entries]
    print_table(("day", "decision", "by", "record", "note"), rows)
    return None


def _the_one(slugs: tuple[str, ...]) -> str:
    if len(slugs) != 1:
        raise wrong_usage("name exactly one record: each is a decision of its own")
    return slugs[0]


def _passed(context: click.Context, shelf: Shelf, file: RecordFile, *, words_only: bool, quiet: bool) -> Verdict:
    """Return what the gates say, shown unless it is to be quiet. Raises Refused for an error or a failed check."""
    slug = file.record.slug
    similarity = None if words_only else similarity_of(shelf, settings_of(context))
    verdict = judge(shelf, [slug], today=today(), similarity=similarity)[0]
    if not quiet:
        print_findings([(slug, gate, finding) for gate, finding in verdict.findings()])
    refuse_errors(verdict)
    _prove(context, file)
    return verdict


def _prove(context: click.Context, file: RecordFile) -> None:
    """A gate cannot run a check, so the owner is told here what is not proved for this very text."""
    for lacking in prove(settings_of(context), file):
        click.echo(f"note: not run here: {lacking}", err=True)


def _reason(verdict: Verdict, note: str | None, *, yes: bool) -> str | None:
    gates = ", ".join(warned(verdict))
    if note is not None or not gates:
        return note
    if yes or not sys.stdin.isatty():
        raise Refused(
            f"{verdict.slug} has warnings ({gates}): give the reason for approving it all the same with --note."
        )
    return str(click.prompt("Reason for approving it with these warnings", type=REASON))


def _show_and_ask(shelf: Shelf, file: RecordFile) -> None:
    for line in changes(shelf, file):
        click.echo(line)
    version = shelf.ledger.content_version(file.record.slug) + 1
    _ask(f"Approve {file.record.slug} as version {version} ({file.sha256[:12]})?")


def _need_terminal() -> None:
    if not sys.stdin.isatty():
        raise wrong_usage("there is no terminal to ask on: read the record, then decide with --yes")


def _ask(question: str) -> None:
    _need_terminal()
    try:
        decided = click.confirm(question)
    except click.Abort:
        decided = False
    if not decided:
        raise Refused("Nothing was decided.")


def _tell(entry: Entry, *, as_json: bool, then: str) -> None:
    if as_json:
        return print_json(_row(entry))
    how = ", signed" if entry.sig else ""
    click.echo(f"{entry.decision.value}d: {entry.slug} ({entry.sha256[:12]}) by {entry.by}{how}. {then}")
    return None


def _row(entry: Entry) -> dict[str, object]:
    return dict(vars(entry)) | {"decision": entry.decision.value}
