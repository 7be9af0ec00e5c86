"""The labelled questions that retrieval is measured with.

`tests/retrieval/questions/` holds them as JSON lines, split by need: no record that answers a development question
answers a test question. Whatever is tuned is tuned on the development half.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests/retrieval/questions"
# Real questions from public issues, which are not part of this repository.
ISSUES = ROOT.parent / "shared/data/questions/questions-dev.jsonl"

Split = Literal["dev", "test"]
SPLITS: tuple[Split, ...] = ("dev", "test")

ANSWERED = ("symptom", "decision", "error", "comparison", "mistagged")
MESSY = ("stack_trace", "code", "long", "typos", "other_language")
# Questions about something else; a near topic is told apart because an answer to it is a smaller mistake.
ELSEWHERE = ("lexical_trap", "far_software", "off_topic", "chit_chat")
NEAR = ("near_topic", "foreign")
# Things to do in a repository, in the words of the trade, that ask nothing.
COMMANDS = ("agent_command",)
OLD_VERSION = "old_version"
KINDS = (*ANSWERED, OLD_VERSION, *MESSY, *NEAR, *COMMANDS, *ELSEWHERE)


@dataclass(frozen=True)
class Question:
    """A labelled question.

    Attributes:
        subject: the need behind it; questions of one need are in one split.
        answers: slugs of the records that answer it; empty where the knowledge base has none.
        also: slugs that are fine beside an answer.
        refuse: slugs that must not be handed out as applying, because the version named is another.
        language: of a question that is not in English.
    """

    id: str
    kind: str
    text: str
    subject: str
    technologies: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    answers: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    refuse: frozenset[str] = frozenset()
    language: str = "en"

    @property
    def answerable(self) -> bool:
        """A record answers it."""
        return bool(self.answers)

    @property
    def fine(self) -> frozenset[str]:
        """Slugs that are no mistake in an answer."""
        return self.answers | self.also


def read_questions(split: Split) -> list[Question]:
    """Return the questions of a split in the order of their files. Raises ValueError on an unknown key or kind."""
    return [_question(entry) for path in sorted(FOLDER.glob(f"{split}-*.jsonl")) for entry in _entries(path)]


def read_issues(path: Path = ISSUES) -> list[Question]:
    """Return the questions from public issues, mapped to the records that answer their needs; [] without the file."""
    if not path.is_file():
        return []
    needs = json.loads((FOLDER.parent / "needs.json").read_text("utf-8"))
    return [_issue(entry, needs) for entry in _entries(path) if entry["kind"] == "no_match" or entry["need"] in needs]


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines() if line)


def _question(entry: dict[str, Any]) -> Question:
    if entry["kind"] not in KINDS:
        raise ValueError(f"{entry['id']}: no kind {entry['kind']!r}")
    text = entry.pop("question")
    collected = {key: tuple(entry.pop(key, ())) for key in ("technologies", "answers", "also", "refuse")}
    return Question(
        text=text,
        technologies=collected["technologies"],
        answers=frozenset(collected["answers"]),
        also=frozenset(collected["also"]),
        refuse=frozenset(collected["refuse"]),
        **entry,
    )


def _issue(entry: Mapping[str, Any], needs: Mapping[str, list[str]]) -> Question:
    answerable = entry["kind"] == "in_corpus"
    return Question(
        id=entry["id"],
        kind="symptom" if answerable else "off_topic",
        text=entry["question"],
        subject=entry["need"] if answerable else entry["id"],
        technologies=tuple(entry["technologies"]),
        answers=frozenset(needs[entry["need"]]) if answerable else frozenset(),
    )
