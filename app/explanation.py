"""How a search came to its answer, for the person who tunes or doubts it. Never part of an answer to an agent.

The search is run as it is for an agent, and what it decided is read from it: nothing here is judged a second time. The
keys of an explanation are documented in `docs/retrieval.md`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.applicability import Finding
from app.arguments import parse_arguments
from app.cards import Card, search_card
from app.contract import SearchRequest, count_tokens, serialise
from app.indexing import inverse_document_frequency
from app.ports import (
    CandidatePool,
    CandidateRequest,
    Catalogue,
    FeedbackEntry,
    PublishedRecord,
    QueryEmbedder,
    QueryEmbedding,
    RetrievalEvent,
    Signals,
)
from app.ranking import Fate, Ranked, Weights, decide_fates, least_margin
from app.relevance import GateSignals
from app.search import Search, SearchServices, answer_search
from app.technologies import canonical_name

# What records that answer a question usually bring: medians over the development questions, rounded; a test measures
# them. They only say which signal of a record below the gate is its weakest.
USUAL = GateSignals(cosine=0.44, coverage=0.32, domain=2.1, about=0.0, elsewhere=0.0, rival=0.0)

Explanation = dict[str, Any]


class Outcome(StrEnum):
    """What became of a candidate that was chosen; of any other, its Fate says it."""

    ANSWERED = "answered"
    SHRUNK = "shrunk"
    DROPPED_BY_BUDGET = "dropped_by_budget"
    WITHDRAWN = "withdrawn"


def explain(services: SearchServices, arguments: Mapping[str, Any], monotonic: Callable[[], float]) -> Explanation:
    """Run a search and return everything that led to its answer, of every candidate, best first.

    It is not counted in the statistics of what was asked.

    Raises:
        InvalidInput: an argument breaks the contract.
        Unavailable: the database does not answer in time.
    """
    request = parse_arguments(SearchRequest, arguments)
    watched = _Watched(services, _Stopwatch(monotonic))
    found, answer = answer_search(watched, request)
    watched.watch.lap("answer")
    candidates = _candidates(found, answer, request, watched.published)
    return {**_search(found, answer, request), "timing_ms": watched.watch.milliseconds(), "candidates": candidates}


def _search(found: Search, answer: Mapping[str, Any], request: SearchRequest) -> Explanation:
    retrieval = answer["retrieval"]
    terms = _terms(found.pool)
    return {
        "mode": found.mode.value,
        "degraded_reason": found.degraded.value if found.degraded else None,
        "widened": found.widened,
        "documents": found.pool.document_count,
        "total_candidates": len(found.pool.candidates),
        "results": len(answer["results"]),
        "max_results": request.max_results,
        "token_budget": request.token_budget,
        "room": request.room,
        "tokens_used": retrieval["tokens_used"],
        "dropped": retrieval["dropped"],
        "near_misses": [miss["slug"] for miss in retrieval.get("near_misses", [])],
        "suggestions": answer["suggestions"],
        "technologies": list(found.need.stack.names),
        "technologies_in_text": [canonical_name(key) for key in found.need.mentioned],
        "least_margin": _rounded(least_margin(found.ranked)),
        "domain": found.ranked[0].signals.domain if found.ranked else None,
        "terms": terms,
        "unknown_terms": [term["term"] for term in terms if not term["records"]],
    }


def _terms(pool: CandidatePool) -> list[dict[str, Any]]:
    """Return the question's words, the most telling first."""
    terms = [
        {"term": term, "records": records, "idf": _rounded(inverse_document_frequency(records, pool.document_count))}
        for term, records in pool.document_frequency.items()
    ]
    return sorted(terms, key=lambda term: -float(term["idf"]))


def _candidates(
    found: Search, answer: Mapping[str, Any], request: SearchRequest, published: Mapping[str, PublishedRecord]
) -> list[dict[str, Any]]:
    cards = {card["slug"]: card for card in answer["results"]}
    legs = _Legs.of(found.ranked)
    rows: list[dict[str, Any]] = []
    for entry, fate in zip(found.ranked, decide_fates(found.ranked, request.max_results), strict=True):
        slug = entry.candidate.slug
        whole = search_card(published[slug], entry.judgement, request.detail) if slug in published else None
        end = _end(cards.get(slug), whole) if fate is Fate.CHOSEN else {"outcome": fate.value, **_NO_CARD}
        judged = _score(entry) | legs.of_one(entry) | _gate(entry, fate) | _scope(entry)
        rows.append({"place": len(rows) + 1, "slug": slug, "title": entry.candidate.title} | end | judged)
    return rows


_NO_CARD = {"tokens": None, "tokens_whole": None}


def _end(card: Card | None, whole: Card | None) -> dict[str, Any]:
    """Tell what the budget left of a record that was chosen, and what its card costs so and whole."""
    if whole is None:
        return {"outcome": Outcome.WITHDRAWN.value, **_NO_CARD}
    costs = {"tokens": card and _cost(card), "tokens_whole": _cost(whole)}
    if card is None:
        return {"outcome": Outcome.DROPPED_BY_BUDGET.value, **costs}
    return {"outcome": (Outcome.ANSWERED if card == whole else Outcome.SHRUNK).value, **costs}


