"""search_knowledge: the few records that apply, inside the budget, or an honest "not in the knowledge base"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from app.applicability import judge_applicability, read_stack
from app.budget import fit_answer
from app.cards import search_card
from app.contract import DegradedReason, Mode, SearchRequest
from app.errors import EmbeddingFailure
from app.lexical import query_terms, technologies_in
from app.ports import (
    CandidatePool,
    CandidateRequest,
    Catalogue,
    PublishedRecord,
    QueryEmbedder,
    QueryEmbedding,
    RetrievalEvent,
    Signals,
)
from app.ranking import Need, Ranked, Weights, choose_answers, rank

# Margins this far below the gate, in logits, are close enough to be worth naming.
_NEAR = 0.7
_NEAR_MISSES = 2
# Margin, in logits, from which an answer is given without a word of doubt. Of the development questions about a near
# topic that get an answer, more than half get a doubtful one; of those with an answer of their own, a quarter.
SURE = 1.5
# A question of so few words names a subject, and any record on it is as near.
_KEYWORDS = 2
# A question shorter than this, in characters, is a keyword and not yet a description.
_TERSE = 25


class SearchServices(Protocol):
    """What search_knowledge needs of the services."""

    @property
    def catalogue(self) -> Catalogue:
        """The published records."""

    @property
    def embedder(self) -> QueryEmbedder:
        """Turns the question into a vector."""

    @property
    def signals(self) -> Signals:
        """Where it is noted that a search took place."""

    @property
    def query_hash(self) -> Callable[[str], bytes]:
        """Keyed hash of a question."""

    @property
    def weights(self) -> Weights:
        """What each signal is worth."""


@dataclass(frozen=True)
class Search:
    """A search with everything that led to it, for the answer and for an explanation.

    Attributes:
        pool: what the store found.
        ranked: all candidates, best first.
        answers: those that cleared the relevance gate, at most `max_results`.
        withheld: records that were found and are not served because they do not agree with their approvals.
    """

    need: Need
    pool: CandidatePool
    ranked: tuple[Ranked, ...]
    answers: tuple[Ranked, ...]
    embedding: QueryEmbedding | None
    degraded: DegradedReason | None
    provider: str = field(default="none")
    withheld: int = 0

    @property
    def mode(self) -> Mode:
        """How the question was answered."""
        if not self.answers:
            return Mode.NO_MATCH
        return Mode.HYBRID if self.embedding else Mode.KEYWORD_FALLBACK

    @property
    def widened(self) -> bool:
        """Nothing relevant is about the technologies named, or about none: records about others were looked at."""
        return bool(self.need.stack.keys) and not any(entry.relevant and entry.within for entry in self.ranked)


def search_knowledge(services: SearchServices, request: SearchRequest) -> dict[str, Any]:
    """Answer a question; deterministic for the same question and records.

    Raises:
        Unavailable: the database does not answer in time.
    """
    return answer_search(services, request)[1]


def answer_search(services: SearchServices, request: SearchRequest) -> tuple[Search, dict[str, Any]]:
    """Search once; return how it went and the answer. Raises as search_knowledge."""
    searched = run_search(services, request)
    published = services.catalogue.fetch([entry.candidate.slug for entry in searched.answers])
    found = _held_against(searched, published)
    cards = [search_card(published[entry.candidate.slug], entry.judgement, request.detail) for entry in found.answers]
    answer = fit_answer(_frame(request, found), cards, request.room)
    services.signals.record_retrieval(_event(services, request, found, len(answer["results"])))
    return found, answer


def _held_against(found: Search, published: Mapping[str, PublishedRecord]) -> Search:
    """Return the search with those of its answers that are served, judged by what was approved.

    The columns that records are found by are not what an owner approved: nothing of them may be told.
    """
    answers = tuple(
        replace(entry, judgement=judge_applicability(served.record.applies_to, found.need.stack))
        for entry in found.answers
        if (served := published.get(entry.candidate.slug)) is not None
    )
    return replace(found, answers=answers, withheld=found.withheld + len(found.answers) - len(answers))


def run_search(services: SearchServices, request: SearchRequest) -> Search:
    """Find and judge candidates."""
    stack = read_stack(request.technologies, request.versions)
    need = Need(stack, technologies_in(request.query), frozenset(request.topic), request.task_type)
    embedding, reason = _embed(services.embedder, request.query)
    pool = services.catalogue.find_candidates(
        CandidateRequest(query_terms(request.query), request.query, embedding, need.whole_stack.reach)
    )
    usable = None if pool.degraded in _WITHOUT_VECTORS else embedding
    ranked = tuple(rank(pool, need, question=usable, weights=services.weights))
    answers = choose_answers(ranked, request.max_results)
    degraded = reason or pool.degraded or _truncation(usable)
    return Search(need, pool, ranked, answers, usable, degraded, services.embedder.provider, pool.withheld)


# The store could not use the question's vector at all: what it found, it found by words.
_WITHOUT_VECTORS = frozenset({DegradedReason.EMBEDDING_MODEL_NOT_PUBLISHED, DegradedReason.VECTOR_SEARCH_ERROR})


def _embed(embedder: QueryEmbedder, query: str) -> tuple[QueryEmbedding | None, DegradedReason | None]:
    try:
        return embedder.embed_query(query), None
    except EmbeddingFailure as failure:
        return None, DegradedReason(failure.reason)


def _truncation(embedding: QueryEmbedding | None) -> DegradedReason | None:
    return DegradedReason.QUESTION_TRUNCATED if embedding and embedding.truncated else None


def _frame(request: SearchRequest, found: Search) -> dict[str, Any]:
    retrieval: dict[str, Any] = {"mode": found.mode.value, "degraded": found.degraded is not None}
    if found.degraded:
        retrieval["degraded_reason"] = found.degraded.value
    if found.embedding:
        retrieval |= {"embedding_provider": found.provider, "embedding_cache": found.embedding.cache}
    retrieval |= {
        "total_candidates": len(found.pool.candidates),
        "technology_filter_fallback": found.widened,
    }
    if found.mode is Mode.NO_MATCH and (near := near_misses(found.ranked)):
        retrieval["near_misses"] = near
    return {
        "query_summary": _summary(request, found),
        "retrieval": retrieval,
        "suggestions": _suggestions(request, found),
    }


def near_misses(ranked: Sequence[Ranked]) -> list[dict[str, str]]:
    """Return the records that came close, best first, each with what it lacked."""
    close = sorted((entry for entry in ranked if -_NEAR <= entry.margin < 0), key=lambda entry: -entry.margin)
    return [{"slug": entry.candidate.slug, "reason": _shortfall(entry)} for entry in close[:_NEAR_MISSES]]


def _shortfall(entry: Ranked) -> str:
    if entry.signals.rival or entry.signals.elsewhere:
        return "about other technologies than yours"
    if entry.signals.cosine is None:
        return "shares too few of the question's words"
    return f"similarity {entry.signals.cosine:.2f} and few shared words"


def _summary(request: SearchRequest, found: Search) -> str:
    """Name topic and technologies, from our own tables only: a caller's words are never repeated."""
    topics = [topic.value for topic in request.topic]
    if not topics and found.answers:
        topics = [found.answers[0].candidate.topic.value]
    return " · ".join(part for part in (", ".join(topics), ", ".join(found.need.stack.names)) if part)


