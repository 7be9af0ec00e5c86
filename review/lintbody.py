"""Mechanical repairs of a record's sections. What stands in Examples and in code is never touched. Pure functions.

Each takes the whole text of a file and returns it, unchanged where it does not see what it knows how to repair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from app.recordfile import SECTIONS

_LISTS = frozenset({"Conditions", "Exceptions", "Pitfalls", "Verification checks"})
_VERBATIM = "Examples"
_HEADING = re.compile(r"##(?!#)[ \t]*(?P<name>.*?)[ \t]*:?[ \t]*#*[ \t]*")
_MARKER = re.compile(r"(?:[*+•–—]|-|\d{1,2}[.)])[ \t]+(?=\S)")  # noqa: RUF001 - what people type for a bullet
_FENCE = re.compile(r"(`{3,}|~{3,})")
_CODE = re.compile(r"(`+[^`\n]*`+)")
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'"})  # noqa: RUF001 - the same
_NAMES = {name.casefold(): name for name in SECTIONS}


@dataclass(frozen=True)
class _Section:
    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class _Body:
    before: tuple[str, ...]
    title: str
    sections: tuple[_Section, ...]


def straight_body(text: str) -> str:
    """Make curly quotes of prose straight; `code` keeps them."""
    return _rebuilt(
        text, lambda body: replace(body, title=_straight(body.title), sections=_each(body, _straight_lines))
    )


def list_markers(text: str) -> str:
    """Start bullets with `- `, whatever they start with."""
    return _rebuilt(text, lambda body: replace(body, sections=_each(body, _marked)))


def headings(text: str) -> str:
    """Write headings as they are called, with one empty line above each, and put sections in order.

    With one that is repeated or unknown all stay where they are.
    """

    def ordered(body: _Body) -> _Body:
        names = [section.name for section in body.sections]
        if len(set(names)) < len(names) or not set(names) <= set(SECTIONS):
            return body
        return replace(body, sections=tuple(sorted(body.sections, key=lambda section: SECTIONS.index(section.name))))

    return _rebuilt(text, ordered, layout=True)


def joined_lines(text: str) -> str:
    """Put a paragraph and a bullet on one line each, as they are read, without spaces behind and empty lines inside."""
    return _rebuilt(text, lambda body: replace(body, sections=_each(body, _joined)))


def _rebuilt(text: str, repair: Callable[[_Body], _Body], *, layout: bool = False) -> str:
    body = _body(text)
    if body is None:
        return text
    repaired = repair(body)
    if repaired == body and not layout:
        return text
    parts = ["\n".join(repaired.before), "", repaired.title, ""]
    for section in repaired.sections:
        parts += [f"## {section.name}", *section.lines, ""]
    return "\n".join(parts)


def _body(text: str) -> _Body | None:
    """Return the parts of a text, None where they do not follow each other as in a record."""
    lines = text.split("\n")
    end = next((place for place, line in enumerate(lines[1:], start=1) if line == "---"), 0)
    titles, sections = list[str](), list[tuple[str, list[str]]]()
    for line, fenced in _outside_fences(lines[end + 1 :]):
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading and heading["name"]:
            sections.append((_NAMES.get(heading["name"].casefold(), heading["name"]), []))
        elif not fenced and line.startswith("# "):
            titles.append(line.rstrip())
        elif sections:
            sections[-1][1].append(line)
        elif line.strip():
            return None
    if not end or len(titles) != 1:
        return None
    return _Body(tuple(lines[: end + 1]), titles[0], tuple(_Section(name, _trimmed(kept)) for name, kept in sections))


def _outside_fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is inside a code fence."""
    fence = ""
    for line in lines:
        opening = _FENCE.match(line)
        yield line, bool(fence)
        if opening and not fence:
            fence = opening[1]
        elif line.rstrip() == fence:
            fence = ""


def _trimmed(lines: list[str]) -> tuple[str, ...]:
    """Return lines without the empty ones at both ends."""
    kept = [place for place, line in enumerate(lines) if line.strip()]
    return tuple(lines[kept[0] : kept[-1] + 1]) if kept else ()


def _each(body: _Body, repair: Callable[[_Section], tuple[str, ...]]) -> tuple[_Section, ...]:
    return tuple(
        section if section.name == _VERBATIM else replace(section, lines=repair(section)) for section in body.sections
    )


def _has_code_block(section: _Section) -> bool:
    return any(_FENCE.match(line) for line in section.lines)


def _straight_lines(section: _Section) -> tuple[str, ...]:
    return section.lines if _has_code_block(section) else tuple(map(_straight, section.lines))


def _straight(line: str) -> str:
    return "".join(part if part.startswith("`") else part.translate(_CURLY) for part in _CODE.split(line))


def _marked(section: _Section) -> tuple[str, ...]:
    if section.name not in _LISTS or _has_code_block(section):
        return section.lines
    return tuple(_MARKER.sub("- ", line, count=1) if _MARKER.match(line) else line for line in section.lines)


def _joined(section: _Section) -> tuple[str, ...]:
    if _has_code_block(section):
        return section.lines
    if section.name not in _LISTS:
        text = " ".join(" ".join(section.lines).split())
        return (text,) if text else ()
    bullets: list[str] = []
    for line in section.lines:
        if line.startswith("- "):
            bullets.append(f"- {line[2:].strip()}")
        elif line.startswith("  ") and line.strip() and bullets:
            bullets[-1] += f" {line.strip()}"
        elif line.strip():
            return section.lines
    return tuple(bullets)
