"""The text of a record that an agent gets to read, and what of it is prose and what is code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.record import Record

_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+(?=[A-Z`\"'(])")


@dataclass(frozen=True)
class ServedText:
    """A piece of text an agent may be given, with the name of the field it stands in."""

    field: str
    text: str


def guidance_texts(record: Record) -> Iterator[ServedText]:
    """Yield the guidance itself: what a record tells an agent to do and why."""
    for name in ("title", "summary", "recommendation", "rationale"):
        yield ServedText(name, getattr(record, name))
    for name in ("conditions", "exceptions", "pitfalls", "verification_checks"):
        for place, text in enumerate(getattr(record, name), start=1):
            yield ServedText(f"{name} {place}", text)
    if record.examples:
        yield ServedText("examples", record.examples)


def all_texts(record: Record) -> Iterator[ServedText]:
    """Yield every free text of a record: the guidance, the symptoms, the sources and the claims of checks."""
    yield from guidance_texts(record)
    for place, text in enumerate(record.symptoms, start=1):
        yield ServedText(f"symptoms {place}", text)
    for place, source in enumerate(record.sources, start=1):
        for name in ("title", "publisher", "locator", "evidence_excerpt"):
            yield ServedText(f"source {place} {name}", getattr(source, name))
    for check in record.checks:
        yield ServedText(f"check {check.id} claim", check.claim)
        yield ServedText(f"check {check.id} wrong_shows", check.wrong_shows or "")


def without_code(text: str) -> str:
    """Return the prose of a text: code blocks and `code` spans are replaced by a placeholder word."""
    return _SPAN.sub(" CODE ", without_blocks(text))


def without_blocks(text: str) -> str:
    """Return a text with its code blocks replaced by a placeholder word; `code` spans stay."""
    return _FENCE.sub(" CODE ", text)


def code_pieces(text: str) -> list[str]:
    """Return the code of a text: blocks and spans, without their fences."""
    spans = [match["code"] for match in _SPAN.finditer(_FENCE.sub(" ", text))]
    return [match[0] for match in _FENCE.finditer(text)] + spans


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; a dot inside a name or number does not end one."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