def doubt(answers: Sequence[Ranked], terms: int) -> str | None:
    """Return the word of doubt that belongs to an answer with results, if any.

    Args:
        answers: the records of the answer, at least one.
        terms: distinct words of the question that say something.
    """
    if all(entry.judgement.violated for entry in answers):
        return "Every record found is for other versions than yours: see applicability."
    is_sure = terms > _KEYWORDS and max(entry.margin for entry in answers) >= SURE
    return None if is_sure else "Near the question, perhaps no answer to it: compare conditions before you act."


def _suggestions(request: SearchRequest, found: Search) -> list[str]:
    if found.answers:
        doubted = doubt(found.answers, len(found.pool.document_frequency))
        return [doubted] if doubted else []
    if not found.pool.document_count:
        return ["No record is published here yet: tell the owner, and use primary documentation."]
    if found.withheld:
        return ["Records near this question are withheld until they agree with their approvals: tell the owner."]
    hints = ["Not in the knowledge base: use primary documentation and do not invent guidance."]
    if not found.need.stack.versions:
        hints.append("Name the technologies you work with.")
    elif len(request.query) < _TERSE:
        hints.append("Describe the decision or the symptom in a sentence.")
    return [*hints, "Report the gap: submit_feedback, category missing."]


def _event(services: SearchServices, request: SearchRequest, found: Search, count: int) -> RetrievalEvent:
    return RetrievalEvent(
        query_hash=services.query_hash(request.query),
        topics=tuple(sorted(topic.value for topic in request.topic)),
        technologies=tuple(sorted(found.need.stack.names)),
        mode=found.mode,
        result_count=count,
        degraded_reason=found.degraded,
        near=tuple(miss["slug"] for miss in near_misses(found.ranked)) if found.mode is Mode.NO_MATCH else (),
    )