def _cost(card: Card) -> int:
    return count_tokens(serialise(card))


def _score(entry: Ranked) -> dict[str, Any]:
    return {"score": _rounded(entry.score), "parts": _all_rounded(asdict(entry.parts))}


def _gate(entry: Ranked, fate: Fate) -> dict[str, Any]:
    return {
        "coverage": _rounded(entry.signals.coverage),
        "matched": sorted(entry.candidate.matched),
        "intercept": _rounded(entry.gate.intercept),
        "contributions": _all_rounded(entry.gate.contributions(entry.signals)),
        "margin": _rounded(entry.margin),
        "weakest": _weakest(entry) if fate is Fate.BELOW_GATE else None,
    }


def _weakest(entry: Ranked) -> str:
    """Return the signal that is furthest, in logits, behind what a record that answers usually brings."""
    usual, own = entry.gate.contributions(USUAL), entry.gate.contributions(entry.signals)
    return max(own, key=lambda signal: usual[signal] - own[signal])


def _scope(entry: Ranked) -> dict[str, Any]:
    verdict = entry.fit.best()
    said = entry.judgement.findings
    in_text = [finding for finding in entry.fit.findings if finding not in said]
    return {
        "verdict": verdict.value if verdict else None,
        "rival": entry.fit.rival,
        "findings": [_finding(finding) for finding in said],
        "findings_in_text": [_finding(finding) for finding in in_text],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "verdict": finding.verdict.value}


@dataclass(frozen=True)
class _Legs:
    """The scores that each leg gave, lowest first."""

    words: Sequence[float]
    cosines: Sequence[float]

    @classmethod
    def of(cls, ranked: Sequence[Ranked]) -> _Legs:
        words = (entry.candidate.words for entry in ranked)
        cosines = (entry.candidate.cosine for entry in ranked)
        return cls(
            sorted(score for score in words if score is not None),
            sorted(score for score in cosines if score is not None),
        )

    def of_one(self, entry: Ranked) -> dict[str, Any]:
        """Return a candidate's score in each leg, its rank among all candidates, and its scaled score."""
        return {
            "words": _leg("bm25", entry.candidate.words, self.words, entry.words),
            "meaning": _leg("cosine", entry.candidate.cosine, self.cosines, entry.meaning),
        }


def _leg(name: str, score: float | None, scores: Sequence[float], scaled: float) -> dict[str, Any] | None:
    if score is None:
        return None
    rank = 1 + len(scores) - bisect_right(scores, score)
    return {name: _rounded(score), "rank": rank, "scaled": _rounded(scaled)}


def _all_rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: _rounded(value) for name, value in values.items()}


def _rounded(value: float) -> float:
    # The last digits of a float sum are not ours to say; and no zero is negative.
    return round(value, 6) + 0.0


@dataclass
class _Stopwatch:
    """Seconds by stage; each lap goes to the stage that it ends."""

    monotonic: Callable[[], float]
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def __post_init__(self) -> None:
        self._last = self.monotonic()

    def lap(self, stage: str) -> None:
        now = self.monotonic()
        self.seconds[stage] += now - self._last
        self._last = now

    def milliseconds(self) -> dict[str, float]:
        return {stage: round(1000 * self.seconds[stage], 1) for stage in ("embedding", "database", "ranking", "answer")}


@dataclass(frozen=True)
class _Watched:
    """The services of a search, timed; what it fetched is kept, and nothing is noted about it.

    Implements `app.search.SearchServices`, and of `app.ports` Catalogue, QueryEmbedder and Signals.
    """

    services: SearchServices
    watch: _Stopwatch
    published: dict[str, PublishedRecord] = field(default_factory=dict)

    @property
    def catalogue(self) -> Catalogue:
        return self

    @property
    def embedder(self) -> QueryEmbedder:
        return self

    @property
    def signals(self) -> Signals:
        return self

    @property
    def query_hash(self) -> Callable[[str], bytes]:
        return self.services.query_hash

    @property
    def weights(self) -> Weights:
        return self.services.weights

    @property
    def provider(self) -> str:
        return self.services.embedder.provider

    def embed_query(self, query: str) -> QueryEmbedding:
        try:
            return self.services.embedder.embed_query(query)
        finally:
            self.watch.lap("embedding")

    def find_candidates(self, request: CandidateRequest) -> CandidatePool:
        pool = self.services.catalogue.find_candidates(request)
        self.watch.lap("database")
        return pool

    def fetch(self, identifiers: Sequence[str]) -> dict[str, PublishedRecord]:
        self.watch.lap("ranking")
        self.published.update(self.services.catalogue.fetch(identifiers))
        self.watch.lap("database")
        return self.published

    def record_retrieval(self, event: RetrievalEvent) -> None:
        """Looking into a search is no use of it."""

    def record_feedback(self, entry: FeedbackEntry, daily_cap: int) -> UUID:
        return self.services.signals.record_feedback(entry, daily_cap)
