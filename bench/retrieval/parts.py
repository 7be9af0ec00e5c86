"""Which vectors stand for a document: one over all of it, those the product makes of a record, or one per section.

The product compares a question with every vector of a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from app.indexing import embedding_texts
from bench.retrieval.collection import Document
from bench.retrieval.records import record_of

# About 300 tokens: well inside what the model reads, and what it was trained on.
SECTION_CHARACTERS = 1200
# A changelog of years would have hundreds; what is looked for stands at the beginning of a page.
SECTIONS_MAX = 64
_HEADING = re.compile(r"^(?:#{1,6} .*|[^\n]+\n(?:=|-|~|\*){4,})$", re.MULTILINE)

Parts = Callable[[Document], tuple[str, ...]]
"""Returns the texts whose vectors stand for a document, at least one."""


def whole(document: Document) -> tuple[str, ...]:
    """Title and text as one vector, as the published numbers were computed."""
    return (f"{document.title} {document.text}".strip(),)


def as_record(document: Document) -> tuple[str, ...]:
    """What publishing embeds of a record that holds the document."""
    return tuple(embedding_texts(record_of(document)).values())


def sections(document: Document) -> tuple[str, ...]:
    """One vector for each of the first sections, with the page's title before it."""
    pieces = split(document.text)[:SECTIONS_MAX]
    return tuple(f"{document.title}. {piece}" for piece in pieces) or whole(document)


def split(text: str, limit: int = SECTION_CHARACTERS) -> list[str]:
    """Cut a text at its headings, and what is longer than `limit` characters at blank lines, lines or words."""
    edges = [0, *(match.start() for match in _HEADING.finditer(text)), len(text)]
    chapters = (text[start:end].strip() for start, end in pairwise(edges))
    return [piece for chapter in chapters if chapter for piece in _pieces(chapter, limit)]


def _pieces(text: str, limit: int) -> Iterator[str]:
    while len(text) > limit:
        place = _place_to_cut(text, limit)
        yield text[:place].strip()
        text = text[place:].strip()
    if text:
        yield text


def _place_to_cut(text: str, limit: int) -> int:
    """Return the last good place in the second half of the first `limit` characters."""
    for edge in ("\n\n", "\n", " "):
        place = text.rfind(edge, limit // 2, limit)
        if place > 0:
            return place
    return limit
