"""What people paste around a question, made up: frames, log lines, source code and rambling. Always the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Literal

from app.contract import QUERY_MAX_CHARACTERS
from bench.questions import ANSWERED, Question

Place = Literal["before", "around", "behind"]
PLACES: tuple[Place, ...] = ("before", "around", "behind")
# Of the questions that are no paste themselves, as many as there are with the three kinds that are, about.
ORDINARY = 32

_SOURCE = Path(__file__).with_name("embedding.py")
_FRAMES = (
    '  File "/srv/app/.venv/lib/python3.12/site-packages/{word}/routing.py", line {number}, in {word}',
    "\tat org.springframework.web.{word}.FrameworkServlet.processRequest(FrameworkServlet.java:{number})",
    "    at Layer.{word} [as handle_request] (/app/node_modules/express/lib/router/layer.js:{number}:5)",
)
_LOGS = (
    "2026-03-11T04:{number}Z INFO [worker-{number}] request completed status=200 path=/api/v1/{word}/{number}",
    "2026-03-11T04:{number}Z DEBUG [worker-{number}] loaded {number} entries from segment {word}",
    "2026-03-11T04:{number}Z INFO [worker-{number}] heartbeat ok seq={number} lag={number}",
)
_WORDS = ("handle", "dispatch", "invoke", "inner", "process", "forward", "apply", "next")
_RAMBLING = (
    "Some background, in case it matters.",
    "I inherited this from a colleague who left in March.",
    "We are a team of four and nobody here has done it before.",
    "I looked around for an hour and found only opinions.",
    "The customer calls every other day about it.",
    "We had a meeting about it on Tuesday and could not agree.",
    "My boss wants an answer by the end of the week.",
    "For what it is worth, the other office does it in another way and is happy with that.",
    "I would rather not change much, but if it has to be then it has to be.",
    "The numbers are from last month, this month looks similar.",
)

Noise = Callable[[random.Random], Iterator[str]]


def _frames(dice: random.Random) -> Iterator[str]:
    style = dice.choice(_FRAMES)
    while True:
        yield style.format(word=dice.choice(_WORDS), number=dice.randint(20, 2400))


def _logs(dice: random.Random) -> Iterator[str]:
    while True:
        yield dice.choice(_LOGS).format(word=dice.choice(_WORDS), number=dice.randint(20, 2400))


def _code(dice: random.Random) -> Iterator[str]:
    lines = _SOURCE.read_text("utf-8").splitlines()
    start = dice.randrange(len(lines))
    yield from lines[start:] + lines[:start]


def _rambling(dice: random.Random) -> Iterator[str]:
    while True:
        yield " ".join(dice.sample(_RAMBLING, 3))


NOISES: dict[str, Noise] = {"frames": _frames, "log": _logs, "code": _code, "rambling": _rambling}
_OF_KIND = {"stack_trace": "frames", "code": "code", "long": "rambling"}


def lengthen(questions: list[Question]) -> list[Question]:
    """Return questions of nearly 2000 characters: each long kind with more of its own, some others with any noise."""
    dice = random.Random(7)  # noqa: S311 - a sample, not a secret
    ordinary = dice.sample([question for question in questions if question.kind in ANSWERED], ORDINARY)
    names = list(NOISES)
    chosen = [(question, _OF_KIND[question.kind]) for question in questions if question.kind in _OF_KIND]
    chosen += [(question, names[place % len(names)]) for place, question in enumerate(ordinary)]
    return [_put(question, noise, place, dice) for question, noise in chosen for place in PLACES]


def _put(question: Question, noise: str, place: Place, dice: random.Random) -> Question:
    """Return the question with noise at that side of it; the kind becomes the place."""
    room = QUERY_MAX_CHARACTERS - len(question.text) - 4
    sizes = {"before": (room, 0), "around": (room // 2, room // 2), "behind": (0, room)}[place]
    first, last = (_fill(NOISES[noise](dice), size) for size in sizes)
    return replace(
        question, id=f"{question.id}-{place}", kind=place, text=f"{first}\n\n{question.text}\n\n{last}".strip()
    )


def _fill(lines: Iterator[str], room: int) -> str:
    used = 0

    def fits(line: str) -> bool:
        nonlocal used
        used += len(line) + 1
        return used <= room

    return "\n".join(takewhile(fits, lines))
