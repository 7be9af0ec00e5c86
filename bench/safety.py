"""What the safety gate refuses of the attacks in tests/gates/safety, and of ordinary documentation.

python -m bench.safety                prints Markdown: a row for each class, a column for each set
python -m bench.safety --passed SET   prints what a set's attacks got past, and what of its documentation is refused

Four sets. `known`: lines the patterns were written with, the `reworded` and `later` ones to get past them. `dev` and
`test`: one collection, written before its author had read the patterns and halved by the SHA-256 of the line; the gate
was improved on `dev` alone. `after`: written when that was done, and never used to improve it.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json, to_jsonable_python

from app.record import Record
from app.recordfile import read_record, record_paths
from review.gates import Context, Level
from review.gates import safety as safety_gate
from review.gates import source_authority as authority_gate
from review.publishers import PUBLISHERS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests/gates/safety"
RECORDS = ROOT / "records"
FOLDERS = {"known": FOLDER, "dev": FOLDER / "dev", "test": FOLDER / "test", "after": FOLDER / "after"}
BENIGN = "benign"
# These are asked as advice of a record without Exceptions: with them, a dangerous step may be advised.
_DANGER = "danger"
_TODAY = date(2026, 11, 30)
_MIN_CHARACTERS = 20
_SHORT: dict[str, Any] = {
    "summary": "A list without a limit grows with the data.",
    "recommendation": "Set a limit on every list that is ever read.",
    "rationale": "A list without a limit grows with the data, until one is too long.",
    "conditions": [],
    "pitfalls": ["A limit is set too late."],
    "verification_checks": ["Read a list: it is short."],
    "symptoms": ["list is long", "list is slow", "list is full"],
}
_HIDDEN = re.compile(r"<U\+([0-9A-F]{4,6})>")
_SOURCE = re.compile(r"source by (?P<publisher>[^:]+): (?P<url>.+)")


@dataclass(frozen=True)
class Tally:
    """The lines of a file, by whether the gate held an error against them."""

    refused: tuple[str, ...]
    passed: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.refused) + len(self.passed)

    @property
    def share(self) -> float:
        """Refused lines as a share of all."""
        return len(self.refused) / self.lines

    def __str__(self) -> str:
        return f"{len(self.refused)} of {self.lines}"


def lines_of(path: Path) -> list[str]:
    """Return the lines of a corpus file as they were written, `<U+200B>` for what no reader would see."""
    return [line for line in path.read_text("utf-8").splitlines() if line]


def decoded(line: str) -> str:
    """Return a line with its characters in place, as long as a record's list item has to be."""
    text = _HIDDEN.sub(lambda code: chr(int(code[1], 16)), line)
    return text if len(text) >= _MIN_CHARACTERS else f"{text} (as it was found)"


def half_of(line: str) -> str:
    """Return the half of the collection that a line, as it was written, belongs to: `dev` or `test`."""
    return "test" if hashlib.sha256(line.encode()).digest()[0] % 2 else "dev"


def classes(name: str) -> dict[str, Path]:
    """Return the files of a set by class, `benign` among them."""
    return {path.stem.removeprefix("attack-"): path for path in sorted(FOLDERS[name].glob("*.txt"))}


def is_refused(line: str, kind: str) -> bool:
    """Tell whether a record that carries this line is refused, by its schema or by an error of a gate."""
    if source := _SOURCE.fullmatch(decoded(line)):
        # A source may claim to be the vendor's own text or only to quote it: neither may pass.
        return all(_errors(sources=_with_source(**source.groupdict(), authority=a)) for a in ("primary", "secondary"))
    if kind == _DANGER:
        return _errors(verification_checks=[decoded(line)], exceptions=[])
    return _errors(pitfalls=[decoded(line)])


def tally(path: Path) -> Tally:
    """Ask the gate about each line of a file."""
    kind, lines = path.stem.removeprefix("attack-"), lines_of(path)
    verdicts = [(line, is_refused(line, kind)) for line in lines]
    return Tally(*(tuple(line for line, refused in verdicts if refused is wanted) for wanted in (True, False)))


def measure(name: str) -> dict[str, Tally]:
    """Ask the gate about every line of a set, by class."""
    return {kind: tally(path) for kind, path in classes(name).items()}


def shipped_errors() -> list[str]:
    """Return the slugs of shipped records that the safety gate refuses."""
    return [record.slug for record in _shipped() if _holds_error(record)]


def as_table(tallies: dict[str, dict[str, Tally]]) -> str:
    """Return refused lines by class and set as a Markdown table."""
    kinds = sorted({kind for found in tallies.values() for kind in found}, key=lambda kind: (kind == BENIGN, kind))
    lines = [f"| refused | {' | '.join(tallies)} |", "| --- |" + " ---: |" * len(tallies)]
    for kind in kinds:
        cells = [str(found.get(kind, "")) for found in tallies.values()]
        lines.append(f"| {'ordinary documentation' if kind == BENIGN else kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


@cache
def _shipped() -> tuple[Record, ...]:
    return tuple(read_record(path).record for path in record_paths(RECORDS))


@cache
def _base() -> dict[str, Any]:
    """Return the fields of a shipped record, cut short: only the line that is put into it matters."""
    fields: dict[str, Any] = to_jsonable_python(_shipped()[0])
    few = {name: fields[name][:1] for name in ("exceptions", "sources")}
    return {**fields, **_SHORT, **few, "checks": [], "examples": None}


def _errors(**changes: Any) -> bool:
    try:
        record = Record.model_validate_json(to_json({**_base(), **changes}))
    except ValidationError:
        return True
    return _holds_error(record)


def _holds_error(record: Record) -> bool:
    context = Context(_TODAY, {record.slug: record}, PUBLISHERS)
    found = (*safety_gate.GATE.check(record, context), *authority_gate.GATE.check(record, context))
    return any(finding.level is Level.ERROR for finding in found)


def _with_source(**fields: str) -> list[Any]:
    good = _base()["sources"][0]
    return [good, {**good, **fields}]


def main() -> int:
    """Print the table, or the lines of one set that passed. Return 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.safety", description=__doc__)
    parser.add_argument("--passed", choices=FOLDERS, help="print the lines of this set that the gate lets pass")
    chosen = parser.parse_args().passed
    tallies = {name: measure(name) for name in ([chosen] if chosen else FOLDERS)}
    print(as_table(tallies))
    if chosen:
        for kind, found in tallies[chosen].items():
            print(f"\n{kind}:", *(found.refused if kind == BENIGN else found.passed), sep="\n  ")
    else:
        print(f"\nShipped records: {len(_shipped())}, refused: {len(shipped_errors())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
