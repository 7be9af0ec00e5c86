"""Ranking: one score from words, meaning and applicability. Pure and total: the same candidates give the same order.

Words and meaning are fused by a convex combination of scores under theoretical-minimum scaling (Bruch, Gai & Ingber,
An Analysis of Fusion Functions for Hybrid Retrieval, ACM TOIS 2023), which keeps how far apart candidates are;
reciprocal ranks do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from app.applicability import Judgement, Stack, join_stacks, judge_applicability
from app.contract import Applicability
from app.ports import Candidate, CandidatePool, QueryEmbedding
from app.record import TaskType, Topic
from app.relevance import Calibration, Gate, GateSignals, choose_gate, weigh

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

    meaning: float = 0.88
    applies: float = 0.11
    version_unknown: float = 0.10
    built_on: float = 0.07
    agnostic: float = 0.05
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
    """What the caller asked for besides the question's text.

    Attributes:
        stack: the technologies and versions named; what a record is said to hold for.
        mentioned: keys of technologies that the question's text mentions: they help to find, and nothing is said of
            them.
    """

    stack: Stack
    mentioned: tuple[str, ...] = ()
    topics: frozenset[Topic] = frozenset()
    task_type: TaskType | None = None

    @cached_property
    def whole_stack(self) -> Stack:
        """The technologies named and mentioned."""
        return join_stacks(self.stack, self.mentioned)


@dataclass(frozen=True)
class Parts:
    """What a score is the sum of: the shares of both legs, and the bonuses."""

    words: float
    meaning: float
    technology: float
    topic: float
    task: float
    phrase: float

    @property
    def total(self) -> float:
        """The score."""
        return self.meaning + self.words + (self.technology + self.topic + self.task + self.phrase)


@dataclass(frozen=True)
class Ranked:
    """A judged candidate.

    Attributes:
        judgement: of the technologies the caller named, which the answer says.
        fit: of these and those the question mentions, which score and gate go by.
        words, meaning: scores of the legs, each scaled to at most 1.
        margin: distance to the relevance gate in logits; negative is not an answer.
    """

    candidate: Candidate
    judgement: Judgement
    fit: Judgement
    signals: GateSignals
    gate: Gate
    words: float
    meaning: float
    parts: Parts
    margin: float

    @property
    def score(self) -> float:
        """Fused score plus bonuses."""
        return self.parts.total

    @property
    def relevant(self) -> bool:
        """The record cleared the relevance gate."""
        return self.margin >= 0.0

    @property
    def match(self) -> float:
        """The margin it would have if it were about the caller's technologies: how well it meets the text."""
        contributions = self.gate.contributions(self.signals)
        return self.margin - contributions["elsewhere"] - contributions["rival"]

    @property
    def within(self) -> bool:
        """The record is about a technology the caller named, about what one is built on, or about none."""
        return not self.judgement.elsewhere


def rank(
    pool: CandidatePool,
    need: Need,
    *,
    question: QueryEmbedding | None,
    weights: Weights | None = None,
    calibration: Calibration | None = None,
) -> list[Ranked]:
    """Return all candidates, best first. A record whose version is known not to fit comes after every one that may.

    Args:
        pool: what the store found.
        need: technologies, versions, topics and task of the caller.
        question: the question's vector; None when words alone were searched.
        weights: what signals are worth; the fitted defaults when not given.
        calibration: the relevance gate; the committed one of the question's model when not given.
    """
    bench = _Bench.of(pool, question, weights or Weights(), calibration)
    judged = [_judge(candidate, need, bench) for candidate in pool.candidates]
    return sorted(judged, key=lambda entry: (entry.judgement.violated, -entry.score, entry.candidate.slug))


def choose_answers(ranked: Sequence[Ranked], limit: int) -> tuple[Ranked, ...]:
    """Return the records to answer with, in their order: those past the gate and not far behind the surest of them.

    Where one record clearly answers, its neighbours only cost tokens; where several are about as sure, all are said. A
    record about other technologies than the caller's is said only where none about his is surer.

    Args:
        limit: most records.
    """
    fates = decide_fates(ranked, limit)
    return tuple(entry for entry, fate in zip(ranked, fates, strict=True) if fate is Fate.CHOSEN)


