"""A claim that its sources do not carry is an opinion, however good."""

from __future__ import annotations

from collections.abc import Iterator

from app.lexical import analyse
from app.record import Confidence, Record, Relation, Source
from review.gates import Context, Finding, Gate, error, warning

_CARRIES = (Relation.SUPPORTS, Relation.DEFINES)
# Content words an excerpt and the record must have in common before they can be about the same thing.
_SHARED_WORDS_ERROR = 1
_SHARED_WORDS_WARNING = 3
_VAGUE_LOCATORS = frozenset(
    {"top", "page", "home", "homepage", "introduction page", "whole page", "n/a", "none", "-", "various"}
)


def check(record: Record, _context: Context) -> Iterator[Finding]:
    """Every record has a source that supports it, found at a named place and about the same thing."""
    if not any(source.relation in _CARRIES for source in record.sources):
        yield error(
            "no source supports or defines the recommendation",
            "add one that does, or lower the claim to what is said",
            at="sources",
        )
    if _is_contradicted(record) and not (record.exceptions or record.conditions):
        yield error(
            "a source contradicts the advice and nothing limits it",
            "say under Exceptions when the other view holds",
            at="sources",
        )
    if record.confidence is Confidence.HIGH and _is_contradicted(record):
        yield warning(
            "confidence is high although a source contradicts it",
            "set medium, or give the reason in the note",
            at="confidence",
        )
    claim = frozenset(analyse(_claim(record)))
    for place, source in enumerate(record.sources, start=1):
        yield from _weak_source(place, source, record, claim)


def _weak_source(place: int, source: Source, record: Record, claim: frozenset[str]) -> Iterator[Finding]:
    excerpt = f"source {place} evidence_excerpt"
    if source.locator.casefold().strip(" .") in _VAGUE_LOCATORS:
        yield error(
            f"source {place}: the locator names no place",
            "give the heading or anchor at which the claim is read",
            at=f"source {place} locator",
        )
    if _folded(source.evidence_excerpt) in (
        _folded(source.title),
        _folded(record.title),
        _folded(record.recommendation),
    ):
        yield error(
            f"source {place}: the excerpt repeats a title or the advice",
            "state in a sentence what the source says there",
            at=excerpt,
        )
    shared = len(claim & frozenset(analyse(source.evidence_excerpt)))
    if shared < _SHARED_WORDS_ERROR:
        yield error(
            f"source {place}: the excerpt shares no word with the record",
            "excerpt the passage that carries the claim",
            at=excerpt,
        )
    elif shared < _SHARED_WORDS_WARNING:
        yield warning(
            f"source {place}: the excerpt shares {shared} words with the record",
            "check that it carries this claim",
            at=excerpt,
        )


def _is_contradicted(record: Record) -> bool:
    return any(source.relation is Relation.CONTRADICTS for source in record.sources)


def _claim(record: Record) -> str:
    limits = (*record.conditions, *record.exceptions, *record.pitfalls)
    return " ".join((record.title, record.summary, record.recommendation, record.rationale, *limits))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


GATE = Gate("evidence", "The advice is carried by sources, each at a named place and about the same thing.", check)
