"""Findings in the formats that code hosts show on the line of a change: GitHub, GitLab, SARIF.

locate(report, shelf, top) -> list[Located]     each finding with file and line; reads the record files
github(found), gitlab(found), sarif(found, gates) -> str
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from review.bench import Report, Shelf
from review.gates import Finding, Gate, Level
from review.places import Lines, waiver_line
from review.waivers import GATE_ID

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


_WAIVERS = "waivers.yaml"


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"


@dataclass(frozen=True)
class Located:
    """A finding with its place.

    Attributes:
        file: path from the top of the repository, with forward slashes.
        line, column: from 1.
    """

    slug: str
    gate: str
    finding: Finding
    file: str
    line: int
    column: int = 1

    @property
    def text(self) -> str:
        """What is wrong and what to do, in one line."""
        return f"{self.finding.message}. {self.finding.remedy[:1].upper()}{self.finding.remedy[1:]}."


def locate(report: Report, shelf: Shelf, top: Path) -> list[Located]:
    """Return every finding of a report with its place, file by file.

    Args:
        top: the folder that files are named from, such as that of the repository.
    """
    places = _Places(shelf, top)
    found = [
        places.of(verdict.slug, gate, finding) for verdict in report.verdicts for gate, finding in verdict.findings()
    ]
    return found + [places.of(_WAIVERS, GATE_ID, finding) for finding in report.strays]


class _Places:
    def __init__(self, shelf: Shelf, top: Path) -> None:
        self._shelf, self._top = shelf, top.resolve()
        self._lines: dict[str, Lines] = {}

    def of(self, slug: str, gate: str, finding: Finding) -> Located:
        if gate == GATE_ID:
            waiver = self._shelf.folder / _WAIVERS
            return Located(slug, gate, finding, self._named(waiver), waiver_line(waiver, *finding.at.split(" ", 1)))
        if slug in self._shelf.broken:
            details = self._shelf.broken[slug].details
            file = self._shelf.folder / str(details.get("file", slug))
            return Located(slug, gate, finding, self._named(file), int(str(details.get("line", 1))))
        path = self._shelf.files[slug].path
        if slug not in self._lines:
            self._lines[slug] = Lines(path.read_text("utf-8"))
        line = self._lines[slug].at(finding.at)
        return Located(slug, gate, finding, self._named(path), line, self._lines[slug].column(line))

    def _named(self, path: Path) -> str:
        whole = path.resolve()
        return (whole.relative_to(self._top) if whole.is_relative_to(self._top) else whole).as_posix()


def github(found: Iterable[Located]) -> str:
    """Return workflow commands, one a line. Nothing in a finding can end its line or start a command of its own."""
    return "".join(f"{_command(entry)}\n" for entry in found)


def gitlab(found: Iterable[Located]) -> str:
    """Return a code-quality report."""
    seen = Counter[str]()
    return _json([_issue(entry, seen) for entry in found])


def sarif(found: Sequence[Located], gates: Iterable[Gate]) -> str:
    """Return a SARIF 2.1.0 log."""
    promises = {gate.id: gate.promise for gate in gates}
    rules = [{"id": gate, "shortDescription": {"text": promises.get(gate, gate)}} for gate in _gates(found)]
    driver = {"name": "chatctx review check", "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [_result(each) for each in found]}
    return _json({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _gates(found: Iterable[Located]) -> list[str]:
    return sorted({entry.gate for entry in found})


def _command(entry: Located) -> str:
    properties = {
        "file": entry.file,
        "line": str(entry.line),
        "col": str(entry.column),
        "title": f"{entry.gate}: {entry.slug}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{entry.finding.level.value} {listed}::{_data(entry.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _issue(entry: Located, seen: Counter[str]) -> dict[str, Any]:
    # The line is left out, so that a finding stays the same one when text above it grows.
    subject = f"{entry.file}\0{entry.gate}\0{entry.finding.message}"
    seen[subject] += 1
    return {
        "description": entry.text,
        "check_name": entry.gate,
        "fingerprint": hashlib.sha256(f"{subject}\0{seen[subject]}".encode()).hexdigest(),
        "severity": "major" if entry.finding.level is Level.ERROR else "minor",
        "location": {"path": entry.file, "lines": {"begin": entry.line}},
    }


def _result(entry: Located) -> dict[str, Any]:
    region = {"startLine": entry.line, "startColumn": entry.column}
    place = {"artifactLocation": {"uri": quote(entry.file)}, "region": region}
    return {
        "ruleId": entry.gate,
        "level": entry.finding.level.value,
        "message": {"text": entry.text},
        "locations": [{"physicalLocation": place}],
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
