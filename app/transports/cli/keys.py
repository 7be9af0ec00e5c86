"""API keys, from the owner's side."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

import click

from app.errors import InvalidInput
from app.transports.cli.asking import confirm_owner
from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, print_table, reports_errors
from app.transports.cli.runtime import Runtime

_LABEL_MAX = 100
_QUOTA = click.IntRange(0, 100_000_000)


@click.group()
def keys() -> None:
    """Create, list and revoke API keys.

    Creating one and changing a quota ask for the owner's passphrase where one is set. Revoking does not: it only takes
    away, and must be quick.
    """


@keys.command()
@click.option("--label", required=True, help="Whom or what the key is for; shown in the list.")
@click.option("--quota", type=_QUOTA, help="Tool calls per UTC day; without it the server's default.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the key to a new file, readable by you alone."
)
@click.pass_obj
@reports_errors
def create(runtime: Runtime, label: str, quota: int | None, out: Path | None) -> None:
    """Create a key. It is shown once and cannot be had again.

    It is refused to a pipe, where it might end in a log: use --out.
    """
    if not 1 <= len(label) <= _LABEL_MAX or not label.isprintable():
        raise InvalidInput(f"--label takes 1 to {_LABEL_MAX} printable characters.")
    if out is None and not sys.stdout.isatty():
        raise InvalidInput("A key is shown on a terminal only. Write it to a file with --out FILE.")
    confirm_owner(runtime.settings())
    if out is None:
        click.echo(_new_key(runtime, label, quota))
        click.echo("\nThis key is shown once. Send it as: Authorization: Bearer <key>")
        return
    with _new_private_file(out) as file:
        file.write(f"{_new_key(runtime, label, quota)}\n")
    click.echo(f"Key written to {out}")


@keys.command("list")
@json_option
@click.pass_obj
@reports_errors
def listing(runtime: Runtime, as_json: bool) -> None:
    """List keys, never their secrets."""
    with runtime.key_administration() as administration:
        lines = administration.listing()
    if as_json:
        return print_json([asdict(line) for line in lines])
    rows = [
        (
            line.key_id,
            "revoked" if line.revoked else "works",
            "default" if line.daily_quota is None else line.daily_quota,
            line.created_on,
            line.last_used_on or "never",
            line.pepper_id,
            line.label,
        )
        for line in lines
    ]
    heading = ("key", "state", "calls a day", "created", "last used", "pepper", "label")
    print_table(heading, rows) if rows else click.echo("No keys.")
    return None


@keys.command()
@click.argument("key_id")
@click.pass_obj
@reports_errors
def revoke(runtime: Runtime, key_id: str) -> None:
    """Revoke a key by its id; it stops working with the next call."""
    with runtime.key_administration() as administration:
        done = administration.revoke(_id_of(key_id))
    _conclude(done, "Revoked.", "No working key has this id: see chatctx keys list.")


@keys.command()
@click.argument("key_id")
@click.argument("calls", type=_QUOTA, required=False)
@click.pass_obj
@reports_errors
def quota(runtime: Runtime, key_id: str, calls: int | None) -> None:
    """Set a key's tool calls per UTC day; without CALLS it gets the server's default again."""
    confirm_owner(runtime.settings())
    with runtime.key_administration() as administration:
        done = administration.set_quota(_id_of(key_id), calls)
    _conclude(done, "Quota set.", "No key has this id: see chatctx keys list.")


def _conclude(done: bool, success: str, failure: str) -> None:
    click.echo(success if done else failure, err=not done)
    if not done:
        raise SystemExit(EXIT_REFUSED)


def _id_of(text: str) -> str:
    """Accept a whole key or its beginning where an id is asked: a leaked key is revoked by pasting it."""
    parts = text.split("_")
    return parts[2] if text.startswith("kb_") and len(parts) >= 3 else text  # noqa: PLR2004 - kb, live, id


def _new_key(runtime: Runtime, label: str, quota: int | None) -> str:
    with runtime.key_administration() as administration:
        return administration.create(label, quota)


@contextmanager
def _new_private_file(path: Path) -> Iterator[TextIO]:
    """Lend a new file, opened before the key is minted, so that no key is lost to a file that cannot be written.

    It is removed again when no key comes of it, so that the same command can be tried again.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput(f"--out cannot be created: {error.strerror}.") from error
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise
