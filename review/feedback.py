"""What callers said, put together for the owner: by record and kind, what says the same as one. Pure functions.

groups(entries) -> list[Group]                     feedback that is settled by one decision
beside(shelf, group) -> Beside | None              the record it is about, with the passage it seems to mean
fixed_in(ledger, slug, version) -> str             the note that a fix leaves, if the ledger bears it out

Comments are strangers' text: whoever shows them passes them through `harmless`, says that they are quoted, and follows
nothing in them.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from app.contract import FeedbackOutcome
from app.ledger import Decision, Ledger, State
from app.lexical import analyse
from app.record import Record, record_id
from app.store.signals import FeedbackRow
from review.bench import Shelf
from review.errors import Refused
from review.feedback_words import gather

NOT_SAID = "not_said"
# Marks on one letter: languages need up to three, a pile of them paints over the lines around it.
_MARKS = 3


class Order(StrEnum):
    """What comes first."""

    OLDEST = "oldest"
    MOST = "most"


@dataclass(frozen=True)
class Group:
    """Feedback of one kind about one record that says the same.

    Attributes:
        record: slug of the record, or what the caller wrote in its place; None for none.
        entries: oldest first; at least one.
    """

    record: str | None
    category: str
    entries: tuple[FeedbackRow, ...]

    @property
    def key(self) -> UUID:
        """The id of its first entry, which stays while others join."""
        return self.entries[0].feedback_id

    @property
    def since(self) -> date:
        """Day of the first entry."""
        return self.entries[0].received_on

    @property
    def latest(self) -> date:
        """Day of the last entry."""
        return self.entries[-1].received_on

    @cached_property
    def times(self) -> int:
        """How often it was said, repetitions of a day included."""
        return sum(_times(entry) for entry in self.entries)

    @property
    def outcomes(self) -> dict[str, int]:
        """How often which outcome was told, `not_said` last; only what was told at all."""
        counts = Counter[str]()
        for entry in self.entries:
            counts[entry.caller_outcome or NOT_SAID] += _times(entry)
        return {name: counts[name] for name in (*FeedbackOutcome, NOT_SAID) if counts[name]}

    @property
    def versions(self) -> dict[str, dict[str, int]]:
        """How often which version was named, by technology."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for entry in self.entries:
            for name, version in entry.caller_versions.items():
                counts[name][version] += _times(entry)
        return {name: dict(sorted(counts[name].items())) for name in sorted(counts)}

    @property
    def comments(self) -> tuple[str, ...]:
        """Different comments, harmless to print, oldest first."""
        return tuple(dict.fromkeys(harmless(entry.comment) for entry in self.entries if entry.comment))


@dataclass(frozen=True)
class Beside:
    """The record that feedback is about.

    Attributes:
        version: how often it was approved; 0 for never.
        approved_on: day of the last approval.
        field: where the passage stands: `recommendation`, `pitfalls`, ...
        passage: the part that has most of the comments' words, the recommendation if none has any.
    """

    slug: str
    title: str
    state: State
    version: int
    approved_on: date | None
    field: str
    passage: str


def groups(
    entries: Iterable[FeedbackRow], *, order: Order = Order.OLDEST, slugs: Mapping[str, str] | None = None
) -> list[Group]:
    """Return feedback by record and kind, with what says the same as one group. The order of entries has no influence.

    Args:
        slugs: slug of each record by its id (`slugs_by_id`), for callers who name records by id.
    """
    names = slugs or {}
    shelves: defaultdict[tuple[str, str], list[FeedbackRow]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: (entry.received_on, entry.feedback_id)):
        name = entry.record or ""
        shelves[names.get(name, name), entry.category].append(entry)
    found = [
        Group(record or None, category, tuple(kept[place] for place in places))
        for (record, category), kept in shelves.items()
        for places in gather([entry.comment or "" for entry in kept])
    ]
    return sorted(found, key=_by_times if order is Order.MOST else _by_age)


def group_of(found: Iterable[Group], feedback_id: UUID) -> Group | None:
    """Return the group that an entry is in, None for an entry that does not wait."""
    return next((group for group in found if any(entry.feedback_id == feedback_id for entry in group.entries)), None)


def slugs_by_id(shelf: Shelf) -> dict[str, str]:
    """Return the slug of every record of the folder by its id."""
    return {str(record_id(slug)): slug for slug in shelf.files}


def beside(shelf: Shelf, group: Group) -> Beside | None:
    """Return the record that a group is about, None where the folder has no such record that can be read."""
    slug = slugs_by_id(shelf).get(group.record or "", group.record or "")
    if slug not in shelf.files:
        return None
    record = shelf.files[slug].record
    approvals = [entry for entry in shelf.ledger.history(slug) if entry.decision is Decision.APPROVE]
    field, passage = _passage(record, group.comments)
    approved_on = approvals[-1].decided_at.date() if approvals else None
    return Beside(slug, record.title, shelf.state(slug), len(approvals), approved_on, field, passage)


def fixed_in(ledger: Ledger, slug: str, version: int) -> str:
    """Return the note for feedback that a version of a record settles. Raises Refused when there is no such version."""
    approved = ledger.content_version(slug)
    if not 1 <= version <= approved:
        has = f"the last is {approved}" if approved else "it was never approved"
        raise Refused(f"The ledger knows no version {version} of this record: {has}. Approve the fix first.")
    return f"fixed in version {version} of {slug}"


def harmless(text: str | None) -> str:
    """Return a stranger's text on one line, without anything that a terminal would obey or that hides."""
    shown, marks = [], 0
    for character in text or "":
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        if marks <= _MARKS:
            shown.append(character if character.isprintable() else " ")
    return " ".join("".join(shown).split())


def _times(entry: FeedbackRow) -> int:
    return 1 + entry.repeats


def _by_age(group: Group) -> tuple[object, ...]:
    return group.since, -group.times, group.key


def _by_times(group: Group) -> tuple[object, ...]:
    return -group.times, group.since, group.key


def _passage(record: Record, comments: Sequence[str]) -> tuple[str, str]:
    """Return the part of a record that has most of the comments' words; a word that every part has tells nothing."""
    said = {term for comment in comments for term in analyse(comment)}
    parts = [(field, text, said.intersection(analyse(text))) for field, text in _parts(record)]
    spread = Counter(term for _, _, terms in parts for term in terms)
    field, text, _ = max(parts, key=lambda part: sum(1 / spread[term] for term in part[2]))
    return field, " ".join(text.split())


def _parts(record: Record) -> Iterator[tuple[str, str]]:
    """Yield what a comment can be about; of equals the first counts, so the recommendation comes first."""
    yield "recommendation", record.recommendation
    for field in ("summary", "rationale", "examples"):
        if text := getattr(record, field):
            yield field, text
    for field in ("conditions", "exceptions", "pitfalls", "verification_checks"):
        yield from ((field, text) for text in getattr(record, field))
    for source in record.sources:
        yield "sources", f"{source.title}: {source.url} ({source.locator})"
