"""Mechanical repairs of a record's front matter, line by line: comments and the author's layout stay. Pure functions.

Each takes the whole text of a file and returns it, unchanged where it does not see what it knows how to repair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date

from app.record import AppliesTo, Check, Source
from app.technologies import canonical_name, read_name

_FIELDS = (
    "confidence", "updated", "task_types", "applies_to", "symptoms", "sources", "checks", "supersedes",
    "conflicts_with",
)  # fmt: skip
_REST = r"(?P<rest>\s*(?:\s#.*)?)"
_ENTRIES = {"applies_to": tuple(AppliesTo.model_fields), "sources": tuple(Source.model_fields)} | {
    "checks": tuple(Check.model_fields)
}
_KEY = re.compile(r"([a-z_]+):(?:\s|$)")
_ITEM = re.compile(r"(?P<indent> *)- (?P<key>[a-z_]+):(?:\s|$)")
_VALUE = re.compile(r"(?P<lead>\s*(?:- )?(?:[a-z_]+:\s+)?)(?P<value>\S.*)")
_VERSION = re.compile(
    r"(?P<lead>\s*(?:- )?version_constraint:[ \t]+)(?P<value>[^\"'#\s][^#\"']*?)(?P<rest>\s*(?:\s#.*)?)"
)
_DATE = re.compile(
    r"(?P<lead>\s*(?:- )?(?:updated|retrieved):[ \t]+)(?P<quote>[\"']?)(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\4"
    r"(?P<day>\d{1,2})(?P=quote)" + _REST
)
_NAME = re.compile(
    r"(?P<lead>\s*(?:- )?name:[ \t]+)(?P<quote>[\"']?)(?P<value>[^\"'#]+?)(?P=quote)(?P<rest>\s*(?:\s#.*)?)"
)
_DOUBLE = "“”„"
_SINGLE = "‘’‚"  # noqa: RUF001 - what it is about


def trailing_spaces(text: str) -> str:
    """Take away spaces behind lines."""
    return _each_line(text, str.rstrip)


def straight_head(text: str) -> str:
    """Make curly quotes straight, around a value and inside it."""
    return _each_line(text, _straight)


def quoted_versions(text: str) -> str:
    """Put version constraints in quotes, as they are written: 1.10 stays 1.10."""
    return _each_line(text, lambda line: _replaced(_VERSION, line, lambda match: json.dumps(match["value"])))


def dates(text: str) -> str:
    """Write days as YYYY-MM-DD where the year comes first, so that day and month cannot be mistaken."""
    return _each_line(text, lambda line: _replaced(_DATE, line, _iso))


def technology_names(text: str) -> str:
    """Write the canonical names of technologies under applies_to; a name with a version in it is left alone."""
    head, lines, rest = _parted(text)
    inside, done = False, []
    for line in lines:
        inside = line.startswith("applies_to:") or (inside and not _KEY.match(line))
        done.append(_replaced(_NAME, line, _canonical) if inside else line)
    return _whole(head, done, rest)


def field_order(text: str) -> str:
    """Put fields in the order of the documentation, those of entries too. A comment stays above its field."""
    head, lines, rest = _parted(text)
    blocks = _blocks(lines)
    if blocks is None:
        return text
    first, fields = blocks
    ordered = sorted(fields, key=lambda field: _FIELDS.index(field[0]))
    inner = [line for name, block in ordered for line in _entries(name, block)]
    return _whole(head, [*first, *inner], rest)


def _straight(line: str) -> str:
    match = _VALUE.fullmatch(line)
    if match is None or line.lstrip().startswith("#"):
        return line
    value = match["value"]
    if value[0] in _DOUBLE and value[-1] in _DOUBLE and len(value) > 1:
        return match["lead"] + json.dumps(_with(value[1:-1], '"'), ensure_ascii=False)
    if value[0] == '"':
        return match["lead"] + _with(value, '\\"')
    if value[0] == "'":
        return match["lead"] + _with(value, '"', "''")
    return match["lead"] + _with(value, '"')


def _with(text: str, double: str, single: str = "'") -> str:
    return "".join(double if each in _DOUBLE else single if each in _SINGLE else each for each in text)


def _replaced(pattern: re.Pattern[str], line: str, value: Callable[[re.Match[str]], str]) -> str:
    match = pattern.fullmatch(line)
    return match["lead"] + value(match) + match["rest"] if match else line


def _iso(match: re.Match[str]) -> str:
    try:
        return date(int(match["year"]), int(match["month"]), int(match["day"])).isoformat()
    except ValueError:
        return match[0][len(match["lead"]) : len(match[0]) - len(match["rest"])]


def _canonical(match: re.Match[str]) -> str:
    named = canonical_name(match["value"])
    if named is None or read_name(match["value"]).version:
        named = match["value"]
    return f"{match['quote']}{named}{match['quote']}"


def _blocks(lines: Sequence[str]) -> tuple[list[str], list[tuple[str, list[str]]]] | None:
    """Return what stands above the first field, and the fields with their lines; None for what is not plain enough."""
    first: list[str] = []
    fields: list[tuple[str, list[str]]] = []
    above: list[str] = []
    for line in lines:
        match = _KEY.match(line)
        if match:
            if match[1] not in _FIELDS or any(match[1] == name for name, _ in fields):
                return None
            if not fields:
                first, above = above, []
            fields.append((match[1], [*above, line]))
            above = []
        elif line.startswith("#") or not line.strip():
            above.append(line)
        elif fields and line.startswith((" ", "-")):
            fields[-1][1].extend([*above, line])
            above = []
        else:
            return None
    if not fields:
        return None
    fields[-1][1].extend(above)
    return first, fields


def _entries(name: str, block: list[str]) -> list[str]:
    """Return the lines of a field with the keys of its entries in order."""
    order = _ENTRIES.get(name)
    start = next((place for place, line in enumerate(block) if _ITEM.match(line)), None)
    if order is None or start is None:
        return block
    done, entry = block[:start], list[str]()
    for line in block[start:]:
        if _ITEM.match(line) and entry:
            done += _entry(entry, order)
            entry = []
        entry.append(line)
    return done + _entry(entry, order)


def _entry(lines: list[str], order: Sequence[str]) -> list[str]:
    match = _ITEM.match(lines[0])
    assert match  # noqa: S101 - the caller has looked
    indent = match["indent"] + "  "
    parts: list[tuple[str, list[str]]] = []
    for line in [indent + lines[0][len(indent) :], *lines[1:]]:
        key = _KEY.match(line[len(indent) :]) if line.startswith(indent) else None
        if key:
            parts.append((key[1], [line[len(indent) :]]))
        elif line.startswith(indent + " ") and not line.lstrip().startswith("#"):
            parts[-1][1].append(line)
        else:
            return lines
    names = [name for name, _ in parts]
    if len(set(names)) < len(names) or not set(names) <= set(order):
        return lines
    parts.sort(key=lambda part: order.index(part[0]))
    done = [line for _, part in parts for line in (indent + part[0], *part[1:])]
    return [f"{match['indent']}- {done[0][len(indent) :]}", *done[1:]]


def _each_line(text: str, repair: Callable[[str], str]) -> str:
    head, lines, rest = _parted(text)
    return _whole(head, [repair(line) for line in lines], rest)


def _parted(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return the first line, the front matter's and the rest; a text without front matter is all rest."""
    lines = text.split("\n")
    end = next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
    if lines[0].rstrip() != "---" or not end:
        return [], [], lines
    return ["---"], lines[1:end], ["---", *lines[end + 1 :]]


def _whole(head: list[str], lines: list[str], rest: list[str]) -> str:
    return "\n".join([*head, *lines, *rest])
