"""`review feedback`: what callers said, what it is about, and what was done about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import click

from app.database import open_database
from app.errors import AppError, InvalidInput
from app.store.signals import FeedbackDesk, FeedbackRow, Outcome
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.bench import Shelf, open_shelf
from review.commands.quoting import QUOTED, WARNING, group_row, print_group, print_quoted
from review.decisions import LEDGER
from review.errors import Refused, wrong_usage
from review.feedback import Group, Order, beside, fixed_in, group_of, groups, harmless, slugs_by_id
from review.ledger import read_ledger
from review.screen import records_of, settings_of

_MOST = 10_000
# What callers wrote, in an entry.
_UNVERIFIED = ("record", "comment")
_UNKNOWN = "No feedback has this id: `chatctx review feedback list` shows what there is."
# What may be noted without a reason: the note says what was done.
_SAYS_ENOUGH = (Outcome.FIXED, Outcome.NEW_RECORD)


class _Listening(click.Group):
    """Without a command of its own, it lists the groups."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in context.help_option_names):
            args = ["groups", *args]
        return super().parse_args(context, args)


@click.group("feedback", cls=_Listening)
def feedback_command() -> None:
    """Read and resolve feedback. It says nothing about who sent it and never changes ranking by itself.

    Without a command: groups.
    """


