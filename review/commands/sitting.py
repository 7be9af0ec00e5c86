"""The desk, and what it does as commands: `review`, `review queue`, `reject`, `defer`, `reopen`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from threading import Lock

import click

from app.embedding.factory import create_embedder
from app.errors import EmbeddingFailure
from app.settings import Settings
from app.transports.cli.printing import json_option, print_json, print_table, reports_errors
from review.bench import Shelf
from review.desk.mailbox import open_mailbox
from review.desk.office import DEFER_DAYS, Office
from review.desk.queue import Item
from review.errors import InvalidDecision, Refused, wrong_usage
from review.likeness import VectorCache, cache_path, pairwise_cosine
from review.screen import settings_of
from review.trial import Ask, Placed, questions_about, trial

_by_option = click.option("--by", help="In whose name. Default: your login.")


@reports_errors
def sit_down(context: click.Context) -> None:
    """Open the desk on a terminal; elsewhere show what commands there are."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo(context.get_help())
        return
    # The screen library takes as long to load as all of the rest.
    from review.desk.app import Desk  # noqa: PLC0415

    office = Office(settings_of(context))
    office.look()
    with _trials(office.settings) as ask, ExitStack() as kept:
        Desk(office, prepare=_compare, trial=ask, listen=partial(_listen, kept)).run()


@click.command("queue")
@json_option
@click.pass_context
@reports_errors
def queue_command(context: click.Context, as_json: bool) -> None:
    """List what waits for a decision, most urgent first. Exit code 0 either way."""
    _, items = Office(settings_of(context)).look()
    if as_json:
        return print_json([asdict(item) | {"kind": item.kind.value} for item in items])
    if not items:
        click.echo("nothing waits")
        return None
    print_table(("kind", "record", "why"), [(item.kind.value, item.slug or item.key, item.why) for item in items])
    return None


@click.command("reject")
@click.argument("slug")
@click.option("--reason", required=True, help="Why; kept in reviews.jsonl.")
@_by_option
@json_option
@click.pass_context
@reports_errors
def reject_command(context: click.Context, slug: str, reason: str, by: str | None, as_json: bool) -> None:
    """Set a waiting record aside as it stands. It comes up again when it is edited."""
    office, item = _office_for(context, slug, by)
    try:
        office.reject(item, reason)
    except InvalidDecision as error:
        raise wrong_usage(error.message) from None
    _tell(item, "rejected until it is edited", as_json=as_json)


@click.command("defer")
@click.argument("slug")
@click.option("--days", type=click.IntRange(1, 365), default=DEFER_DAYS, show_default=True, help="For how long.")
@_by_option
@json_option
@click.pass_context
@reports_errors
def defer_command(context: click.Context, slug: str, days: int, by: str | None, as_json: bool) -> None:
    """Set a waiting record aside for some days, or until it is edited."""
    office, item = _office_for(context, slug, by)
    _tell(item, f"deferred until {office.defer(item, days)}", as_json=as_json)


@click.command("reopen")
@click.argument("slug")
@_by_option
@json_option
@click.pass_context
@reports_errors
def reopen_command(context: click.Context, slug: str, by: str | None, as_json: bool) -> None:
    """Let a record that was rejected, deferred or taken out of service wait for a decision again."""
    office = _office(context, by)
    item = office.reopen(slug)
    _tell(item, "waits again", as_json=as_json)


def _office(context: click.Context, by: str | None) -> Office:
    settings = settings_of(context)
    return Office(settings, by) if by is not None else Office(settings)


def _office_for(context: click.Context, slug: str, by: str | None) -> tuple[Office, Item]:
    office = _office(context, by)
    shelf, items = office.look()
    item = next((item for item in items if item.slug == slug), None)
    if item is None:
        if slug not in shelf.broken:
            shelf.file(slug)
        raise Refused(f"{slug} does not wait for a decision: see chatctx review queue.")
    return office, item


def _tell(item: Item, what: str, *, as_json: bool) -> None:
    if as_json:
        return print_json({"slug": item.slug, "kind": item.kind.value, "done": what})
    click.echo(f"{item.slug or item.key}: {what}")
    return None


def _listen(kept: ExitStack, office: Office) -> None:
    """Open the database for as long as the sitting lasts. Raises Unavailable, ClusterError."""
    office.mailbox = kept.enter_context(open_mailbox(office.settings))


def _compare(office: Office, shelf: Shelf) -> None:
    """Give the office how near records are in meaning; without a model it judges by words."""
    embedder = create_embedder(office.settings)
    if embedder is None:
        return
    try:
        cache = VectorCache(cache_path(office.settings.home, embedder))
        office.similarity = pairwise_cosine(shelf.corpus().values(), embedder, cache=cache)
    except EmbeddingFailure:
        return


@contextmanager
def _trials(settings: Settings) -> Iterator[Callable[[Shelf, str], list[Placed]]]:
    """Lend what asks the questions about a record; the scratch database is kept while the folder is the same."""
    with ExitStack() as kept:
        lock = Lock()
        open_now: dict[frozenset[tuple[str, str]], Ask] = {}

        def ask(shelf: Shelf, slug: str) -> list[Placed]:
            questions = questions_about(slug)
            if not questions:
                return []
            folder = frozenset((name, file.sha256) for name, file in shelf.files.items())
            with lock:
                if folder not in open_now:
                    kept.close()
                    open_now.clear()
                    embedder = create_embedder(settings)
                    cache = VectorCache(settings.home / "review" / "trial.npz") if embedder else None
                    open_now[folder] = kept.enter_context(trial(shelf, embedder, cache))
                return [open_now[folder](question) for question in questions]

        yield ask
