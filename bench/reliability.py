"""The promises of docs/reliability.md, kept and measured: `python -m bench.reliability [--write] [--only t36]`.

Every function `test_tNN_...` under tests/acceptance is a promise: the first line of its docstring says it, and what it
records as its figure was measured by the run. Without --write the table is printed.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

from bench.blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests/acceptance"
DOCUMENT = ROOT / "docs/reliability.md"
NUMBERS = range(1, 51)
_NAME = re.compile(r"test_t(\d\d)_\w+")
_MOST_FIGURES = 2


@dataclass(frozen=True, order=True)
class Promise:
    """A promise as its test states it.

    Attributes:
        number: of the promise, as in the test's name.
        text: the first line of the docstring, without its full stop.
    """

    number: int
    module: str
    line: int
    test: str
    text: str


@dataclass
class Outcome:
    """What the cases of a test came to."""

    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)

    def said(self) -> str:
        """Return it for the table."""
        if self.failed:
            return f"**{self.failed} of {self.failed + self.passed} failed**"
        if not self.passed:
            return f"not run here: {self.skipped[0]}" if self.skipped else "not run"
        figures = list(dict.fromkeys(self.figures))
        if figures and len(figures) <= _MOST_FIGURES:
            return "; ".join(figures)
        return f"{self.passed} cases hold" if self.passed > 1 else "holds"


def promises() -> list[Promise]:
    """Return every promise, by number. Raises ValueError for a test without a docstring."""
    found = [promise for path in sorted(FOLDER.glob("test_*.py")) for promise in _promises_in(path)]
    return sorted(found)


def measure(only: str | None) -> dict[str, Outcome]:
    """Run the tests and return what came of each, by its name; failures are in it, not raised."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        chosen = only or "test_t"
        written = [f"--junitxml={report}", "-o", "junit_family=xunit1"]
        command = [sys.executable, "-m", "pytest", "-q", str(FOLDER), "-k", chosen, *written]
        subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603 - our own tests
        return _outcomes(ET.parse(report).iter("testcase"))  # noqa: S314 - pytest wrote it a moment ago


def table(known: Iterable[Promise], outcomes: Mapping[str, Outcome]) -> str:
    """Return the promises with what was measured, as a Markdown table."""
    rows = [
        f"| T{promise.number:02d} | {_cell(promise.text)} | {_cell(outcomes[promise.test].said())} |"
        for promise in known
        if promise.test in outcomes
    ]
    return "\n".join(["| | What is promised | As measured |", "|---|---|---|", *rows])


def rows_of(document: str) -> set[tuple[int, str]]:
    """Return number and promise of every row in the document."""
    rows = re.findall(r"^\| T(\d\d) \| (.+?) \| ", document, re.MULTILINE)
    return {(int(number), text) for number, text in rows}


def _promises_in(path: Path) -> Iterator[Promise]:
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (match := _NAME.fullmatch(node.name)):
            told = ast.get_docstring(node)
            if not told:
                raise ValueError(f"{path.name}: {node.name} does not say what it promises")
            yield Promise(int(match[1]), path.stem, node.lineno, node.name, told.splitlines()[0].rstrip("."))


def _outcomes(cases: Iterable[ET.Element]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for case in cases:
        outcome = outcomes.setdefault(case.get("name", "").partition("[")[0], Outcome())
        skipped = case.find("skipped")
        if skipped is not None:
            outcome.skipped.append(skipped.get("message", "").strip())
        elif case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
        else:
            outcome.passed += 1
            outcome.figures += [told.get("value", "") for told in case.iter("property") if told.get("name") == "figure"]
    return outcomes


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> int:
    """Measure, and print or write the table; exit code 1 when a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    parser.add_argument("--only", help="names of tests, as pytest's -k takes them")
    options = parser.parse_args()
    outcomes = measure(options.only)
    content = table(promises(), outcomes)
    if options.write and not options.only:
        write_block("promises", content, DOCUMENT, kind="reliability")
    else:
        print(content)
    return int(any(outcome.failed for outcome in outcomes.values()))


if __name__ == "__main__":
    raise SystemExit(main())
