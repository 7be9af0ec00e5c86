"""What operations need from the outside, as narrow protocols. Adapters live in `app.store` and `app.embedding`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.contract import DegradedReason, FeedbackCategory, FeedbackOutcome, FeedbackSource, Mode
from app.record import AppliesTo, Record, TaskType, Topic

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class EmbeddingModel:
    """Which model made a vector. Vectors of different models are never compared.

    Attributes:
        model_id: name of the weights, for example `all-MiniLM-L6-v2`.
        revision: fingerprint of the exact files, so that a changed file is another model.
        dims: length of a vector.
    """

    model_id: str
    revision: str
    dims: int


@dataclass(frozen=True)
class QueryEmbedding:
    """The vector of a question (float32[dims], unit length), and whether it was at hand already.

    Attributes:
        truncated: the question is longer than what the model is given, and a part of it was not seen.
    """

    vector: Vector
    model: EmbeddingModel
    cache: Literal["hit", "miss"]
    truncated: bool = False


class Embedder(Protocol):
    """A model that turns texts into vectors. Blocking; the caller keeps the clock."""

    @property
    def provider(self) -> str:
        """Name shown to callers, for example `onnx`."""

    @property
    def model(self) -> EmbeddingModel:
        """The model the vectors come from; loads it if need be. Raises EmbeddingFailure when it cannot be loaded."""

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, dims], rows of unit length, in the order of the texts. Raises EmbeddingFailure."""


class QueryEmbedder(Protocol):
    """Embeds questions within a deadline, with a cache and a circuit breaker."""

    @property
    def provider(self) -> str:
        """Name shown to callers, for example `onnx`; `none` when switched off."""

    def embed_query(self, query: str) -> QueryEmbedding:
        """Return the question's vector. Raises EmbeddingFailure, whose reason is a DegradedReason, in bounded time."""


@dataclass(frozen=True)
class CandidateRequest:
    """What to look for.

    Attributes:
        terms: analysed words of the question (`app.lexical.analyse`), each once.
        phrase: the question's text for the text index; bound as a parameter, never parsed as a query language.
        embedding: the question's vector, or None to search by words only.
        technologies: keys of the technologies whose records must not be crowded out: each leg brings its best of all,
            and as many that are about one of these or about none. May be empty.
        per_leg: how many candidates of each kind a leg brings, at most.
    """

    terms: tuple[str, ...]
    phrase: str
    embedding: QueryEmbedding | None
    technologies: frozenset[str]
    per_leg: int = 50


@dataclass(frozen=True)
class Candidate:
    """A record that one of the legs found, with the raw signals and the facts that judging needs.

    Attributes:
        words: BM25 score, None when no term of the question is in the record.
        matched: the question's terms that the record holds.
        cosine: mean of the three best cosine similarities over the record's vectors (text, title and symptoms): one
            vector alone is near by chance more often than three. None without a question vector.
        phrase: text-index rank of the question as a phrase or near it, 0.0 when it does not occur.
    """

    slug: str
    title: str
    topic: Topic
    applies_to: tuple[AppliesTo, ...]
    task_types: tuple[TaskType, ...]
    words: float | None
    matched: frozenset[str]
    cosine: float | None
    phrase: float = 0.0


@dataclass(frozen=True)
class CandidatePool:
    """What the store found, with the statistics that give the signals a scale.

    Attributes:
        candidates: union of both legs, ordered by slug.
        document_count: approved records searched.
        document_frequency: records that hold each term of the question; a term nobody holds has 0.
        ideal_words: the BM25 score a record would have that held every known term of the question as densely as a
            record can: the theoretical maximum that normalises `words`.
        degraded: set when a part of the search failed and the rest was used.
        withheld: records that were found besides, and are not served because they do not agree with their approvals.
    """

    candidates: tuple[Candidate, ...]
    document_count: int
    document_frequency: dict[str, int]
    ideal_words: float
    degraded: DegradedReason | None = None
    withheld: int = 0


@dataclass(frozen=True)
class PublishedRecord:
    """An approved record as it is served.

    Attributes:
        verified_on: the day since which all its executed checks have passed on this very text, as its publisher says.
    """

    record: Record
    record_id: UUID
    content_version: int
    content_hash: str
    approved_at: datetime
    verified_on: date | None = None


