"""`review show` and `diff`: reading a record as others will."""

from __future__ import annotations

import json
from typing import Any

import click

from app.contract import Detail, count_tokens, serialise
from app.record import canonical_form
from app.recordfile import RecordFile
from app.transports.cli.cardtext import print_card
from app.transports.cli.printing import json_option, print_json, reports_errors
from review.bench import Shelf, judge, open_shelf
from review.cards import card, without_approval
from review.ledger import Decision, Entry, State
from review.rendering import difference
from review.screen import print_findings, records_of, settings_of, similarity_of, today, verdict_row
from review.snapshots import read_snapshot
from review.verifications import FILE, proved_on, verified_on


@click.command("show")
@click.argument("slug")
@click.option(
    "--detail", type=click.Choice([detail.value for detail in Detail]), default=Detail.FULL.value, show_default=True
)
@click.option("--words-only", is_flag=True, help="Judge likeness by words; do not load the embedding model.")
@json_option
@click.pass_context
@reports_errors
def show_command(context: click.Context, slug: str, detail: str, words_only: bool, as_json: bool) -> None:
    """Show a record as an agent gets it, what it costs, where it stands and what the gates say."""
    shelf = open_shelf(records_of(context))
    file = shelf.file(slug)
    similarity = None if words_only else similarity_of(shelf, settings_of(context))
    verdict = judge(shelf, [slug], today=today(), similarity=similarity)[0]
    approval = _approval(shelf, slug)
    version = max(1, shelf.ledger.content_version(slug))
    verified = verified_on(shelf.folder / FILE, slug, file.sha256)
    standing = (version, approval.decided_at if approval else None, proved_on(verified, file))
    cards = {level: card(file.record, level, *standing) for level in Detail}
    tokens = {level.value: count_tokens(serialise(cards[level])) for level in Detail}
    shown = cards[Detail(detail)]
    if shelf.state(slug) is not State.APPROVED:
        shown = without_approval(shown)
    if as_json:
        told = {"sha256": file.sha256, "tokens": tokens, "verified_on": verified}
        return print_json({**verdict_row(verdict), **told, "card": shown})
    print_card(shown)
    _print_standing(shelf, file, tokens)
    for line in verified:
        pinned = f" with {line['pinned']}" if "pinned" in line else ""
        tool = f"{line['tool']} {line['version']}{pinned}"
        click.echo(f"verified {line['outcome']}: {line['check']} on {tool}, {line['date']}")
    print_findings([(slug, gate, finding) for gate, finding in verdict.findings()])
    return None


def _approval(shelf: Shelf, slug: str) -> Entry | None:
    approvals = [entry for entry in shelf.ledger.history(slug) if entry.decision is Decision.APPROVE]
    return approvals[-1] if approvals else None


def _print_standing(shelf: Shelf, file: RecordFile, tokens: dict[str, int]) -> None:
    slug = file.record.slug
    approvals = shelf.ledger.content_version(slug)
    click.echo(f"state    {shelf.state(slug).value}" + (f", content version {approvals}" if approvals else ""))
    click.echo(f"sha256   {file.sha256}")
    click.echo("tokens   " + ", ".join(f"{level} {count}" for level, count in tokens.items()))


@click.command("diff")
@click.argument("slug")
@json_option
@click.pass_context
@reports_errors
def diff_command(context: click.Context, slug: str, as_json: bool) -> None:
    """Show how a record differs from the form that was last approved. Exit code 0 either way."""
    shelf = open_shelf(records_of(context))
    lines = changes(shelf, shelf.file(slug))
    if as_json:
        return print_json({"slug": slug, "state": shelf.state(slug).value, "diff": lines})
    if not lines:
        click.echo(f"{slug}: as approved")
    for line in lines:
        click.echo(click.style(line, fg=_COLOURS.get(line[:1])))
    return None


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def changes(shelf: Shelf, file: RecordFile) -> list[str]:
    """Return the difference between a record and its last approved form; a new record differs from nothing.

    Raises:
        LedgerError: the copy of the approved form is missing or altered.
    """
    approval = _approval(shelf, file.record.slug)
    if approval is not None and shelf.state(file.record.slug) is State.APPROVED:
        return []
    before: dict[str, Any] = read_snapshot(shelf.folder, approval.sha256) if approval else {}
    after = json.loads(canonical_form(file.record, file.fixtures))
    return difference(before, after, ("approved" if approval else "nothing", "now"))
