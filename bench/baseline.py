"""What became of every labelled question, kept so that a change shows which questions it won and lost.

    .venv/bin/python -m bench.baseline [--write]

Prints what differs from `tests/retrieval/baseline.json`, which tests hold new code against; `--write` renews it.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import ROOT, shipped_corpus
from bench.evaluation import Condition, Evaluation, Outcome
from bench.questions import SPLITS, Split, read_questions

FILE = ROOT / "tests/retrieval/baseline.json"
ASKED: tuple[Condition, ...] = ("plain", "named")
# A place beyond this is no place: the list of candidates ends somewhere, and nobody looks there.
_FAR = 10

# Question id -> [place of the right record or 0, the right record is in the answer, there is an answer].
Fates = dict[str, tuple[int, bool, bool]]


@dataclass(frozen=True)
class Comparison:
    """How a measure moved between two sets of fates: which questions turned good, which turned bad."""

    name: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """More was lost than gained, and by more than two standard deviations of a fair coin (the sign test)."""
        moved = len(self.gained) + len(self.lost)
        return len(self.lost) - len(self.gained) > 2 * math.sqrt(moved)

    def __str__(self) -> str:
        """Name the questions."""
        return f"{self.name}: lost {', '.join(self.lost) or 'none'}; gained {', '.join(self.gained) or 'none'}"


# What is good about a fate, for questions with an answer and for those without.
_WITH_ANSWER: Mapping[str, Callable[[tuple[int, bool, bool]], bool]] = {
    "right record first": lambda fate: fate[0] == 1,
    "right record among three": lambda fate: 1 <= fate[0] <= 3,
    "right record in the answer": lambda fate: fate[1],
}
_WITHOUT_ANSWER: Mapping[str, Callable[[tuple[int, bool, bool]], bool]] = {"no answer": lambda fate: not fate[2]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and compare; with `--write` renew the file. Return the exit status: 1 if something is worse."""
    parser = argparse.ArgumentParser(prog="bench.baseline", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="renew tests/retrieval/baseline.json")
    chosen = parser.parse_args(arguments)
    with shipped_corpus() as corpus:
        evaluation = Evaluation(corpus)
        now = {name(split, how): fates(evaluation, split, how) for split in SPLITS for how in ASKED}
    before = read() if FILE.exists() else {}
    found = [entry for key in now if key in before for entry in compare(key, before[key], now[key])]
    for entry in found:
        if entry.gained or entry.lost:
            print(f"{'WORSE  ' if entry.is_worse else ''}{entry}")
    if chosen.write:
        write(now)
        return 0
    return int(any(entry.is_worse for entry in found))


def name(split: Split, condition: Condition) -> str:
    """Return the name of a set of fates."""
    return f"{split}, {condition}"


def fates(evaluation: Evaluation, split: Split, condition: Condition) -> Fates:
    """Return what becomes of each question of a split."""
    return {outcome.question.id: _fate(outcome) for outcome in evaluation.ask(read_questions(split), condition)}


def compare(key: str, before: Fates, now: Fates) -> Iterator[Comparison]:
    """Yield how each measure moved, over the questions that both know; answerable ones have a place in one of them."""
    common = sorted(before.keys() & now.keys())
    answerable = [question for question in common if before[question][0] or now[question][0]]
    for measures, questions in (
        (_WITH_ANSWER, answerable),
        (_WITHOUT_ANSWER, [question for question in common if question not in answerable]),
    ):
        for measure, is_good in measures.items():
            moved = [question for question in questions if is_good(before[question]) != is_good(now[question])]
            gained = tuple(question for question in moved if is_good(now[question]))
            lost = tuple(question for question in moved if not is_good(now[question]))
            yield Comparison(f"{key}: {measure}", gained, lost)


def read(path: Path = FILE) -> dict[str, Fates]:
    """Return the committed fates by name."""
    return {
        key: {question: (fate[0], fate[1], fate[2]) for question, fate in entries.items()}
        for key, entries in json.loads(path.read_text("utf-8")).items()
    }


def write(found: Mapping[str, Fates], path: Path = FILE) -> None:
    """Keep fates: a line for each question, so that a change reads as one."""
    blocks = [
        f"{json.dumps(key)}: {{\n"
        + ",\n".join(f"{json.dumps(question)}: {json.dumps(fate)}" for question, fate in sorted(entries.items()))
        + "\n}"
        for key, entries in found.items()
    ]
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


def _fate(outcome: Outcome) -> tuple[int, bool, bool]:
    place = outcome.place or 0
    return (place if place <= _FAR else _FAR if outcome.question.answers else 0, outcome.right, outcome.answered)


if __name__ == "__main__":
    sys.exit(main())
