"""Advice rests on the word of those who make the thing, not on what somebody wrote about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.record import Authority, Record, Relation, Source
from review.gates import Context, Finding, Gate, error, warning
from review.publishers import imitated, publisher_of

_WORD = re.compile(r"[a-z0-9]{2,}")
# Words in a publisher's name that tell no publisher from another.
_COMMON_LIST = "the of and project foundation software team documentation docs authors group official manual help"
_COMMON = frozenset(_COMMON_LIST.split())


def check(record: Record, context: Context) -> Iterator[Finding]:
    """At least one source is the maker's own, and what is called primary is known to be."""
    primary = [source for source in record.sources if source.authority is Authority.PRIMARY]
    if not primary:
        yield error("every source is secondary", "read and cite the vendor's or the standard's own text", at="sources")
    elif all(source.relation in (Relation.QUALIFIES, Relation.CONTRADICTS) for source in primary):
        yield error(
            "no primary source supports or defines the advice", "cite the maker's text that carries it", at="sources"
        )
    for place, source in enumerate(record.sources, start=1):
        yield from _unproven(place, source, context)


def _unproven(place: int, source: Source, context: Context) -> Iterator[Finding]:
    publisher = publisher_of(source.url, context.publishers)
    if publisher is None:
        if source.authority is Authority.PRIMARY:
            yield error(
                f"source {place}: {source.publisher} is not known to speak for itself at this address",
                "mark it secondary, or add the address to review/publishers.py",
                at=f"source {place} url",
            )
        yield from _imitations(place, source, context)
    elif _words(publisher.name).isdisjoint(_words(source.publisher)):
        yield warning(
            f"source {place}: published at an address of {publisher.name}, not of {source.publisher}",
            f"write publisher: {publisher.name!r}, or give the reason in the note",
            at=f"source {place} publisher",
        )


def _imitations(place: int, source: Source, context: Context) -> Iterator[Finding]:
    """Refuse a source that borrows the name or the look of one whose word counts, secondary or not."""
    known = imitated(source.url, context.publishers)
    if known:
        yield error(
            f"source {place}: the address looks like {known} and is not",
            "cite the page at its own address",
            at=f"source {place} url",
        )
    named = {_words(publisher.name) for publisher in context.publishers.values()}
    if source.authority is Authority.SECONDARY and _words(source.publisher) in named:
        yield error(
            f"source {place}: {source.publisher} is not known to publish at this address",
            "name whoever wrote it, or add the address to review/publishers.py",
            at=f"source {place} publisher",
        )


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(name.casefold())) - _COMMON


GATE = Gate("source_authority", "At least one source is the maker's own text, at an address known to be theirs.", check)
