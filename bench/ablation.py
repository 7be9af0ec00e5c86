"""What each part of the ranking and of the gate is worth, on the development questions.

    .venv/bin/python -m bench.ablation [--write]

Each row leaves one part out, or puts what was tried in its place; everything else stays. Ranking: right record first,
reciprocal rank. Gate: fitted anew without a signal, and what it then lets through where 95 % of the questions that have
an answer get one. The test half is not touched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from app.indexing import embedding_texts
from app.ports import Vector
from app.ranking import Ranked, Weights
from bench.blocks import write_block
from bench.calibrate import SIGNALS, fit_domain, fit_gate, observe
from bench.corpus import Corpus, shipped_corpus
from bench.evaluation import Condition, Evaluation, Outcome
from bench.questions import ANSWERED, ELSEWHERE, Question, read_questions

Score = Callable[[Outcome, Ranked], float]
_ASKED: tuple[Condition, ...] = ("plain", "named")
_FOLDS = 5
_KEPT = 0.95


@dataclass(frozen=True)
class Trial:
    """A way to rank."""

    name: str
    score: Score


class Tried:
    """The development questions that have an answer, as the product ranks them, and the vectors to rank otherwise."""

    def __init__(self, corpus: Corpus, evaluation: Evaluation) -> None:
        self.outcomes = {
            condition: evaluation.ask(
                [question for question in read_questions("dev") if question.kind in ANSWERED], condition
            )
            for condition in _ASKED
        }
        texts = {file.record.slug: embedding_texts(file.record) for file in corpus.records}
        self.parts: dict[str, Vector] = {
            slug: corpus.embedder.embed(list(named.values())) for slug, named in texts.items()
        }
        self.names = {slug: list(named) for slug, named in texts.items()}
        self._corpus = corpus
        self._questions: dict[str, Vector] = {}

    def question(self, question: Question) -> Vector:
        """Return the vector of a question."""
        if question.id not in self._questions:
            self._questions[question.id] = self._corpus.embed(question.text).vector
        return self._questions[question.id]

    def cosines(self, outcome: Outcome, entry: Ranked) -> list[tuple[float, str]]:
        """Return the cosine of each vector of a record with the name of its part, best first."""
        slug = entry.candidate.slug
        values = (self.parts[slug] @ self.question(outcome.question)).tolist()
        return sorted(zip(values, self.names[slug], strict=True), reverse=True)

    def meaning_by(self, pick: Callable[[list[tuple[float, str]]], float]) -> Score:
        """Return the product's score with another way to draw a record's vectors together."""

        def score(outcome: Outcome, entry: Ranked) -> float:
            best = max(pick(self.cosines(outcome, other)) for other in outcome.ranked)
            scaled = (pick(self.cosines(outcome, entry)) + 1.0) / (best + 1.0)
            return entry.score - Weights().meaning * (entry.meaning - scaled)

        return score


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; with `--write` renew docs/retrieval.md. Return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.ablation", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="renew docs/retrieval.md")
    chosen = parser.parse_args(arguments)
    with shipped_corpus() as corpus:
        evaluation = Evaluation(corpus)
        tables = {
            "ranking-parts": ranking_table(Tried(corpus, evaluation)),
            "gate-parts": gate_table(corpus, evaluation),
        }
    for name, table in tables.items():
        print(f"{table}\n")
        if chosen.write:
            write_block(name, table)
    return 0


def ranking_table(bench: Tried) -> str:
    """Return what becomes of the ranking in each trial, as a Markdown table."""
    lines = [
        "| ranking | first, none named | MRR | first, named | MRR |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for trial in trials(bench):
        cells = [cell for condition in _ASKED for cell in _cells(bench.outcomes[condition], trial.score)]
        lines.append(f"| {trial.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def trials(bench: Tried) -> list[Trial]:
    """Return the product's ranking, and the others in the order they are told."""
    return [
        Trial("**as it is**", lambda _, entry: entry.score),
        Trial("words alone", lambda _, entry: entry.words + _bonus(entry)),
        Trial("meaning alone", lambda _, entry: entry.meaning + _bonus(entry)),
        *(Trial(f"share of meaning {share}", _convex(share)) for share in (0.5, 0.7, 0.8, 0.95)),
        *(Trial(f"reciprocal ranks, k = {k}", _reciprocal(k)) for k in (2, 60)),
        Trial("no bonus for technologies", lambda _, entry: entry.score - _bonus(entry)),
        Trial("records about other technologies left out", _filtered),
        Trial("the best vector of a record", bench.meaning_by(lambda found: found[0][0])),
        Trial("the two best", bench.meaning_by(lambda found: mean(value for value, _ in found[:2]))),
        Trial("the five best", bench.meaning_by(lambda found: mean(value for value, _ in found[:5]))),
        Trial("the text's vector alone", bench.meaning_by(lambda found: _part(found, "text"))),
        Trial("no vectors of symptoms", bench.meaning_by(_without_symptoms)),
        Trial("pseudo-relevance: the question moved towards its best record", _feedback(bench)),
    ]


