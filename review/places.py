"""Where a finding stands: the line of a record's file for a field as the gates name it.

Lines(text).at("source 1 url") -> 17     the nearest there is; 1 for the record as a whole
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from app.errors import RecordError
from app.frontmatter import front_matter_end, line_of, parse_front_matter

_FENCE = re.compile(r"^(`{3,}|~{3,})")
_LISTED = {"source": "sources", "check": "checks"}
_NOWHERE = Path("-/-.md")


class Lines:
    """The lines of a record file, by field. Made of any text: what cannot be read has no place of its own."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._data: Any = None
        end = 0
        try:
            end = front_matter_end(self._lines, _NOWHERE)
            self._data = parse_front_matter("\n".join(self._lines[1:end]), _NOWHERE)
        except RecordError:
            pass
        self._body = _body_lines(self._lines, end)

    def at(self, field: str) -> int:
        """Return the line of a field, from 1; of what it is part of where it is not there itself."""
        parts = field.split()
        while parts:
            line = self._body.get(" ".join(parts)) or self._front_line(parts)
            if line:
                return line
            parts.pop()
        return 1

    def column(self, line: int) -> int:
        """Return the column at which the text of a line starts, from 1."""
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        return len(text) - len(text.lstrip()) + 1

    def _front_line(self, parts: list[str]) -> int:
        """Return the line in the front matter, 0 where it has no such field."""
        location: list[Any] = [_LISTED.get(parts[0], parts[0])]
        if self._data is None or location[0] not in self._data:
            return 0
        for part in parts[1:]:
            location.append(self._place(location, part))
        return line_of(self._data, tuple(location))

    def _place(self, location: list[Any], part: str) -> Any:
        if location == ["checks"]:
            ids = [check.get("id") for check in self._data["checks"]]
            return ids.index(part) if part in ids else part
        return int(part) - 1 if part.isdigit() else part


def waiver_line(path: Path, gate: str, slug: str) -> int:
    """Return the line of a waiver in its file; 1 when it cannot be told."""
    try:
        entries = YAML(typ="rt", pure=True).load(path.read_text("utf-8"))
        place = next(
            place for place, entry in enumerate(entries) if (entry.get("gate"), entry.get("slug")) == (gate, slug)
        )
        return int(entries.lc.item(place)[0]) + 1
    except (OSError, UnicodeDecodeError, YAMLError, StopIteration, AttributeError, TypeError):
        return 1


def _body_lines(lines: list[str], end: int) -> dict[str, int]:
    """Return the lines of title, sections and bullets by the names that gates give them."""
    found: dict[str, int] = {}
    section, bullets, fence = "", 0, ""
    for number, line in enumerate(lines[end + 1 :], start=end + 2):
        opening = _FENCE.match(line)
        if not fence and line.startswith("# "):
            found.setdefault("title", number)
        elif not fence and line.startswith("## "):
            section, bullets = line[3:].strip().casefold().replace(" ", "_"), 0
            found.setdefault(section, number)
        elif section and line.startswith("- "):
            bullets += 1
            found[f"{section} {bullets}"] = number
        elif section and line.strip() and lines[found[section] - 1].startswith("## "):
            # Prose is found where it starts, not at its heading.
            found[section] = number
        if opening and not fence:
            fence = opening[1]
        elif opening and line.rstrip() == fence:
            fence = ""
    return found
