"""What waits for the owner, as a list: pure, from the shelf and from what else there is to tell."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from uuid import UUID

from review.bench import Shelf
from review.journal import Aside, Remark, hides
from review.ledger import State
from review.screen import today
from review.stale import Due, due, results_of


class Kind(StrEnum):
    """Why something is in the queue, in the order of urgency."""

    BROKEN = "broken"
    CHANGED = "changed"
    NEW = "new"
    FEEDBACK = "feedback"
    STALE = "stale"
    GAP = "gap"


@dataclass(frozen=True)
class Item:
    """One thing that waits.

    Attributes:
        key: names it in the journal.
        slug: the record it is about, None for a gap.
        form: hash of the text it is about, empty where there is none.
        why: one line for the owner.
        details: more lines, shown when it is opened.
        members: ids of the feedback behind it.
    """

    kind: Kind
    key: str
    slug: str | None
    title: str
    why: str
    form: str = ""
    details: tuple[str, ...] = ()
    members: tuple[UUID, ...] = ()


def stale_items(shelf: Shelf) -> list[Item]:
    """Return the approved records that have to be looked at again, each with the reasons."""
    found = due(shelf, today(), results=results_of(shelf))
    return [_stale(shelf, one) for one in found if one.state is State.APPROVED]


def queue(shelf: Shelf, journal: Mapping[tuple[str, str], Remark], day: date, extra: Iterable[Item] = ()) -> list[Item]:
    """Return what waits: by urgency, then by name. What was rejected or deferred in this very form is left out.

    Args:
        journal: the last remark about each thing (`review.journal.latest`).
        extra: what does not come from the record files: feedback, gaps, what is due.
    """
    order = list(Kind)
    waiting = [item for item in _records(shelf, journal) if not hides(journal.get((item.key, item.form)), day)]
    waiting += [item for item in extra if not hides(journal.get((item.key, item.form)), day)]
    return sorted(waiting, key=lambda item: (order.index(item.kind), item.key))


def _records(shelf: Shelf, journal: Mapping[tuple[str, str], Remark]) -> Iterator[Item]:
    for slug, failure in shelf.broken.items():
        yield Item(Kind.BROKEN, f"record/{slug}", slug, slug, failure.message)
    for slug, file in shelf.files.items():
        state, key = shelf.state(slug), f"record/{slug}"
        if state is State.NEW:
            yield Item(Kind.NEW, key, slug, file.record.title, "never approved", file.sha256)
        elif state is State.CHANGED:
            yield Item(Kind.CHANGED, key, slug, file.record.title, "changed since its approval", file.sha256)
        elif state is State.DEPRECATED and _was_reopened(journal.get((key, file.sha256))):
            yield Item(Kind.NEW, key, slug, file.record.title, "out of service, opened again", file.sha256)


def _stale(shelf: Shelf, one: Due) -> Item:
    reasons = tuple(f"{reason.cause.value}: {reason.words} (since {reason.since})" for reason in one.reasons)
    # Another reason, or another text, brings it up again.
    form = hashlib.sha256("\0".join((shelf.files[one.slug].sha256, *reasons)).encode()).hexdigest()
    return Item(Kind.STALE, f"stale/{one.slug}", one.slug, one.title, reasons[0], form, reasons)


def _was_reopened(remark: Remark | None) -> bool:
    return remark is not None and remark.action is Aside.REOPEN