class Fate(StrEnum):
    """What becomes of a candidate, before the token budget."""

    CHOSEN = "chosen"
    BELOW_GATE = "below_gate"
    BEHIND_SUREST = "behind_surest"
    OTHER_TECHNOLOGIES = "other_technologies"
    BEYOND_MAX_RESULTS = "beyond_max_results"


def least_margin(ranked: Sequence[Ranked]) -> float:
    """Return the margin that an answer needs: the gate's, or one not far behind the best match's.

    Where the best match is about another technology and fails for that, what is far behind it is no answer either.
    """
    surest = max((entry.match for entry in ranked), default=0.0)
    return max(0.0, surest - TAIL)


def decide_fates(ranked: Sequence[Ranked], limit: int) -> list[Fate]:
    """Return what becomes of each candidate, in their order; `choose_answers` goes by it."""
    floor = least_margin(ranked)
    surest_within = max((entry.margin for entry in ranked if entry.margin >= floor and entry.within), default=floor)
    fates: list[Fate] = []
    for entry in ranked:
        fate = _fate(entry, floor, surest_within)
        is_over = fate is Fate.CHOSEN and fates.count(Fate.CHOSEN) >= limit
        fates.append(Fate.BEYOND_MAX_RESULTS if is_over else fate)
    return fates


def _fate(entry: Ranked, floor: float, surest_within: float) -> Fate:
    if entry.margin < floor:
        return Fate.BEHIND_SUREST if entry.relevant else Fate.BELOW_GATE
    return Fate.CHOSEN if entry.within or entry.margin >= surest_within else Fate.OTHER_TECHNOLOGIES


@dataclass(frozen=True)
class _Bench:
    """What all candidates of a search are judged with.

    Attributes:
        words, cosine: highest raw scores of the pool. The lowest are the theoretical minima: 0 for BM25, -1 for a
            cosine.
        domain: log-odds that the question is about software engineering.
        words_gate: for a candidate that has no vectors yet while others have.
    """

    pool: CandidatePool
    weights: Weights
    gate: Gate
    words_gate: Gate
    words: float
    cosine: float
    domain: float | None
    has_vectors: bool

    @classmethod
    def of(
        cls,
        pool: CandidatePool,
        question: QueryEmbedding | None,
        weights: Weights,
        calibration: Calibration | None,
    ) -> _Bench:
        words = max((candidate.words or 0.0 for candidate in pool.candidates), default=0.0)
        cosine = max((candidate.cosine for candidate in pool.candidates if candidate.cosine is not None), default=-1.0)
        gate, domain = choose_gate(question, calibration)
        words_gate, _ = choose_gate(None, calibration)
        return cls(pool, weights, gate, words_gate, words, cosine, domain, question is not None)

    def goes_by_words(self, candidate: Candidate) -> bool:
        return candidate.cosine is None or not self.has_vectors

    def scaled_words(self, candidate: Candidate) -> float:
        return (candidate.words or 0.0) / self.words if self.words else 0.0

    def scaled_meaning(self, candidate: Candidate) -> float:
        if candidate.cosine is None or self.cosine <= -1.0:
            return 0.0
        return (candidate.cosine + 1.0) / (self.cosine + 1.0)


def _judge(candidate: Candidate, need: Need, bench: _Bench) -> Ranked:
    judgement = judge_applicability(candidate.applies_to, need.stack)
    fit = judge_applicability(candidate.applies_to, need.whole_stack) if need.mentioned else judgement
    words, meaning = bench.scaled_words(candidate), bench.scaled_meaning(candidate)
    parts = _parts(candidate, need, fit, bench, words=words, meaning=meaning)
    signals = weigh(candidate, bench.pool, fit, bench.domain)
    gate = bench.words_gate if bench.goes_by_words(candidate) else bench.gate
    return Ranked(candidate, judgement, fit, signals, gate, words, meaning, parts, gate.margin(signals))


def _parts(candidate: Candidate, need: Need, fit: Judgement, bench: _Bench, *, words: float, meaning: float) -> Parts:
    weights = bench.weights
    share = 0.0 if bench.goes_by_words(candidate) else weights.meaning
    return Parts(
        words=(1.0 - share) * words,
        meaning=share * meaning,
        technology=weights.bonus(fit.best()),
        topic=weights.topic if candidate.topic in need.topics else 0.0,
        task=weights.task if need.task_type in candidate.task_types else 0.0,
        phrase=weights.phrase if candidate.phrase > 0.0 else 0.0,
    )
