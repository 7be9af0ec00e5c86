"""Labelled questions put to the product's own search, and what came of each.

A question is asked as it is written in the set (`named`: with its technologies and versions), without them (`plain`),
and one that nothing answers and that has no technologies also with those of another (`stacked`): an agent that always
sends its stack sends it with every question. `words` is `named` without vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from app.applicability import read_stack
from app.contract import RESULTS_DEFAULT, Applicability
from app.lexical import query_terms, technologies_in
from app.ports import CandidateRequest, EmbeddingModel
from app.ranking import Need, Ranked, Weights, choose_answers, rank
from app.relevance import Calibration
from app.search import doubt
from bench.corpus import Corpus
from bench.questions import Question

Condition = Literal["plain", "named", "stacked", "words"]
CONDITIONS: tuple[Condition, ...] = ("plain", "named", "stacked", "words")


@dataclass(frozen=True)
class Outcome:
    """How a question went.

    Attributes:
        ranked: all candidates, best first, as search_knowledge ranks them.
        answers: what it would answer with, before the token budget.
        terms: distinct words of the question.
    """

    question: Question
    condition: Condition
    ranked: tuple[Ranked, ...]
    answers: tuple[Ranked, ...]
    terms: int

    @property
    def place(self) -> int | None:
        """Place of the first right record, 1 for the best; None when it was not found."""
        return next((n for n, e in enumerate(self.ranked, start=1) if e.candidate.slug in self.question.answers), None)

    @property
    def reciprocal(self) -> float:
        """Reciprocal of the place, 0 when the right record was not found."""
        return 1.0 / self.place if self.place else 0.0

    @property
    def answered(self) -> bool:
        """The answer holds a record, right or wrong."""
        return bool(self.answers)

    @property
    def right(self) -> bool:
        """The answer holds a right record."""
        return any(entry.candidate.slug in self.question.answers for entry in self.answers)

    @property
    def sure(self) -> bool:
        """There is an answer, and it comes without a word of doubt."""
        return self.answered and doubt(self.answers, self.terms) is None

    @property
    def margin(self) -> float:
        """Margin of the surest record, in logits; what decides whether there is an answer at all."""
        return max((entry.margin for entry in self.ranked), default=float("-inf"))

    @property
    def wrong_versions(self) -> tuple[str, ...]:
        """Answers that are handed out as applying to a version they are not for."""
        return tuple(
            entry.candidate.slug
            for entry in self.answers
            if entry.candidate.slug in self.question.refuse
            and entry.judgement.best() is Applicability.APPLIES
            and not entry.judgement.violated
        )


class Evaluation:
    """Asks questions of a corpus. Every question is embedded once."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._embed = cache(corpus.embed)

    @property
    def model(self) -> EmbeddingModel:
        """The model that questions and records are embedded with."""
        return self._corpus.embedder.model

    def ask(
        self,
        questions: Sequence[Question],
        condition: Condition,
        *,
        weights: Weights | None = None,
        calibration: Calibration | None = None,
    ) -> list[Outcome]:
        """Return the outcome of each question that is asked this way. Raises Unavailable, EmbeddingFailure."""
        return [
            self._ask(question, condition, *stack, weights=weights, calibration=calibration)
            for question, stack in _stacks(questions, condition)
        ]

    def _ask(
        self,
        question: Question,
        condition: Condition,
        technologies: Sequence[str],
        versions: Mapping[str, str],
        *,
        weights: Weights | None,
        calibration: Calibration | None,
    ) -> Outcome:
        need = Need(read_stack(technologies, versions), technologies_in(question.text))
        embedding = None if condition == "words" else self._embed(question.text)
        request = CandidateRequest(query_terms(question.text), question.text, embedding, need.whole_stack.reach)
        pool = self._corpus.catalogue.find_candidates(request)
        ranked = tuple(rank(pool, need, question=embedding, weights=weights, calibration=calibration))
        return Outcome(question, condition, ranked, choose_answers(ranked, RESULTS_DEFAULT), len(request.terms))


def _stacks(
    questions: Sequence[Question], condition: Condition
) -> Iterator[tuple[Question, tuple[Sequence[str], Mapping[str, str]]]]:
    """Yield each question with technologies and versions. Stacks are lent in turn, the same ones every time."""
    lent = [question.technologies for question in questions if question.answerable and question.technologies]
    for place, question in enumerate(questions):
        if condition == "plain":
            yield question, ((), {})
        elif condition != "stacked":
            yield question, (question.technologies, question.versions)
        elif lent and not question.technologies and not question.answerable:
            yield question, (lent[place * 7 % len(lent)], {})
