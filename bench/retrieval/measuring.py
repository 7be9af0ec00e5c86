"""measure(collection, system) -> Measured: the mean of each metric over the queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from bench.retrieval.collection import NAMED, UNNAMED, Asked, Collection, System
from bench.retrieval.metrics import Metric, hit, ndcg, recall, reciprocal_rank
from bench.retrieval.progress import Progress

DEPTH = 10
METRICS: Mapping[str, Metric] = {
    "nDCG@10": ndcg(DEPTH),
    "Recall@10": recall(DEPTH),
    "MRR@10": reciprocal_rank(DEPTH),
    "hit@1": hit(1),
    "hit@3": hit(3),
}


@dataclass(frozen=True)
class Measured:
    """How well a system ranks a collection.

    Attributes:
        asked: whether the queries named the technologies their asker works with.
        values: mean of each metric by its name; None where somebody else did not publish it.
        rankings: the first `DEPTH` document ids of each query, in the order of the queries.
    """

    system: str
    asked: Asked
    values: Mapping[str, float | None]
    rankings: tuple[tuple[str, ...], ...] = ()


def measure(
    collection: Collection, system: System, asked: Asked = UNNAMED, metrics: Mapping[str, Metric] = METRICS
) -> Measured:
    """Rank every query with the system and average.

    Args:
        collection: at least one query.
        system: what ranks.
        asked: whether technologies are named.
        metrics: what to compute, by name.

    Raises:
        ValueError: a ranking names a document twice.
    """
    progress = Progress(f"{collection.name}: {system.name}", len(collection.queries))
    rankings = []
    for query in collection.asked(asked).queries:
        ranking = system.rank(query)
        if len(set(ranking)) != len(ranking):
            raise ValueError(f"{system.name} names a document twice for the query {query.id}")
        rankings.append(tuple(ranking[:DEPTH]))
        progress.advance(1)
    progress.close()
    judged = [(ranking, query.relevant) for ranking, query in zip(rankings, collection.queries, strict=True)]
    values = {name: fmean(metric(*one) for one in judged) for name, metric in metrics.items()}
    return Measured(system.name, asked, values, tuple(rankings))


def measure_all(
    collection: Collection, systems: Sequence[System], metrics: Mapping[str, Metric] = METRICS
) -> Iterator[Measured]:
    """Measure each system in every way it is asked; with technologies named only where queries name any."""
    for asked in (UNNAMED, NAMED) if collection.names_technologies else (UNNAMED,):
        for system in systems:
            if asked in system.asked:
                yield measure(collection, system, asked, metrics)
