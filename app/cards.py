"""Cards: a published record as an answer carries it, at each detail, and the poorer cards it can shrink to.

The contract's keys are always there. A list that detail or budget left out is empty and named in `omitted`, so that
"no exceptions" and "exceptions not shown" cannot be confused.
"""

from __future__ import annotations

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
# Given up first when an answer must shrink: what matters least before acting goes first, what guards against misuse
# last.
_GIVEN_UP = ("summary", "rationale", "verification_checks", "pitfalls", "exceptions", "conditions")


def search_card(published: PublishedRecord, judgement: Judgement | None, detail: Detail) -> Card:
    """Return a result of search_knowledge."""
    card = _card(published, detail)
    if judgement and judgement.findings:
        card["applicability"] = [_finding(finding) for finding in judgement.findings]
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
    current = card
    if len(card["sources"]) > 1 or any("evidence_excerpt" in source for source in card["sources"]):
        current = {**current, "sources": [_short_source(source) for source in card["sources"][:1]]}
        yield current
    for field in _GIVEN_UP:
        if current.get(field):
            current = _without(current, field)
            yield current
    for shrink in (_without_applicability, _without_sources):
        smaller = shrink(current)
        if smaller != current:
            current = smaller
            yield current


def cut_card(card: Card, fits: Callable[[Card], bool]) -> Card:
    """Return the smallest card of a record: the texts cut until it fits, the recommendation longest.

    The last one is returned even if it does not fit: at least one record is always said.
    """
    smallest = list(poorer_cards(card))
    bare = {**(smallest[-1] if smallest else card), "applies_to": []}
    # One word for all of it: an empty list must still not be taken for "none".
    bare["omitted"] = ["all"]
    for cut in _cuts(bare):
        if fits(cut):
            return cut
    return cut


def _cuts(bare: Card) -> Iterator[Card]:
    """Cut the recommendation down in steps, then the title, until only their beginnings are left."""
    for title_length in (90, 40, 16, 6):
        for length in range(len(bare["recommendation"]), 0, -12):
            yield {
                **bare,
                "title": shorten(bare["title"], title_length),
                "recommendation": shorten(bare["recommendation"], length),
            }


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
    card["sources"] = _sources(record, detail)
    omitted = [field for field in left_out if getattr(record, field)]
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


def _finding(finding: Finding) -> Card:
    card: Card = {"technology": finding.technology}
    if finding.version:
        card["version"] = finding.version
    card["verdict"] = finding.verdict.value
    if finding.constraint:
        card["constraint"] = finding.constraint
    return card


def _without(card: Card, field: str) -> Card:
    smaller = {key: value for key, value in card.items() if key != "omitted"}
    if field in ("summary", "rationale"):
        del smaller[field]
    else:
        smaller[field] = []
    return {**smaller, "omitted": [*card.get("omitted", []), field]}


def _without_applicability(card: Card) -> Card:
    """Drop findings, but never the one that says the record does not apply."""
    kept = [entry for entry in card.get("applicability", []) if entry["verdict"] == Applicability.DOES_NOT_APPLY.value]
    smaller = {key: value for key, value in card.items() if key != "applicability"}
    return {**smaller, "applicability": kept} if kept else smaller


def _without_sources(card: Card) -> Card:
    return {**card, "sources": []}
