"""What has to be looked at again, and why: sources, new majors, checks that fail, feedback that waits. Pure functions.

due(shelf, today, ...) -> list[Due]                 most urgent first
not_known(shelf, today, majors) -> NotKnown         the technologies whose newest major nobody has looked up lately

How often single records are used is kept nowhere, so that it cannot decide the order: feedback is what is known of use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any

from app.contract import FeedbackCategory
from app.ledger import Decision, State
from app.recordfile import RecordFile
from app.store.signals import FeedbackRow
from app.versions import Verdict, judge_version
from review.bench import Shelf
from review.feedback import groups, slugs_by_id
from review.gates import freshness
from review.majors import MAJORS, Major
from review.verifications import FILE, verified_on
from review.verify.execution import Outcome

# A major that was looked up longer ago may not be the newest any more.
LOOK_UP_AFTER = timedelta(days=92)


class Cause(StrEnum):
    """Why a record is due, in the order of urgency."""

    CHECK = "check"
    SOURCE = "source"
    VERSION = "version"
    FEEDBACK = "feedback"


@dataclass(frozen=True)
class Reason:
    """One reason to look at a record again.

    Attributes:
        since: the day it became one.
        words: one line for the owner.
    """

    cause: Cause
    since: date
    words: str


@dataclass(frozen=True)
class Waiting:
    """Feedback about a record that nobody has resolved: how often it was said, and since when."""

    times: int
    since: date


@dataclass(frozen=True)
class Due:
    """A record to look at again.

    Attributes:
        reasons: at least one, most urgent first.
        feedback: how often something was said about it that waits.
    """

    slug: str
    title: str
    state: State
    reasons: tuple[Reason, ...]
    feedback: int = 0


@dataclass(frozen=True)
class NotKnown:
    """What cannot be told of new majors.

    Attributes:
        missing: technologies that records are about and the table does not have.
        old: those that were looked up too long ago.
    """

    missing: tuple[str, ...]
    old: tuple[str, ...]


def due(
    shelf: Shelf,
    today: date,
    *,
    results: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    feedback: Mapping[str, Waiting] | None = None,
    majors: Mapping[str, Major] = MAJORS,
    ahead: timedelta = timedelta(0),
) -> list[Due]:
    """Return the records that are or were approved and have to be looked at again.

    Args:
        results: what was found when checks were run, by slug (`results_of`).
        feedback: what waits, by slug (`waiting`).
        ahead: how far to look into the future.
    """
    found = []
    for slug, file in shelf.files.items():
        if shelf.state(slug) not in (State.APPROVED, State.CHANGED):
            continue
        said = (feedback or {}).get(slug)
        reasons = [*_checks((results or {}).get(slug, ())), *_sources(shelf, file, today + ahead)]
        reasons += [*_versions(shelf, file, majors), *_feedback(said)]
        if reasons:
            ordered = tuple(sorted(reasons, key=_urgency))
            found.append(Due(slug, file.record.title, shelf.state(slug), ordered, said.times if said else 0))
    return sorted(found, key=lambda one: (_urgency(one.reasons[0])[0], -one.feedback, one.reasons[0].since, one.slug))


def not_known(shelf: Shelf, today: date, majors: Mapping[str, Major] = MAJORS) -> NotKnown:
    """Return the technologies of records for which a new major would not be noticed."""
    named = {entry.name for record in shelf.corpus().values() for entry in record.applies_to}
    old = sorted(name for name in named & majors.keys() if today - majors[name].looked_up > LOOK_UP_AFTER)
    return NotKnown(tuple(sorted(named - majors.keys())), tuple(old))


def results_of(shelf: Shelf) -> dict[str, list[dict[str, Any]]]:
    """Return the newest result of each check on exactly the text that lies in the folder. Reads verifications.jsonl."""
    path = shelf.folder / FILE
    return {slug: verified_on(path, slug, file.sha256) for slug, file in shelf.files.items() if file.record.checks}


def waiting(shelf: Shelf, entries: Iterable[FeedbackRow]) -> dict[str, Waiting]:
    """Return what waits about each record of the folder, praise apart."""
    found: dict[str, Waiting] = {}
    for group in groups(entries, slugs=slugs_by_id(shelf)):
        if group.record is not None and group.record in shelf.files and group.category != FeedbackCategory.HELPFUL:
            before = found.get(group.record, Waiting(0, group.since))
            found[group.record] = Waiting(before.times + group.times, min(before.since, group.since))
    return found


def _checks(results: Iterable[Mapping[str, Any]]) -> Iterator[Reason]:
    for result in results:
        if result["outcome"] == Outcome.FAILED.value:
            tool = f"{result['tool']} {result['version']}"
            yield Reason(Cause.CHECK, date.fromisoformat(result["date"]), f"check {result['check']} fails on {tool}")


def _feedback(said: Waiting | None) -> Iterator[Reason]:
    if said:
        yield Reason(Cause.FEEDBACK, said.since, f"something was said and waits, {said.times} times")


def _sources(shelf: Shelf, file: RecordFile, today: date) -> Iterator[Reason]:
    slug = file.record.slug
    waived = any(one.gate == freshness.GATE.id and one.slug == slug and one.until >= today for one in shelf.waivers)
    for place, source in enumerate(file.record.sources, start=1):
        since = source.retrieved + freshness.WARN_AFTER
        if since < today and not waived:
            last = f"source {place} was last read {source.retrieved}"
            refused = source.retrieved + freshness.REFUSE_AFTER
            yield Reason(Cause.SOURCE, since, f"{last}, refused after {refused}: {source.url}")


def _versions(shelf: Shelf, file: RecordFile, majors: Mapping[str, Major]) -> Iterator[Reason]:
    looked = _last_look(shelf, file)
    for entry in file.record.applies_to:
        major = majors.get(entry.name)
        if major is None or major.since is None or major.since <= looked:
            continue
        claim = "the record names no version"
        if entry.version_constraint and entry.scheme:
            verdict = judge_version(major.newest, entry.version_constraint, entry.scheme)
            claim = "the record counts it in" if verdict is Verdict.SATISFIED else "the record leaves it out"
        yield Reason(
            Cause.VERSION, major.since, f"{entry.name} {major.number} is out, {claim}; last looked at {looked}"
        )


def _last_look(shelf: Shelf, file: RecordFile) -> date:
    """Return the last day on which somebody looked at a record: its text, a source of it, or to approve it."""
    history = shelf.ledger.history(file.record.slug)
    approved = [one.decided_at.date() for one in history if one.decision is Decision.APPROVE]
    return max(file.record.updated, *(source.retrieved for source in file.record.sources), *approved)


def _urgency(reason: Reason) -> tuple[int, date]:
    return list(Cause).index(reason.cause), reason.since
