"""Agents that ask questions with known answers, at a steady rate, wherever a balancer sends them."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.questions import ANSWERED, Question, read_questions
from tests.acceptance.conftest import Program, answer_of

QUESTIONS = 30
RESULTS = 5
AGENTS = 8


def gold() -> list[Question]:
    """Return some of the development questions, each of a need of its own."""
    by_subject = {question.subject: question for question in read_questions("dev") if question.kind in ANSWERED}
    return list(by_subject.values())[:QUESTIONS]


@dataclass(frozen=True)
class Answer:
    """What an agent got."""

    question: Question
    base: str
    status: int
    found: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slugs(self) -> list[str]:
        return [result["slug"] for result in self.found["results"]]

    @property
    def text(self) -> str:
        """The whole answer, in one spelling."""
        return json.dumps(self.found, sort_keys=True)


def ask(client: httpx.Client, base: str, question: Question) -> Answer:
    arguments = {"query": question.text, "technologies": list(question.technologies), "max_results": RESULTS}
    params = {"name": "search_knowledge", "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"accept": "application/json, text/event-stream"}
    response = client.post(f"{base}/mcp", json=call, headers=headers, timeout=30)
    found = answer_of(response) if response.status_code == 200 else {}
    return Answer(question, base, response.status_code, found)


def ask_all(program: Program, questions: Sequence[Question]) -> dict[str, Answer]:
    """Return a server's answer to every question, by the question's id."""
    with httpx.Client() as client:
        return {question.id: ask(client, program.base, question) for question in questions}


def recall(answers: Sequence[Answer]) -> float:
    """Return the share of answers that have a record in them which answers the question."""
    return sum(bool(answer.question.answers & set(answer.slugs)) for answer in answers) / len(answers)


class Balancer:
    """Sends each question to the next of the servers in use; a server taken out is left when its calls are done."""

    def __init__(self, questions: Sequence[Question], rate: float) -> None:
        self.answers: list[Answer] = []
        self._questions = itertools.cycle(questions)
        self._rate = rate
        self._bases: tuple[str, ...] = ()
        self._under_way: list[str] = []
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._turn = 0
        self._begun = time.monotonic()

    def use(self, *programs: Program) -> None:
        """Send what is asked from now on to these."""
        self._bases = tuple(program.base for program in programs)

    def drain(self, program: Program) -> None:
        """Wait until nothing that was sent to a server is under way."""
        while program.base in self._under_way:
            time.sleep(0.01)

    @contextmanager
    def asking(self) -> Iterator[None]:
        agents = [threading.Thread(target=self._ask) for _ in range(AGENTS)]
        self._begun = time.monotonic()
        for agent in agents:
            agent.start()
        try:
            yield
        finally:
            self._stop.set()
            for agent in agents:
                agent.join()

    def _ask(self) -> None:
        with httpx.Client() as client:
            while not self._stop.is_set():
                with self._lock:
                    turn, question = self._turn, next(self._questions)
                    self._turn += 1
                    base = self._bases[turn % len(self._bases)]
                    self._under_way.append(base)
                time.sleep(max(0.0, self._begun + turn / self._rate - time.monotonic()))
                try:
                    self.answers.append(ask(client, base, question))
                finally:
                    self._under_way.remove(base)
