"""Just enough of the Dockerfile's grammar to look at it and to follow its steps without a container engine."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Step:
    """One instruction."""

    word: str
    text: str

    def words(self) -> list[str]:
        """The text as a list: JSON form or plain words."""
        found: list[str] = json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)
        return found


def stages() -> list[list[Step]]:
    """Return the instructions by stage."""
    joined = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line.strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]
    found: list[list[Step]] = []
    for line in lines:
        word, _, text = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append(Step(word, text.strip()))
    return found


def environment(steps: list[Step]) -> dict[str, str]:
    """Return what the ENV instructions set."""
    pairs = [pair for step in steps if step.word == "ENV" for pair in step.words()]
    return dict(pair.split("=", 1) for pair in pairs)


def last(steps: list[Step], word: str) -> Step:
    """Return the last instruction of a kind."""
    return [step for step in steps if step.word == word][-1]
