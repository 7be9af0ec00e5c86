"""A record's content as lines of text, so that two forms of it can be laid side by side."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

_ORDER = (
    "topic", "title", "summary", "recommendation", "rationale", "applies_to", "conditions", "exceptions", "pitfalls",
    "verification_checks", "examples", "symptoms", "task_types", "confidence", "updated", "sources", "checks",
    "supersedes",    "conflicts_with", "fixtures",
)  # fmt: skip


def record_lines(body: Mapping[str, Any]) -> list[str]:
    """Return a canonical record body as lines, every field named, in the order an owner reads it."""
    lines: list[str] = []
    for name in (*_ORDER, *sorted(body.keys() - set(_ORDER) - {"slug"})):
        value = body.get(name)
        if value not in (None, [], {}, ""):
            lines += [f"[{name}]", *_value_lines(value)]
    return lines


def difference(before: Mapping[str, Any], after: Mapping[str, Any], names: tuple[str, str]) -> list[str]:
    """Return a unified difference of two record bodies; empty when they say the same."""
    return list(difflib.unified_diff(record_lines(before), record_lines(after), *names, n=1, lineterm=""))


def _value_lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (f"  {key}: {entry}" for key, entry in value.items() if entry is not None)
    elif isinstance(value, list):
        for entry in value:
            yield from _entry_lines(entry)
    else:
        yield from (f"  {line}" for line in str(value).split("\n"))


def _entry_lines(entry: Any) -> Iterator[str]:
    if isinstance(entry, Mapping):
        mark = "- "
        for key, field in entry.items():
            if field is not None:
                yield f"  {mark}{key}: {field}"
                mark = "  "
    else:
        yield f"  - {entry}"
