"""Ranking: one score from words, meaning and applicability. Pure and total: the same candidates give the same order.

Words and meaning are fused by a convex combination of scores under theoretical-minimum scaling (Bruch, Gai & Ingber,
An Analysis of Fusion Functions for Hybrid Retrieval, ACM TOIS 2023), which keeps how far apart candidates are;
reciprocal ranks do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.applicability import Judgement, Stack, judge_applicability
from app.contract import Applicability
from app.ports import Candidate, CandidatePool, EmbeddingModel
from app.record import TaskType, Topic
from app.relevance import Gate, GateSignals, choose_gate, weigh

# Logits by which an answer may be less sure than the surest one.
TAIL = 1.2


@dataclass(frozen=True)
class Weights:
    """What each signal is worth, on the scale of the fused score (0 to 1).

    Attributes:
        meaning: share of the cosine in the fused score; the rest is BM25.
        applies, version_unknown, built_on, agnostic, not_about: bonus by the best verdict on the caller's technologies.
        topic, task: bonus when the record has a topic or task type the caller named.
        phrase: bonus when the question's words stand together in the record.
    """

    meaning: float = 0.85
    applies: float = 0.12
    version_unknown: float = 0.08
    built_on: float = 0.04
    agnostic: float = 0.03
    not_about: float = 0.0
    topic: float = 0.03
    task: float = 0.01
    phrase: float = 0.02

    def bonus(self, verdict: Applicability | None) -> float:
        """Return the applicability bonus."""
        return (
            {
                Applicability.APPLIES: self.applies,
                Applicability.VERSION_UNKNOWN: self.version_unknown,
                Applicability.BUILT_ON: self.built_on,
                Applicability.TECHNOLOGY_AGNOSTIC: self.agnostic,
            }.get(verdict, self.not_about)
            if verdict
            else 0.0
        )


@dataclass(frozen=True)
class Need:
    """What the caller asked for besides the question's text."""

    stack: Stack
    topics: frozenset[Topic] = frozenset()
    task_type: TaskType | None = None


@dataclass(frozen=True)
class Ranked:
    """A judged candidate.

    Attributes:
        score: fused score plus bonuses.
        margin: distance to the relevance gate in logits; negative is not an answer.
    """

    candidate: Candidate
    judgement: Judgement
    signals: GateSignals
    words: float
    meaning: float
    score: float
    margin: float

    @property
    def relevant(self) -> bool:
        """The record cleared the relevance gate."""
        return self.margin >= 0.0


def rank(
    pool: CandidatePool,
    need: Need,
    *,
    model: EmbeddingModel | None,
    weights: Weights | None = None,
    gate: Gate | None = None,
) -> list[Ranked]:
    """Return all candidates, best first. A record whose version is known not to fit comes after every one that may.

    Args:
        pool: what the store found.
        need: technologies, versions, topics and task of the caller.
        model: the model the question was embedded with; None when words alone were searched.
        weights: what signals are worth; the fitted defaults when not given.
        gate: the relevance gate; the model's calibrated one when not given.
    """
    chosen = gate or choose_gate(model)
    scale = _Scale.of(pool.candidates, has_vectors=model is not None)
    judged = [_judge(candidate, pool, need, scale, weights or Weights(), chosen) for candidate in pool.candidates]
    return sorted(judged, key=lambda entry: (entry.judgement.violated, -entry.score, entry.candidate.slug))


def choose_answers(ranked: Sequence[Ranked], limit: int, *, least: float = 0.0) -> tuple[Ranked, ...]:
    """Return the records to answer with, in their order: those past the gate and not far behind the surest of them.

    Where one record clearly answers, its neighbours only cost tokens; where several are about as sure, all are said.

    Args:
        limit: most records.
        least: margin that is asked for, in logits; more than 0 where there is reason for doubt.
    """
    surest = max((entry.margin for entry in ranked), default=0.0)
    floor = max(least, surest - TAIL)
    return tuple(entry for entry in ranked if entry.margin >= floor)[:limit]


@dataclass(frozen=True)
class _Scale:
    """Highest raw scores of the pool; the lowest are the theoretical minima, 0 for BM25 and -1 for a cosine."""

    words: float
    cosine: float
    has_vectors: bool

    @classmethod
    def of(cls, candidates: Sequence[Candidate], *, has_vectors: bool) -> _Scale:
        words = max((candidate.words or 0.0 for candidate in candidates), default=0.0)
        cosine = max((candidate.cosine for candidate in candidates if candidate.cosine is not None), default=-1.0)
        return cls(words, cosine, has_vectors)

    def scaled_words(self, candidate: Candidate) -> float:
        return (candidate.words or 0.0) / self.words if self.words else 0.0

    def scaled_meaning(self, candidate: Candidate) -> float:
        if candidate.cosine is None or self.cosine <= -1.0:
            return 0.0
        return (candidate.cosine + 1.0) / (self.cosine + 1.0)


def _judge(
    candidate: Candidate, pool: CandidatePool, need: Need, scale: _Scale, weights: Weights, gate: Gate
) -> Ranked:
    judgement = judge_applicability(candidate.applies_to, need.stack)
    verdict = judgement.best()
    words, meaning = scale.scaled_words(candidate), scale.scaled_meaning(candidate)
    share = weights.meaning if scale.has_vectors else 0.0
    score = share * meaning + (1.0 - share) * words + _bonus(candidate, need, verdict, weights)
    signals = weigh(candidate, pool, verdict)
    return Ranked(candidate, judgement, signals, words, meaning, score, gate.margin(signals))


def _bonus(candidate: Candidate, need: Need, verdict: Applicability | None, weights: Weights) -> float:
    bonus = weights.bonus(verdict)
    bonus += weights.topic if candidate.topic in need.topics else 0.0
    bonus += weights.task if need.task_type in candidate.task_types else 0.0
    return bonus + (weights.phrase if candidate.phrase > 0.0 else 0.0)
