"""Would the tests notice? `python -m bench.mutation [--only NAME] [--show] [--write]` changes the code in small ways.

Each module that guards something is mutated by mutmut in a copy of the last commit, against the tests that take
seconds and need no database; a mutant that no test notices is one that survives. --show prints what each of those
changed. With --only and --write, the rows of the other modules stay what they are in the document.

Only the code of functions is mutated: no constant, and no pattern of a module. mutmut is not among the locked packages,
because its own dependencies are others than the project's: it is installed beside the copy, which needs the package
index.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs/reliability.md"
MUTMUT = "mutmut==3.8.1"
COPIED = ("app", "review", "migrations", "bench", "tests", "records", "pyproject.toml", "api.json", "llms-full.txt")
GOAL = 0.9
# One that runs for ever or out of bounds was noticed, too.
_NOTICED = frozenset({"killed", "timeout", "segfault"})
_READ = """
import json, sys
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code
read = {}
for path in sys.argv[1:]:
    module = SourceFileMutationData(path=path)
    module.load()
    verdicts = {name: status_by_exit_code[code] for name, code in module.exit_code_by_key.items()}
    read[path] = {name: [verdict, get_diff_for_mutant(name, path=path)] for name, verdict in verdicts.items()}
print(json.dumps(read))
"""


@dataclass(frozen=True)
class Target:
    """What is mutated together, and the tests that should notice."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


# Of each, the tests that guard it and take seconds; what needs a database is shown under tests/acceptance.
TARGETS: Mapping[str, Target] = {
    "gate": Target(
        (
            "app/transports/gate.py",
            "app/transports/strictjson.py",
            "app/transports/jsonrpc.py",
            "app/transports/plaincalls.py",
        ),
        (
            "tests/edge/test_gate_alone.py",
            "tests/edge/test_messages.py",
            "tests/edge/test_plain_calls.py",
        ),
    ),
    "quota": Target(
        ("app/access/quota.py", "app/access/address.py", "app/access/memory.py"),
        ("tests/access/test_admission.py", "tests/access/test_address.py", "tests/access/test_memory.py"),
    ),
    "keys": Target(
        ("app/access/keys.py", "app/access/admission.py", "app/access/pepper.py"),
        ("tests/access", "tests/edge/test_credentials.py"),
    ),
    "scrub": Target(
        ("app/scrub/__init__.py", "app/scrub/checks.py", "app/scrub/forms.py"),
        ("tests/core/test_scrub.py", "tests/core/test_scrub_forms.py"),
    ),
    "lint": Target(
        (
            "review/gates/safety.py",
            "review/traps.py",
            "review/hidden.py",
            "review/links.py",
            "review/installs.py",
            "review/language.py",
            "review/leaks.py",
            "review/markup.py",
            "review/opaque.py",
        ),
        ("tests/gates/test_safety_parts.py",),
    ),
    "chain": Target(
        ("app/ledger.py", "app/integrity.py", "app/signatures.py"),
        ("tests/core/test_integrity.py", "tests/core/test_signatures.py", "tests/review/test_ledger.py"),
    ),
}


@dataclass(frozen=True)
class Score:
    """How many of the changes to a module the tests noticed."""

    noticed: int
    total: int

    def __add__(self, other: Score) -> Score:
        return Score(self.noticed + other.noticed, self.total + other.total)


@dataclass(frozen=True)
class Measured:
    """What became of the mutants of a module.

    Attributes:
        survivors: what each one changed that no test noticed, as lines of a diff, by its name.
    """

    score: Score
    survivors: Mapping[str, str]


