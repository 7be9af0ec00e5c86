"""Records to search in, and a search in plain Python to compare with."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np

from app.indexing import impact, inverse_document_frequency, record_terms
from app.lexical import query_terms
from app.ports import Candidate, CandidatePool, CandidateRequest, Embedder, QueryEmbedding
from app.record import Record
from app.store.catalogue import PostgresCatalogue
from tests.core.records import make_record
from tests.databases import vectors_of

_WORDS = """
    cache index retry socket queue token schema branch deploy render effect reducer cursor migration lock replica shard
    header cookie session promise stream buffer thread worker signal probe metric span trace fixture mock assertion
    snapshot viewport
"""
_TECHNOLOGIES = ("React", "PostgreSQL", "Python", "Docker", "TypeScript")


def corpus(size: int, seed: int = 7) -> list[Record]:
    """Return records of random words, the same for the same seed; a third of them is about no technology."""
    chance = random.Random(seed)  # noqa: S311 - data, not a secret
    vocabulary = _WORDS.split()

    def words(count: int) -> str:
        return " ".join(chance.choices(vocabulary, k=count))

    def one(number: int) -> Record:
        about = chance.choice([(), (), *((name,) for name in _TECHNOLOGIES)])
        return make_record(
            f"record-{number:04}",
            title=f"Keep {words(3)} apart",
            summary=f"Summary of {words(8)} and what follows from it.",
            recommendation=f"Set {words(9)} before anything else is done.",
            rationale=f"Because {words(chance.randint(12, 60))}, which is what happens otherwise.",
            symptoms=[f"the {words(4)} stopped" for _ in range(3)],
            applies_to=[{"kind": "library", "name": name} for name in about],
        )

    return [one(number) for number in range(size)]


def ask(
    catalogue: PostgresCatalogue, question: str, embedding: QueryEmbedding | None = None, **options: Any
) -> CandidatePool:
    """Search for a question as the operations do."""
    technologies = frozenset(options.pop("technologies", ()))
    return catalogue.find_candidates(
        CandidateRequest(query_terms(question), question, embedding, technologies, **options)
    )


def by_words(pool: CandidatePool) -> list[str]:
    """Return the slugs that the words leg found, best first."""
    found = [candidate for candidate in pool.candidates if candidate.words is not None]
    return [candidate.slug for candidate in sorted(found, key=lambda entry: (-(entry.words or 0), entry.slug))]


def by_meaning(pool: CandidatePool) -> list[str]:
    """Return all slugs, nearest first."""
    return [
        candidate.slug for candidate in sorted(pool.candidates, key=lambda entry: (-(entry.cosine or 0), entry.slug))
    ]


def bm25(records: Sequence[Record], question: str) -> dict[str, float]:
    """Return the score of each record that holds a word of the question, computed from the formulas alone."""
    terms = {record.slug: record_terms(record) for record in records}
    lengths = {slug: sum(weights.values()) for slug, weights in terms.items()}
    average = sum(lengths.values()) / len(lengths)
    scores: dict[str, float] = {}
    for term in query_terms(question):
        holders = [slug for slug, weights in terms.items() if term in weights]
        for slug in holders:
            gain = impact(terms[slug][term], lengths[slug], average) * inverse_document_frequency(
                len(holders), len(terms)
            )
            scores[slug] = scores.get(slug, 0.0) + gain
    return scores


def cosines(records: Sequence[Record], embedder: Embedder, question: str) -> dict[str, float]:
    """Return the mean of each record's three best cosines to the question, computed from the vectors alone."""
    return {record.slug: fmean(_sorted_cosines(record, embedder, question)[:3]) for record in records}


def _sorted_cosines(record: Record, embedder: Embedder, question: str) -> list[float]:
    asked = _stored(embedder.embed([question])[0])
    return sorted((_cosine(_stored(part), asked) for part in vectors_of(record, embedder).values()), reverse=True)


def find(pool: CandidatePool, slug: str) -> Candidate:
    """Return one candidate."""
    return next(candidate for candidate in pool.candidates if candidate.slug == slug)


def _cosine(one: Any, other: Any) -> float:
    return float(one @ other / math.sqrt((one @ one) * (other @ other)))


def _stored(vector: Any) -> Any:
    """Return a vector as the database holds it, in half precision."""
    return vector.astype(np.float16).astype(np.float64)
