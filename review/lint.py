"""Repairs what is mechanical in a record file, and leaves what it says alone. Pure functions.

lint(text, path) -> Linted     the repaired text and what was repaired; the same text for a text that is in order

A record that can be read before says the same afterwards: that is looked at after each step, and a step that would
change anything else is left out. Two things may differ: curly quotes become straight ones, those around a whole value
YAML's own; and what could not be read at all may become readable.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.errors import RecordError
from app.record import canonical_form
from app.recordfile import parse_record
from review.lintbody import headings, joined_lines, list_markers, straight_body
from review.linthead import dates, field_order, quoted_versions, straight_head, technology_names, trailing_spaces

_ROUNDS = 6
# As JSON writes what curly quotes become.
_CURLY = str.maketrans({"“": '\\"', "”": '\\"', "„": '\\"', "‘": "'", "’": "'", "‚": "'"})  # noqa: RUF001 - the same
# A value that stands in quotes as a whole.
_ALL_QUOTED = re.compile(r'"\\"([^"\\]*)\\""')

Step = Callable[[str], str]


@dataclass(frozen=True)
class Linted:
    """A text after its repairs.

    Attributes:
        repairs: what was repaired, in the order of the work.
    """

    text: str
    repairs: tuple[str, ...]


def lint(text: str, path: Path) -> Linted:
    """Return a record file's text with everything mechanical repaired.

    Args:
        path: `<topic>/<slug>.md`, for what slug and topic are.
    """
    done: dict[str, None] = {}
    now = text
    for _ in range(_ROUNDS):
        before = now
        for name, step in _STEPS:
            after = step(now)
            if after != now and _says_the_same(now, after, path):
                now, done[name] = after, None
        if now == before:
            return Linted(now, tuple(done))
    # Steps that undo each other repair nothing; none is known.
    return Linted(text, ())


def _says_the_same(before: str, after: str, path: Path) -> bool:
    try:
        said = _said(before, path)
    except RecordError:
        return True
    try:
        return _said(after, path) == said
    except RecordError:
        return False


def _said(text: str, path: Path) -> str:
    straight = canonical_form(parse_record(text, path)).decode().translate(_CURLY)
    return _ALL_QUOTED.sub(r'"\1"', straight)


def _line_ends(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _normal_form(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _last_line(text: str) -> str:
    return text.rstrip("\n") + "\n"


_STEPS: tuple[tuple[str, Step], ...] = (
    ("line ends", _line_ends),
    ("Unicode normal form", _normal_form),
    ("spaces behind lines", trailing_spaces),
    ("curly quotes", straight_head),
    ("curly quotes", straight_body),
    ("quotes around versions", quoted_versions),
    ("form of dates", dates),
    ("names of technologies", technology_names),
    ("order of fields", field_order),
    ("list markers", list_markers),
    ("headings and empty lines", headings),
    ("wrapped lines", joined_lines),
    ("line ends", _last_line),
)
