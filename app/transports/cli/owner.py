"""The owner's passphrase: set it, and say how it stands."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

from app.errors import PassphraseError
from app.owners import OWNERS
from app.passphrase import Lock, Standing, normalised, refuse_weak
from app.passphrasefile import FILE
from app.settings import Settings
from app.transports.cli.asking import ask_hidden, ask_until, tell
from app.transports.cli.printing import json_option, print_json, reports_errors, wrapped
from app.transports.cli.runtime import Runtime

_TRIES = 3


@click.group()
def owner() -> None:
    """Set the owner's passphrase, and see how it stands.

    Where one is set, approving, deprecating, creating keys and changing quotas ask for it on the terminal, whatever
    --yes says, so that an agent with a shell cannot do it through these commands. docs/approving.md says what it
    cannot keep such an agent from.
    """


@owner.command("set-passphrase")
@click.pass_obj
@reports_errors
def set_passphrase(runtime: Runtime) -> None:
    """Set the passphrase, or replace it, which asks for the old one first. Needs a terminal.

    It is stored as an Argon2id hash in CHATCTX_HOME, and owners.txt beside the records names it: commit that file.
    """
    settings = runtime.settings()
    lock = Lock(settings)
    before = lock.before_change()
    if before is not None:
        ask_until(lock, "Owner's passphrase as it is now: ", lambda text: lock.matches(before, text))
    text = _new_passphrase()
    with _uninterrupted():
        lock.replace(before, text)
    click.echo("The passphrase is set.")
    click.echo(_what_next(settings, lock.standing()))


@owner.command()
@json_option
@click.pass_obj
@reports_errors
def status(runtime: Runtime, as_json: bool) -> None:
    """Say whether a passphrase is set, how it is hashed, and whether the records name it.

    Exit code 1 when decisions are refused as things stand.
    """
    settings = runtime.settings()
    lock = Lock(settings)
    standing = lock.standing()
    if as_json:
        print_json(_as_json(settings, standing))
    else:
        for line in _told(settings, standing):
            click.echo(line)
    # Says why, if it does.
    _ = lock.is_set


def _new_passphrase() -> str:
    for _ in range(_TRIES):
        text = ask_hidden("New passphrase: ")
        try:
            refuse_weak(text)
        except PassphraseError as error:
            tell(error.message)
            continue
        if normalised(ask_hidden("The same again: ")) == normalised(text):
            return text
        tell("The two are not the same.")
    raise PassphraseError("No passphrase was set.")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while something is written: it is done or not done, and what is said of it is true."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _what_next(settings: Settings, standing: Standing) -> str:
    if standing.named:
        return f"{settings.records / OWNERS} names it: commit that file with the records."
    return f"The records do not name it. An owner adds this line to {settings.records / OWNERS}:\n{standing.line}"


def _told(settings: Settings, standing: Standing) -> Iterator[str]:
    stored = standing.stored
    if stored is None:
        yield "No passphrase is set here: who can run chatctx can approve. chatctx owner set-passphrase sets one."
    else:
        yield f"set in {settings.home / FILE}"
        yield f"Argon2id, {stored.memory_kib // 1024} MiB, {stored.passes} passes, {stored.lanes} lanes"
        yield _what_next(settings, standing)
    if settings.signing_key is None:
        yield wrapped(
            "Approvals are not signed (CHATCTX_SIGNING_KEY): who can write to the ledger can approve without the "
            "passphrase. See docs/approving.md.",
            0,
        )


def _as_json(settings: Settings, standing: Standing) -> dict[str, object]:
    stored = standing.stored
    return {
        "set": stored is not None,
        "memory_kib": stored and stored.memory_kib,
        "passes": stored and stored.passes,
        "lanes": stored and stored.lanes,
        "line": standing.line,
        "named": standing.named,
        "owners": standing.owners,
        "signs": settings.signing_key is not None,
    }