def measure(target: Target, children: int) -> dict[str, Measured]:
    """Mutate a target and return what became of each module. Raises CalledProcessError when mutmut cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        copy, packages = Path(folder) / "project", Path(folder) / "packages"
        _copy_project(copy)
        _install(packages)
        (copy / "setup.cfg").write_text(_configuration(target))
        _python(copy, packages, "-m", "mutmut", "run", "--max-children", str(children))
        read = json.loads(_python(copy, packages, "-c", _READ, *target.modules))
    return {module: _measured(verdicts) for module, verdicts in read.items()}


def table(scores: Mapping[str, Score]) -> str:
    """Return the scores as a Markdown table."""
    named = [(f"`{module}`", score) for module, score in scores.items()]
    named.append(("all", sum(scores.values(), Score(0, 0))))
    rows = [
        f"| {name} | {score.noticed} of {score.total} | {score.noticed / score.total:.0%} |" for name, score in named
    ]
    return "\n".join(["| Module | Changes that a test notices | |", "|---|---|---|", *rows])


def scores_in(document: str) -> dict[str, Score]:
    """Return the scores that a document's table holds."""
    rows = re.findall(r"^\| `((?:app|review)/[\w/]+\.py)` \| (\d+) of (\d+) \|", document, re.MULTILINE)
    return {module: Score(int(noticed), int(total)) for module, noticed, total in rows}


def _copy_project(target: Path) -> None:
    target.mkdir()
    archive = ["git", "archive", "HEAD", *COPIED]
    packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603 - our own names
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(target, filter="data")


def _install(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), MUTMUT]
    subprocess.run(command, check=True)  # noqa: S603 - a pinned package


def _python(copy: Path, packages: Path, *arguments: str) -> str:
    environ = {**os.environ, "PYTHONPATH": str(packages)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, env=environ, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603 - our own


def _configuration(target: Target) -> str:
    settings = {
        "source_paths": ("app", "review"),
        "only_mutate": target.modules,
        "also_copy": COPIED,
        "pytest_add_cli_args_test_selection": target.tests,
    }
    lines = ["[mutmut]", "use_setproctitle=False"]
    for name, values in settings.items():
        lines += [f"{name}=", *(f"    {value}" for value in values)]
    return "\n".join(lines) + "\n"


def _measured(verdicts: Mapping[str, tuple[str, str]]) -> Measured:
    survivors = {name: _changes(diff) for name, (verdict, diff) in verdicts.items() if verdict not in _NOTICED}
    return Measured(Score(len(verdicts) - len(survivors), len(verdicts)), survivors)


def _changes(diff: str) -> str:
    return "\n".join(line for line in diff.splitlines()[2:] if line.startswith(("+", "-")))


def _told(survivors: Mapping[str, str], *, show: bool) -> Iterator[str]:
    for name, changes in survivors.items():
        yield f"survived: {name}"
        if show:
            yield changes


def _ordered(scores: Mapping[str, Score]) -> dict[str, Score]:
    """Return the scores of what is mutated today, in the order of the targets."""
    modules: Iterable[str] = (module for target in TARGETS.values() for module in target.modules)
    return {module: scores[module] for module in modules if module in scores}


def main() -> int:
    """Measure, and print or write the table; exit code 1 below nine in ten."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TARGETS, help="mutate one target")
    parser.add_argument("--children", type=int, default=2, help="processes at once")
    parser.add_argument("--show", action="store_true", help="print what the survivors changed")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    options = parser.parse_args()
    scores: dict[str, Score] = {}
    for name in [options.only] if options.only else TARGETS:
        for module, measured in measure(TARGETS[name], options.children).items():
            scores[module] = measured.score
            for line in _told(measured.survivors, show=options.show):
                print(line, file=sys.stderr)
    if options.write and options.only:
        scores = scores_in(DOCUMENT.read_text("utf-8")) | scores
    content = table(_ordered(scores))
    if options.write:
        write_block("mutation", content, DOCUMENT, kind="reliability")
    else:
        print(content)
    whole = sum(scores.values(), Score(0, 0))
    return int(whole.noticed < GOAL * whole.total)


if __name__ == "__main__":
    raise SystemExit(main())
