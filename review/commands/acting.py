"""`review actions`: what owners did to keys, publication and feedback."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from app.database import open_database
from app.store.actions import owner_actions
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.screen import settings_of


@click.command("actions")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Most actions.")
@json_option
@click.pass_context
@reports_errors
def actions_command(context: click.Context, limit: int, as_json: bool) -> None:
    """List what owners did to keys, publication and feedback, newest first.

    The database notes it by itself, in the transaction that does it, and lets nobody change it. Decisions about
    records are in the ledger: see history.
    """
    with open_database(settings_of(context)) as database:
        database.migrate()
        actions = owner_actions(database.owner, limit)
    if as_json:
        return print_json([asdict(action) | {"at": action.at.isoformat()} for action in actions])
    if not actions:
        click.echo("nothing was done yet")
        return None
    rows = [
        (f"{action.at:%Y-%m-%d %H:%M}", action.action, action.subject, action.login, _told(action.detail))
        for action in actions
    ]
    print_table(("time (UTC)", "action", "of", "login", "before and after"), rows)
    return None


def _told(detail: dict[str, list[object]]) -> str:
    changed = {name: pair for name, pair in detail.items() if pair[0] != pair[1]}
    return ", ".join(f"{name} {json.dumps(before)} to {json.dumps(after)}" for name, (before, after) in changed.items())
