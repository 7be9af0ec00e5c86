"""How a search came to its answer, for the person who tunes or doubts it. Never part of an answer to an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.arguments import parse_arguments
from app.contract import SearchRequest
from app.ranking import Ranked
from app.search import Search, SearchServices, answer_search

_SHOWN = 15


def explain(services: SearchServices, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Run a search and return its mode, its answer's cost, and how each of the best candidates was judged.

    Raises:
        InvalidInput: an argument breaks the contract.
        Unavailable: the database does not answer in time.
    """
    request = parse_arguments(SearchRequest, arguments)
    found, answer = answer_search(services, request)
    kept = [card["slug"] for card in answer["results"]]
    return {
        "mode": found.mode.value,
        "degraded_reason": found.degraded.value if found.degraded else None,
        "widened": found.widened,
        "unknown_terms": sum(1 for frequency in found.pool.document_frequency.values() if frequency == 0),
        "tokens_used": answer["retrieval"]["tokens_used"],
        "dropped": answer["retrieval"]["dropped"],
        "candidates": [_row(place, entry, found, kept) for place, entry in enumerate(found.ranked[:_SHOWN], start=1)],
    }


def _row(place: int, entry: Ranked, found: Search, kept: list[str]) -> dict[str, Any]:
    verdict = entry.judgement.best()
    return {
        "place": place,
        "slug": entry.candidate.slug,
        "score": round(entry.score, 3),
        "words": round(entry.candidate.words or 0.0, 2),
        "meaning": None if entry.candidate.cosine is None else round(entry.candidate.cosine, 3),
        "coverage": round(entry.signals.coverage, 2),
        "margin": round(entry.margin, 2),
        "verdict": verdict.value if verdict else "",
        "answered": entry in found.answers and entry.candidate.slug in kept,
    }
