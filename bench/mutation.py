"""Would the tests notice? `python -m bench.mutation [--only NAME] [--write]` changes the code in many small ways.

Each module that guards something is mutated by mutmut in a copy of the project, against the tests that run without a
server; a mutant that no test notices is one that survives. mutmut is not among the locked packages, because its own
dependencies are others than the project's: it is installed into the copy, which needs the package index.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.blocks import write_block

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs/reliability.md"
MUTMUT = "mutmut==3.8.1"
COPIED = ("app", "review", "migrations", "bench", "tests", "records", "pyproject.toml", "api.json", "llms-full.txt")
GOAL = 0.9


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
            "tests/edge/test_gate.py",
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
    "scrub": Target(("app/scrub.py",), ("tests/core/test_scrub.py",)),
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
        ("tests/gates",),
    ),
    "chain": Target(
        ("app/ledger.py", "app/integrity.py", "app/signatures.py"),
        ("tests/core/test_integrity.py", "tests/core/test_signatures.py", "tests/review/test_ledger.py"),
    ),
}


@dataclass(frozen=True)
class Score:
    """How many mutants of a module the tests noticed."""

    module: str
    noticed: int
    survivors: tuple[str, ...]

    @property
    def total(self) -> int:
        """All mutants."""
        return self.noticed + len(self.survivors)


def measure(target: Target, children: int) -> list[Score]:
    """Mutate a target and return the score of each of its modules. Raises CalledProcessError when mutmut cannot run."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        _copy_project(copy)
        _install(Path(folder) / "packages")
        (copy / "setup.cfg").write_text(_configuration(target))
        environ = {**os.environ, "PYTHONPATH": str(Path(folder) / "packages")}
        run = [sys.executable, "-m", "mutmut", "run", "--max-children", str(children)]
        subprocess.run(run, cwd=copy, env=environ, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - our own
        told = subprocess.run(
            [sys.executable, "-m", "mutmut", "results", "--all", "true"],
            cwd=copy,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return _scores(target, told.stdout)


def table(scores: Sequence[Score]) -> str:
    """Return the scores as a Markdown table."""
    rows = [
        f"| `{score.module}` | {score.noticed} of {score.total} | {score.noticed / score.total:.0%} |"
        for score in scores
    ]
    noticed, total = sum(score.noticed for score in scores), sum(score.total for score in scores)
    rows.append(f"| all | {noticed} of {total} | {noticed / total:.0%} |")
    return "\n".join(["| Module | Changes that a test notices | |", "|---|---|---|", *rows])


def _copy_project(target: Path) -> None:
    target.mkdir()
    archive = ["git", "archive", "HEAD", *COPIED]
    packed = subprocess.run(archive, cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603 - our own names
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(target, filter="data")


def _install(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), MUTMUT]
    subprocess.run(command, check=True)  # noqa: S603


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


def _scores(target: Target, told: str) -> list[Score]:
    """Read mutmut's list of mutants; one that ran out of time was noticed too."""
    verdicts = re.findall(r"^\s*(\S+)__mutmut_(\d+): (.+)$", told, re.MULTILINE)
    scores = []
    for module in target.modules:
        dotted = module.removesuffix(".py").replace("/", ".")
        mine = [(f"{name}_{number}", verdict) for name, number, verdict in verdicts if name.startswith(dotted + ".x")]
        counts = Counter(verdict in ("killed", "timeout") for _, verdict in mine)
        survivors = tuple(name for name, verdict in mine if verdict not in ("killed", "timeout"))
        scores.append(Score(module, counts[True], survivors))
    return scores


def main() -> int:
    """Measure, and print or write the table; exit code 1 below nine in ten."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=TARGETS, help="mutate one target")
    parser.add_argument("--children", type=int, default=2, help="processes at once")
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    options = parser.parse_args()
    chosen = [TARGETS[options.only]] if options.only else list(TARGETS.values())
    scores = [score for target in chosen for score in measure(target, options.children)]
    for score in scores:
        for survivor in score.survivors:
            print(f"survived: {survivor}", file=sys.stderr)
    if options.write and not options.only:
        write_block("mutation", table(scores), DOCUMENT, kind="reliability")
    else:
        print(table(scores))
    noticed, total = sum(score.noticed for score in scores), sum(score.total for score in scores)
    return int(noticed < GOAL * total)


if __name__ == "__main__":
    raise SystemExit(main())
