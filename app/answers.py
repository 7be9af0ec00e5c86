"""The shapes of answers: what each operation returns, for `api.json` and for tests of what is sent."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.contract import Applicability, DegradedReason, Mode
from app.record import Confidence, Kind, Relation, Topic


class Shape(BaseModel):
    """Part of an answer."""

    model_config = ConfigDict(extra="forbid")


class AppliesToShape(Shape):
    """A technology a record is about."""

    kind: Kind
    name: str
    version_constraint: str | None = None


class SourceShape(Shape):
    """Where a claim can be read."""

    title: str
    url: str
    publisher: str | None = None
    evidence_excerpt: str | None = None
    relation: Relation


class ApplicabilityShape(Shape):
    """What is known about one technology the caller named; `constraint` is what its version was judged by."""

    technology: str
    version: str | None = None
    verdict: Applicability
    constraint: str | None = None


class ResultShape(Shape):
    """A record as search_knowledge returns it.

    `omitted` names the lists that detail or budget left out. `verified_on` is the day since which the record's executed
    checks have all passed on this very text, where it has any.
    """

    id: str
    slug: str
    title: str
    topic: Topic
    summary: str | None = None
    recommendation: str
    rationale: str | None = None
    applies_to: list[AppliesToShape]
    conditions: list[str]
    exceptions: list[str]
    pitfalls: list[str]
    verification_checks: list[str]
    confidence: Confidence
    updated_at: str
    verified_on: str | None = None
    sources: list[SourceShape]
    applicability: list[ApplicabilityShape] | None = None
    omitted: list[str] | None = None


class GuidanceShape(ResultShape):
    """A record as get_guidance returns it."""

    status: Literal["approved"]
    content_version: int
    approved_at: str
    version_constraints: dict[str, str]
    examples: str | None = None


class NearMiss(Shape):
    """A record that came close and why it is not an answer."""

    slug: str
    reason: str


class Retrieval(Shape):
    """How the answer was found."""

    mode: Mode
    degraded: bool
    degraded_reason: DegradedReason | None = None
    embedding_provider: str | None = None
    embedding_cache: Literal["hit", "miss"] | None = None
    total_candidates: int
    technology_filter_fallback: bool
    truncated: bool
    tokens_used: int
    dropped: list[str] = []
    near_misses: list[NearMiss] | None = None


class SearchResponse(Shape):
    """Answer of search_knowledge."""

    query_summary: str
    results: list[ResultShape]
    retrieval: Retrieval
    suggestions: list[str]


class GetResponse(Shape):
    """Answer of get_guidance."""

    results: list[GuidanceShape]
    missing: list[str]


class FeedbackResponse(Shape):
    """Answer of submit_feedback."""

    accepted: Literal[True]
    id: str
    message: str