class Catalogue(Protocol):
    """The published records. Both methods raise Unavailable when the database does not answer in time."""

    def find_candidates(self, request: CandidateRequest) -> CandidatePool:
        """Search by words and by meaning in one round trip; deterministic."""

    def fetch(self, identifiers: Sequence[str]) -> dict[str, PublishedRecord]:
        """Return served records by the identifier (slug or id) that was asked for; unknown ones are absent."""


@dataclass(frozen=True)
class RetrievalEvent:
    """What is kept about a search: never its text.

    Attributes:
        query_hash: keyed hash of the normalised question, 8 bytes.
        near: slugs of records that came close where none was an answer: our own words, not the question's.
    """

    query_hash: bytes
    topics: tuple[str, ...]
    technologies: tuple[str, ...]
    mode: Mode
    result_count: int
    degraded_reason: DegradedReason | None
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeedbackEntry:
    """Feedback to keep, already scrubbed. Nothing in it says who sent it.

    Attributes:
        fingerprint: keyed hash of all that is said within the day; repeats are counted, not stored.
        redactions: how many pieces of each kind were removed from the comment.
        outcome: what came of following the guidance, None when the caller does not say.
        versions: numbers of versions by canonical technology name.
    """

    category: FeedbackCategory
    record: str | None
    source: FeedbackSource
    comment: str | None
    fingerprint: bytes
    redactions: dict[str, int] = field(default_factory=dict)
    outcome: FeedbackOutcome | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


class Signals(Protocol):
    """What the owner learns from use."""

    def record_retrieval(self, event: RetrievalEvent) -> None:
        """Keep a retrieval event. Never raises: statistics must not fail a search."""

    def record_feedback(self, entry: FeedbackEntry, daily_cap: int) -> UUID:
        """Keep feedback and return its random id. Raises FeedbackClosed over the day's cap, Unavailable."""


@dataclass(frozen=True)
class KeyRow:
    """A stored API key: its MAC, never its text.

    Attributes:
        mac: HMAC-SHA256 of the whole key under the pepper `pepper_id`, 32 bytes.
        daily_quota: tool calls per UTC day, None for the server's default.
    """

    key_id: str
    mac: bytes
    pepper_id: str
    daily_quota: int | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class QuotaTake:
    """Outcome of taking one unit: `used` counts it; `admitted` False means that the allowance was already used up.

    Attributes:
        seconds_left: seconds until the database's next UTC midnight.
        day: the database's UTC day.
    """

    admitted: bool
    used: int
    seconds_left: int
    day: date


class AccessStore(Protocol):
    """Keys and quotas. Every method raises Unavailable when the database does not answer in time."""

    def find_key(self, key_id: str) -> KeyRow | None:
        """Return the key with this id, revoked or not."""

    def rekey(self, key_id: str, old_pepper_id: str, mac: bytes, pepper_id: str) -> None:
        """Move a key to a newer pepper, if it is still on the old one."""

    def touch_key(self, key_id: str) -> None:
        """Note that the key was used today; at most one write a day, never waits for a lock."""

    def daily_salt(self) -> tuple[date, bytes]:
        """Return the database's UTC day and that day's 32-byte salt, made on first use."""

    def forget_days(self) -> None:
        """Delete what is left of days that are over: without its salt, nothing tells whose a count was."""

    def take(self, subject: bytes, limit: int, day: date | None = None) -> QuotaTake:
        """Take one unit of today's allowance for the subject, in one committed statement.

        Args:
            day: the only day that the unit may be counted in; on another nothing is taken, and the outcome names it.
        """


class Clock(Protocol):
    """Time, passed in so that tests can choose it."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    def now(self) -> datetime:
        """Aware UTC time."""


@dataclass(frozen=True)
class Publication:
    """What is being served now.

    Attributes:
        demo: the records are signed as a demonstration set, not by an owner.
        ledger_head: hash of the last ledger line at publish time.
    """

    records: int
    published_at: datetime | None
    ledger_head: str | None
    demo: bool
    models: tuple[EmbeddingModel, ...]
    facts: dict[str, Any] = field(default_factory=dict)
