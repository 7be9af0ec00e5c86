"""`review publish`: bring what is approved into service."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from app.database import open_database
from app.embedding.factory import create_embedder
from app.transports.cli.asking import confirm_owner
from app.transports.cli.printing import json_option, print_json, reports_errors
from review.bench import open_shelf
from review.errors import Refused
from review.publish import (
    Choices,
    Published,
    accept_withdrawal,
    lines_of_unserved,
    publish,
    refuse_withdrawal,
    told_of,
)
from review.screen import Bar, counted, progress_bar, records_of, settings_of

_KINDS = ("added", "changed", "deprecated", "to_embed", "proved")
_VERBS = {
    "added": "add", "changed": "change", "deprecated": "deprecate", "to_embed": "embed",
    "proved": "tell another day of proof of",
}  # fmt: skip
_LISTED = 12


@click.command("publish")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--new-ledger", is_flag=True, help="Accept a ledger that does not continue the one last published from.")
@click.option("--allow-empty", is_flag=True, help="Accept that nothing will be served any more.")
@click.option(
    "--require-signatures", is_flag=True, help="Withhold what no allowed signer signed, whatever the settings say."
)
@click.option(
    "--allow-withdrawal", is_flag=True, help="Do not ask; let served records go whose approvals do not count."
)
@json_option
@click.pass_context
@reports_errors
def publish_command(
    context: click.Context, /, require_signatures: bool, allow_withdrawal: bool, as_json: bool, **choices: bool
) -> None:
    """Serve exactly the records that are approved as they stand.

    One transaction: a failure leaves what is served as it was, and publishing twice changes nothing. Records
    changed since their approval are withheld; those never approved are named. Exit code 3 when the database cannot
    be reached. Before served records go because their approvals do not count (any more), it names them and asks; where
    there is no terminal it is refused unless --allow-withdrawal is said.
    """
    settings = settings_of(context)
    if require_signatures:
        settings = settings.model_copy(update={"require_signatures": True})
    if choices["new_ledger"] and not choices["dry_run"]:
        confirm_owner(settings)
    shelf = open_shelf(records_of(context))
    with open_database(settings) as database, progress_bar("publishing") as bar:
        database.migrate()
        wanted = Choices(**choices, on_withdrawal=_on_withdrawal(bar, allowed=allow_withdrawal, asks=not as_json))
        published = publish(shelf, database.owner, create_embedder(settings), settings, wanted, bar.step)
    if as_json:
        print_json(as_json_object(published))
    else:
        print_published(published)


def _on_withdrawal(bar: Bar, *, allowed: bool, asks: bool) -> Callable[[Mapping[str, str]], None]:
    if allowed:
        return accept_withdrawal
    if not (asks and sys.stdin.isatty()):
        return refuse_withdrawal

    def ask(lost: Mapping[str, str]) -> None:
        with bar.hidden():
            click.echo(f"This would withdraw {told_of(lost)}\nEach is named by --dry-run.", err=True)
            if not click.confirm("Withdraw them?", err=True):
                raise Refused("Nothing was published.")

    return ask


def as_json_object(published: Published) -> dict[str, Any]:
    """Return what a publish did as JSON values."""
    kinds = {kind: list(_slugs(published, kind)) for kind in (*_KINDS, "unchanged")}
    chosen = published.selection
    return {
        "dry_run": published.dry_run,
        **kinds,
        "withheld": published.withheld,
        "not_approved": list(chosen.unapproved),
        "served": len(chosen.approved),
        "demo": chosen.demo,
        "ledger_head": chosen.ledger.head,
    }


def print_published(published: Published) -> None:
    """Print what a publish did, or would do."""
    for kind in _KINDS:
        slugs = _slugs(published, kind)
        if slugs:
            click.echo(f"{_VERBS[kind]} {len(slugs)}:")
            for slug in slugs[:_LISTED]:
                click.echo(f"  {slug}")
            if len(slugs) > _LISTED:
                click.echo(f"  and {len(slugs) - _LISTED} more")
    for line in lines_of_unserved(published):
        click.echo(line)
    click.echo(_outcome(published))


def _outcome(published: Published) -> str:
    served = counted({"record": len(published.selection.approved)})
    demo = ", a demonstration set" if published.selection.demo else ""
    if not published.dry_run:
        return f"serving {served}{demo}"
    asks = ", after asking (--allow-withdrawal): served records would go" if published.lost else ""
    return f"would serve {served}{demo}{asks}; nothing was changed"


def _slugs(published: Published, kind: str) -> tuple[str, ...]:
    slugs: tuple[str, ...] = published.deprecated if kind == "deprecated" else getattr(published.plan, kind)
    return slugs
