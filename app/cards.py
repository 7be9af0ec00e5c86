"""Cards: a published record as an answer carries it, at each detail, and the poorer cards it can shrink to.

The contract's keys are always there. A list that detail or budget left out is empty and named in `omitted`, so that
"no exceptions" and "exceptions not shown" cannot be confused. Texts need no naming: every record has them, so that one
which is not there was left out. No fact is said twice in a card.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from app.applicability import Finding, Judgement
from app.contract import Applicability, Detail
from app.ports import PublishedRecord
from app.record import Record, Source

Card = dict[str, Any]

# What each detail leaves out, in the words of the contract's fields.
_LEFT_OUT: dict[Detail, tuple[str, ...]] = {
    Detail.BRIEF: ("summary", "rationale", "exceptions", "pitfalls", "verification_checks"),
    Detail.STANDARD: (),
    Detail.FULL: (),
}
# A recommendation cut shorter than this says too little to weigh against anything else in an answer.
READABLE_CHARACTERS = 160
_TEXTS = ("summary", "rationale")
# Given up first when an answer must shrink: what matters least before acting goes first, what guards against misuse
# last.
_GIVEN_UP = (*_TEXTS, "verification_checks", "pitfalls", "sources", "exceptions", "conditions")


def search_card(published: PublishedRecord, judgement: Judgement | None, detail: Detail) -> Card:
    """Return a result of search_knowledge."""
    card = _card(published, detail)
    if judgement and judgement.findings:
        card["applicability"] = [_finding(finding) for finding in _telling(judgement)]
    return card


def guidance_card(published: PublishedRecord, detail: Detail) -> Card:
    """Return a result of get_guidance: the whole record with its standing, or the brief card with it."""
    record = published.record
    card = _card(published, detail)
    card |= {
        "status": "approved",
        "content_version": published.content_version,
        "approved_at": published.approved_at.isoformat().replace("+00:00", "Z"),
        "version_constraints": {
            entry.name: entry.version_constraint for entry in record.applies_to if entry.version_constraint
        },
    }
    if detail is Detail.FULL and record.examples:
        card["examples"] = record.examples
    return card


def poorer_cards(card: Card) -> Iterator[Card]:
    """Yield ever smaller versions of a search card, each with what it omits named."""
    current = {key: value for key, value in card.items() if key != "verified_on"}
    if current != card:
        yield current
    if len(card["sources"]) > 1 or any("evidence_excerpt" in source for source in card["sources"]):
        current = {**current, "sources": [_short_source(source) for source in card["sources"][:1]]}
        yield current
    for field in _GIVEN_UP:
        if current.get(field):
            current = _without(current, field)
            yield current
    smaller = _without_applicability(current)
    if smaller != current:
        yield smaller


def cut_card(card: Card, fits: Callable[[Card], bool]) -> Card:
    """Return the fullest card of a record that fits: the texts are cut, the recommendation least.

    The smallest one is returned even if it does not fit.
    """
    smallest = list(poorer_cards(card))
    bare = _bare(smallest[-1] if smallest else card)
    for cuts in _cuts(bare):
        if fits(cuts[-1]):
            return cuts[bisect_left(cuts, x=True, key=fits)]
    return cuts[-1]


def _bare(card: Card) -> Card:
    """Leave the verdict against the record, once and without grounds, and one word for all that is not shown."""
    against = [{key: entry[key] for key in ("technology", "verdict")} for entry in card.get("applicability", [])]
    # An empty list must still not be taken for "none".
    bare = {**card, "applies_to": [], "omitted": ["all"]}
    return {**bare, "applicability": against[:1]} if against else bare


def _cuts(bare: Card) -> Iterator[list[Card]]:
    """Yield cards by length of the title, each time with the recommendation cut further and further."""
    whole = len(bare["recommendation"])
    for title_length, least in ((90, READABLE_CHARACTERS), (40, 80), (16, 40), (6, 12)):
        lengths = range(whole, min(whole, least) - 1, -12)
        yield [_cut(bare, title_length, length) for length in lengths]
    yield [_cut(bare, 3, length) for length in (12, 6, 3)]


def _cut(bare: Card, title_length: int, length: int) -> Card:
    title, recommendation = bare["title"], bare["recommendation"]
    return {**bare, "title": shorten(title, title_length), "recommendation": shorten(recommendation, length)}


def shorten(text: str, length: int) -> str:
    """Return text in at most `length` characters, ended by an ellipsis where something was cut."""
    return text if len(text) <= length else text[: max(0, length - 1)].rstrip() + "…"


def _card(published: PublishedRecord, detail: Detail) -> Card:
    record = published.record
    left_out = _LEFT_OUT[detail]
    card: Card = {
        "id": str(published.record_id),
        "slug": record.slug,
        "title": record.title,
        "topic": record.topic.value,
    }
    for field in ("summary", "recommendation", "rationale"):
        if field not in left_out:
            card[field] = getattr(record, field)
    card["applies_to"] = _applies_to(record)
    for field in ("conditions", "exceptions", "pitfalls", "verification_checks"):
        card[field] = [] if field in left_out else list(getattr(record, field))
    card |= {"confidence": record.confidence.value, "updated_at": record.updated.isoformat()}
    if published.verified_on is not None and detail is not Detail.BRIEF:
        card["verified_on"] = published.verified_on.isoformat()
    card["sources"] = _sources(record, detail)
    omitted = [field for field in left_out if field not in _TEXTS and getattr(record, field)]
    return {**card, "omitted": omitted} if omitted else card


def _applies_to(record: Record) -> list[Card]:
    return [
        {"kind": entry.kind.value, "name": entry.name}
        | ({"version_constraint": entry.version_constraint} if entry.version_constraint else {})
        for entry in record.applies_to
    ]


def _sources(record: Record, detail: Detail) -> list[Card]:
    if detail is Detail.BRIEF:
        return [_short_source(_source(record.sources[0]))]
    return [_source(source) for source in record.sources]


def _source(source: Source) -> Card:
    return {
        "title": source.title,
        "url": source.url,
        "publisher": source.publisher,
        "evidence_excerpt": source.evidence_excerpt,
        "relation": source.relation.value,
    }


def _short_source(source: Card) -> Card:
    return {key: source[key] for key in ("title", "url", "relation")}


def _telling(judgement: Judgement) -> list[Finding]:
    """Leave out the technologies that a record is not about, where it is about another one the caller named."""
    about = [finding for finding in judgement.findings if finding.verdict is not Applicability.NOT_ABOUT]
    return about or list(judgement.findings)


def _finding(finding: Finding) -> Card:
    card: Card = {"technology": finding.technology}
    if finding.version:
        card["version"] = finding.version
    card["verdict"] = finding.verdict.value
    # Without a version the constraint decided nothing, and stands in `applies_to` as it is.
    if finding.constraint and finding.version:
        card["constraint"] = finding.constraint
    return card


def _without(card: Card, field: str) -> Card:
    if field in _TEXTS:
        return {key: value for key, value in card.items() if key != field}
    smaller = {key: value for key, value in card.items() if key != "omitted"} | {field: []}
    return {**smaller, "omitted": [*card.get("omitted", []), field]}


def _without_applicability(card: Card) -> Card:
    """Drop findings, but never the one that says the record does not apply."""
    kept = [entry for entry in card.get("applicability", []) if entry["verdict"] == Applicability.DOES_NOT_APPLY.value]
    smaller = {key: value for key, value in card.items() if key != "applicability"}
    return {**smaller, "applicability": kept} if kept else smaller
