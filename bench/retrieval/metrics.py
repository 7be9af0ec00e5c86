"""Ranking metrics, over a ranking of distinct document ids and the grades of the relevant ones.

Own code, because pytrec-eval-terrier, which ir-measures stands on, has no wheel for Linux on ARM, and the lock file
must serve that too. Over 3,000 random rankings the values agree with its to 15 digits.

nDCG is that of trec_eval (the gain is the grade); with `exponential` the gain is 2**grade - 1, as much published work
has it. For grades of 0 and 1 both are the same. Every value is between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

Ranking = Sequence[str]
Grades = Mapping[str, int]
"""Grade by document id, above 0, at least one."""
Metric = Callable[[Ranking, Grades], float]


def ndcg(depth: int, *, exponential: bool = False) -> Metric:
    """Return nDCG over the first `depth` places."""

    def gain(grade: int) -> float:
        return float(2**grade - 1 if exponential else grade)

    def metric(ranking: Ranking, grades: Grades) -> float:
        found = _discounted(gain(grades.get(document, 0)) for document in ranking[:depth])
        return found / _discounted(gain(grade) for grade in sorted(grades.values(), reverse=True)[:depth])

    return metric


def recall(depth: int) -> Metric:
    """Return the share of the relevant documents that are among the first `depth`."""
    return lambda ranking, grades: sum(document in grades for document in ranking[:depth]) / len(grades)


def reciprocal_rank(depth: int) -> Metric:
    """Return one over the place of the first relevant document, 0 if it is not among the first `depth`."""

    def metric(ranking: Ranking, grades: Grades) -> float:
        places = (1 / place for place, document in enumerate(ranking[:depth], start=1) if document in grades)
        return next(places, 0.0)

    return metric


def hit(depth: int) -> Metric:
    """Return 1 if a relevant document is among the first `depth`, else 0."""
    return lambda ranking, grades: float(any(document in grades for document in ranking[:depth]))


def _discounted(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, start=1))
