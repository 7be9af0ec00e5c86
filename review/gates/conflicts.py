"""Two served records never tell an agent opposite things about the same technology and version."""

from __future__ import annotations

from collections.abc import Iterator

from app.lexical import analyse
from app.record import Record
from app.technologies import foundations, technology_key
from review.directives import opposite
from review.gates import Context, Finding, Gate, error, pair_key, warning
from review.gates.duplicates import word_overlap
from review.ranges import overlap

# Opposite clauses only count between records on one subject.
_NEAR_COSINE = 0.60
_NEAR_WORDS = 0.18
_SURE_WORDS = 2
_REFERENCES = "conflicts_with"


def check(record: Record, context: Context) -> Iterator[Finding]:
    """References to other records hold, and no other record advises the opposite where both apply."""
    yield from _reference_findings(record, context)
    settled = {record.slug, *record.supersedes, *record.conflicts_with}
    for other in context.corpus.values():
        if other.slug in settled or record.slug in (*other.supersedes, *other.conflicts_with):
            continue
        if _meet(record, other) and _same_subject(record, other, context):
            yield from _opposite_findings(record, other)


def _reference_findings(record: Record, context: Context) -> Iterator[Finding]:
    for slug in record.supersedes:
        other = context.corpus.get(slug)
        if other is None:
            yield error(f"supersedes {slug}, which does not exist", "correct the slug or remove it", at="supersedes")
        elif record.slug in other.supersedes:
            yield error(f"supersedes {slug}, which supersedes it in turn", "keep one of the two", at="supersedes")
    yield from _conflict_references(record, context)


def _conflict_references(record: Record, context: Context) -> Iterator[Finding]:
    for slug in record.conflicts_with:
        other = context.corpus.get(slug)
        if other is None:
            yield error(
                f"conflicts_with names {slug}, which does not exist", "correct the slug or remove it", at=_REFERENCES
            )
        elif record.slug not in other.conflicts_with:
            yield error(
                f"conflicts_with names {slug}, which does not name it back",
                f"add {record.slug} to its conflicts_with",
                at=_REFERENCES,
            )
    for other in context.corpus.values():
        if record.slug in other.conflicts_with and other.slug not in record.conflicts_with:
            yield error(
                f"{other.slug} names it in conflicts_with, but not the reverse",
                f"add {other.slug} to conflicts_with",
                at=_REFERENCES,
            )


def _opposite_findings(record: Record, other: Record) -> Iterator[Finding]:
    technologies = frozenset(analyse(" ".join(entry.name for entry in (*record.applies_to, *other.applies_to))))
    words = opposite(record, other, technologies)
    remedy = "narrow one of them by conditions or versions, supersede one, or name both in conflicts_with"
    if len(words) >= _SURE_WORDS:
        yield error(f"advises the opposite of {other.slug} ({', '.join(words)})", remedy, at="recommendation")
    elif words:
        yield warning(f"may advise the opposite of {other.slug} ({', '.join(words)})", remedy, at="recommendation")


def _meet(one: Record, other: Record) -> bool:
    """Tell whether an agent can be in a place where both records apply."""
    if not one.applies_to or not other.applies_to:
        return True
    for first in one.applies_to:
        for second in other.applies_to:
            here, there = technology_key(first.name), technology_key(second.name)
            if here == there and overlap(first, second):
                return True
            if here in foundations(there) or there in foundations(here):
                return True
    return False


def _same_subject(one: Record, other: Record, context: Context) -> bool:
    if word_overlap(one, other) >= _NEAR_WORDS:
        return True
    return (context.similarity or {}).get(pair_key(one.slug, other.slug), 0.0) >= _NEAR_COSINE


GATE = Gate(
    "conflicts", "No two served records advise the opposite where both apply; references between records hold.", check
)