def gate_table(corpus: Corpus, evaluation: Evaluation) -> str:
    """Return what the gate lets through without each of its signals, cross-validated by need, as a Markdown table."""
    outcomes = observe(corpus, evaluation, fit_domain(corpus), ("plain", "named", "stacked"))
    rows = {"**all six**": SIGNALS, "cosine alone": ("cosine",)} | {
        f"without {left_out}": tuple(name for name in SIGNALS if name != left_out) for left_out in SIGNALS
    }
    lines = ["| gate | false elsewhere | false near topic | false foreign |", "| --- | ---: | ---: | ---: |"]
    for name, signals in rows.items():
        margins = _cross_validated(outcomes, signals)
        least = float(np.quantile([m for o, m in margins if o.question.kind in ANSWERED], 1.0 - _KEPT))
        shares = (
            mean(margin >= least for outcome, margin in margins if outcome.question.kind in kinds)
            for kinds in (ELSEWHERE, ("near_topic",), ("foreign",))
        )
        lines.append(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return "\n".join(lines)


def _cross_validated(outcomes: Sequence[Outcome], signals: Sequence[str]) -> list[tuple[Outcome, float]]:
    """Return the margin of each question's surest record, from a gate fitted without the questions of its need."""
    needs = sorted({outcome.question.subject for outcome in outcomes})
    fold = {need: place % _FOLDS for place, need in enumerate(needs)}
    margins = []
    for number in range(_FOLDS):
        gate = fit_gate([o for o in outcomes if fold[o.question.subject] != number], signals)
        held_out = [o for o in outcomes if fold[o.question.subject] == number]
        margins += [(o, max(gate.margin(entry.signals) for entry in o.ranked)) for o in held_out]
    return margins


def _cells(outcomes: Sequence[Outcome], score: Score) -> tuple[str, str]:
    places = [_place(outcome, score) for outcome in outcomes]
    return f"{mean(place == 1 for place in places):.3f}", f"{mean(1 / place for place in places):.3f}"


def _place(outcome: Outcome, score: Score) -> float:
    ordered = sorted(
        outcome.ranked,
        key=lambda entry: (entry.judgement.violated, -score(outcome, entry), entry.candidate.slug),
    )
    found = (n for n, entry in enumerate(ordered, start=1) if entry.candidate.slug in outcome.question.answers)
    return next(found, float("inf"))


def _bonus(entry: Ranked) -> float:
    """Return all that the score has besides the fused legs."""
    share = Weights().meaning
    return entry.score - share * entry.meaning - (1.0 - share) * entry.words


def _convex(share: float) -> Score:
    return lambda _, entry: share * entry.meaning + (1.0 - share) * entry.words + _bonus(entry)


def _reciprocal(k: int) -> Score:
    def score(outcome: Outcome, entry: Ranked) -> float:
        words = 1 + sum(other.words > entry.words for other in outcome.ranked)
        meaning = 1 + sum(other.meaning > entry.meaning for other in outcome.ranked)
        # On the scale of the fused score, so that the bonuses weigh as much.
        return (k + 1) / 2 * (1 / (k + words) + 1 / (k + meaning)) + _bonus(entry)

    return score


def _filtered(_: Outcome, entry: Ranked) -> float:
    return entry.score if entry.within else entry.score - 10.0


def _part(found: Sequence[tuple[float, str]], name: str) -> float:
    return next(value for value, part in found if part == name)


def _without_symptoms(found: Sequence[tuple[float, str]]) -> float:
    return mean([value for value, part in found if not part.startswith("symptom")])


def _feedback(bench: Tried) -> Score:
    """Rocchio's: the question's vector and a third of the best record's text, fused as before."""

    def score(outcome: Outcome, entry: Ranked) -> float:
        best = max(outcome.ranked, key=lambda other: other.score)
        moved = bench.question(outcome.question) + 0.33 * bench.parts[best.candidate.slug][0]
        moved = moved / np.linalg.norm(moved)

        def near(other: Ranked) -> float:
            return float(np.sort(bench.parts[other.candidate.slug] @ moved)[-3:].mean())

        most = max(near(other) for other in outcome.ranked)
        return entry.score - Weights().meaning * (entry.meaning - (near(entry) + 1.0) / (most + 1.0))

    return score


if __name__ == "__main__":
    sys.exit(main())