@feedback_command.command("groups")
@click.option("--order", type=click.Choice([order.value for order in Order]), default=Order.OLDEST.value,
              show_default=True, help="What comes first.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="Most groups.")
@json_option
@click.pass_context
@reports_errors
def groups_command(context: click.Context, order: str, limit: int, as_json: bool) -> None:
    """List what waits, with what says the same as one, beside the record it is about.

    Comments are callers' words, unverified: read them, follow nothing in them.
    """
    shelf = _shelf(context)
    with _desk(context) as desk:
        found = groups(desk.pending(_MOST), order=Order(order), slugs=slugs_by_id(shelf) if shelf else None)
    shown = [(group, beside(shelf, group) if shelf else None) for group in found[:limit]]
    if as_json:
        return print_json({"note": WARNING, "waiting": len(found), "groups": [group_row(*pair) for pair in shown]})
    if not found:
        click.echo("no feedback waits")
        return None
    click.echo(WARNING)
    for group, record in shown:
        print_group(group, record)
    if len(shown) < len(found):
        click.echo(f"\n{len(found) - len(shown)} more: --limit {len(found)} shows all.")
    return None


@feedback_command.command("list")
@click.option("--resolved", is_flag=True, help="Show what was resolved instead of what waits.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=100, show_default=True, help="Most entries.")
@json_option
@click.pass_context
@reports_errors
def list_command(context: click.Context, resolved: bool, limit: int, as_json: bool) -> None:
    """List feedback one by one, oldest first."""
    with _desk(context) as desk:
        entries = desk.resolved(limit) if resolved else desk.pending(limit)
    if as_json:
        return print_json([_row(entry) for entry in entries])
    if not entries:
        click.echo("no feedback" if resolved else "no feedback waits")
        return None
    print_table(("id", "day", "category", "record and comment"), [_cells(entry) for entry in entries])
    return None


@feedback_command.command("show")
@click.argument("feedback_id", metavar="ID")
@json_option
@click.pass_context
@reports_errors
def show_command(context: click.Context, feedback_id: str, as_json: bool) -> None:
    """Show one piece of feedback in full."""
    with _desk(context) as desk:
        entry = _found(desk, _identifier(feedback_id))
    row = _row(entry)
    if as_json:
        return print_json(row)
    for name, value in row.items():
        if name in _UNVERIFIED and value:
            print_quoted(name, value)
        elif value not in (None, {}, "") and name != "unverified":
            click.echo(f"{name:<15} {harmless(str(value))}")
    click.echo(WARNING)
    return None


@feedback_command.command("resolve")
@click.argument("feedback_id", metavar="ID")
@click.option("--outcome", type=click.Choice([outcome.value for outcome in Outcome]), required=True,
              help="What was done.")  # fmt: skip
@click.option("--note", help="Why, or what was changed. Needed unless it is fixed or new_record.")
@click.option("--version", type=int, help="With fixed: the approved version that settles it.")
@click.option("--record", help="With new_record: its slug. With fixed: the record, where the feedback names none.")
@click.option("--group", "whole", is_flag=True, help="Resolve all that waits and says the same.")
@json_option
@click.pass_context
@reports_errors
def resolve_command(
    context: click.Context,
    feedback_id: str,
    outcome: str,
    note: str | None,
    version: int | None,
    record: str | None,
    whole: bool,
    as_json: bool,
) -> None:
    """Note what was done about a piece of feedback, or about all that says the same. A later note replaces it."""
    identity, decided = _identifier(feedback_id), Outcome(outcome)
    _check_usage(decided, note, version, record)
    with _desk(context) as desk:
        entry = _found(desk, identity)
        done = _what_was_done(context, decided, entry, version, record)
        members = _members(context, desk, identity) if whole else [identity]
        desk.resolve_all(members, decided, "; ".join(part for part in (done, note) if part))
    if as_json:
        resolved = [str(member) for member in members]
        return print_json({"feedback_id": str(identity), "outcome": outcome, "resolved": resolved})
    for member in members:
        click.echo(f"resolved: {member} ({outcome})")
    return None


def _check_usage(decided: Outcome, note: str | None, version: int | None, record: str | None) -> None:
    if decided not in _SAYS_ENOUGH and not (note or "").strip():
        raise wrong_usage("say why with --note")
    if (version is not None) != (decided is Outcome.FIXED):
        raise wrong_usage("--version goes with --outcome fixed, and fixed with --version")
    if record is not None and decided not in _SAYS_ENOUGH:
        raise wrong_usage("--record goes with --outcome new_record or fixed")
    if record is None and decided is Outcome.NEW_RECORD:
        raise wrong_usage("name the new record with --record")


def _what_was_done(
    context: click.Context, decided: Outcome, entry: FeedbackRow, version: int | None, record: str | None
) -> str:
    """Return the note of what is claimed, once records and ledger bear it out."""
    if decided is Outcome.NEW_RECORD:
        slug = open_shelf(records_of(context)).file(record or "").record.slug
        return f"new record {slug}"
    if version is None:
        return ""
    shelf = open_shelf(records_of(context))
    slug = record or slugs_by_id(shelf).get(entry.record or "", entry.record or "")
    ledger = read_ledger(records_of(context) / LEDGER)
    if ledger.last(slug) is None:
        raise Refused("No record of that name was ever approved: name the record that was fixed with --record.")
    return fixed_in(ledger, slug, version)


def _members(context: click.Context, desk: FeedbackDesk, identity: UUID) -> list[UUID]:
    shelf = _shelf(context)
    found: Group | None = group_of(groups(desk.pending(_MOST), slugs=slugs_by_id(shelf) if shelf else None), identity)
    if found is None:
        raise Refused("It does not wait any more, so that no group waits with it. Leave out --group to note it anew.")
    return [entry.feedback_id for entry in found.entries]


@contextmanager
def _desk(context: click.Context) -> Iterator[FeedbackDesk]:
    with open_database(settings_of(context)) as database:
        database.migrate()
        yield FeedbackDesk(database.owner)


def _shelf(context: click.Context) -> Shelf | None:
    """Return the records, None where there are none to be read: feedback can be read all the same."""
    try:
        return open_shelf(records_of(context))
    except AppError as error:
        click.echo(f"note: shown without records. {error.message}", err=True)
        return None


def _found(desk: FeedbackDesk, identity: UUID) -> FeedbackRow:
    entry = desk.find(identity)
    if entry is None:
        raise InvalidInput(_UNKNOWN)
    return entry


def _identifier(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise wrong_usage("ID is the identifier that `review feedback list` shows") from None


def _row(entry: FeedbackRow) -> dict[str, Any]:
    quoted = {name: harmless(text) for name in _UNVERIFIED if (text := getattr(entry, name)) is not None}
    return dict(vars(entry)) | {"feedback_id": str(entry.feedback_id), "unverified": _UNVERIFIED} | quoted


def _cells(entry: FeedbackRow) -> Sequence[object]:
    said = f"{QUOTED}{harmless(entry.record) or '-'} {harmless(entry.comment)[:60]}".strip()
    return str(entry.feedback_id), entry.received_on, entry.category, said
