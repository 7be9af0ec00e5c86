"""The published records: SQL finds them by words and by meaning in one round trip, `app.ranking` judges.

The words leg is BM25 over postings, the meaning leg compares vectors, all of them or through an index. When a part of
that fails, the statement is composed without it, and the answer says which part was missing.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from pydantic import ValidationError
from sqlalchemy import Connection, Engine, TextClause, text
from sqlalchemy.exc import DBAPIError

from app.contract import DegradedReason
from app.errors import InternalError, Unavailable
from app.indexing import K1, inverse_document_frequency
from app.ports import Candidate, CandidatePool, CandidateRequest, PublishedRecord, QueryEmbedding
from app.record import AppliesTo, Kind, Record, TaskType, Topic, is_slug
from app.store.engine import RETRY_AFTER_SECONDS, connected, is_unavailable, sql, sql_text, sqlstate
from app.store.guard import Guard, read_rows
from app.store.served import NOTHING_PUBLISHED, ModelState, PublicationState, read_state
from app.versions import Scheme

# Records of a term that are scored, those with the highest impact. At 100,000 records a longer reach gains nothing
# measurable, but narrowing to a rare technology has to look further down.
REACH = 4_000
REACH_WHEN_NARROWED = 20_000
# An index returns vectors; a record has about six, of which a few are near the same question.
_VECTORS_PER_RECORD = 6
# Bytes that the columns of a candidate take in storage, at most: title, topic and what it applies to.
_STORED = 8_192
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Way:
    """One way to compose the search: with which words leg, and whether with vectors."""

    postings: str = "words_posted"
    vectors: bool = True
    reason: DegradedReason | None = None


_WAYS = (
    _Way(),
    _Way(vectors=False, reason=DegradedReason.VECTOR_SEARCH_ERROR),
    _Way(postings="words_text_index", reason=DegradedReason.TEXT_SEARCH_ERROR),
    _Way(postings="words_text_index", vectors=False, reason=DegradedReason.TEXT_SEARCH_ERROR),
)


class PostgresCatalogue:
    """Implements `app.ports.Catalogue` on the server's engine. Safe to share between threads."""

    def __init__(self, engine: Engine, guard: Guard | None = None) -> None:
        """Keep the engine; nothing is connected yet.

        Args:
            engine: made by `app.store.engine.server_engine`.
            guard: tells which records are what was approved; by default one that asks for no signatures.
        """
        self._engine = engine
        self._guard = guard or Guard()
        self._state = NOTHING_PUBLISHED

    def find_candidates(self, request: CandidateRequest) -> CandidatePool:
        """Search by words and by meaning in one round trip; deterministic.

        Raises:
            Unavailable: the database does not answer, or every record is withheld.

        After a publish, the first search of each process makes one more round trip, to learn which models are served.
        """
        with connected(self._engine) as connection:
            for _ in range(3):
                pool = self._find(connection, request)
                if pool is not None:
                    self._refuse_if_none_is_served(pool)
                    return pool
                self._state = read_state(connection)
                self._guard.follow(connection, self._state.publication.ledger_head)
                if self._state.generation == 0:
                    return CandidatePool((), 0, dict.fromkeys(request.terms, 0), 0.0)
        raise InternalError("The records changed faster than they could be searched.")

    def _refuse_if_none_is_served(self, pool: CandidatePool) -> None:
        """Keep an answer from saying that nothing is known where what is known is withheld. Raises Unavailable."""
        if pool.withheld and not pool.candidates and not self._guard.serves_any():
            raise Unavailable(
                "Every record is withheld until it agrees with its approval: tell the owner.",
                details={"retry_after_seconds": RETRY_AFTER_SECONDS},
            )

    def fetch(self, identifiers: Sequence[str]) -> dict[str, PublishedRecord]:
        """Return served records by the slug or id that was asked for; unknown ones are absent. Raises Unavailable."""
        slugs = [identifier for identifier in identifiers if is_slug(identifier)]
        ids = {identifier: parsed for identifier in identifiers if (parsed := _uuid(identifier)) is not None}
        if not slugs and not ids:
            return {}
        with connected(self._engine) as connection:
            rows = self._guard.sound(connection, partial(read_rows, connection, slugs, list(ids.values())))
        published = [found for row in rows if (found := _published(row)) is not None]
        by_slug = {found.record.slug: found for found in published}
        by_id = {found.record_id: found for found in published}
        answers = {asked: by_slug.get(asked) or by_id.get(ids.get(asked, UUID(int=0))) for asked in identifiers}
        return {asked: found for asked, found in answers.items() if found is not None}

    def _find(self, connection: Connection, request: CandidateRequest) -> CandidatePool | None:
        """Search as of the publication that is known; None when it is not the current one any more."""
        state = self._state
        model = _model_state(state, request.embedding)
        reason = _missing(state, model, request.embedding)
        rows, way = _search(connection, request, model)
        if not rows or rows[0].generation != state.generation:
            return None
        if not _has_postings(connection, rows[0], way):
            rows, way = _search(connection, request, model, ways=_WAYS[2:])
        return _pool(rows, request, way.reason or reason, self._guard)


def _model_state(state: PublicationState, embedding: QueryEmbedding | None) -> ModelState | None:
    return state.model_state(embedding.model) if embedding else None


def _missing(
    state: PublicationState, model: ModelState | None, embedding: QueryEmbedding | None
) -> DegradedReason | None:
    """Tell what the stored vectors lack for this question."""
    if embedding is None:
        return None
    if model is None:
        return DegradedReason.EMBEDDING_MODEL_NOT_PUBLISHED
    return DegradedReason.PARTIAL_EMBEDDINGS if model.covered < state.publication.records else None


def _search(
    connection: Connection, request: CandidateRequest, model: ModelState | None, ways: Sequence[_Way] = _WAYS
) -> tuple[Sequence[Any], _Way]:
    """Run the search in the first way that works. Raises what the last one raised."""
    parameters = _parameters(request, model)
    # Without vectors to begin with, leaving them out is no other way.
    possible = [way for way in ways if way.vectors or model is not None]
    for way in possible:
        statement, names = _statement(way.postings, model if way.vectors else None)
        try:
            return connection.execute(statement, {name: parameters[name] for name in names}).all(), way
        except DBAPIError as error:
            if is_unavailable(error) or way is possible[-1]:
                raise
            # The message may hold the question's words; the state tells the operator enough.
            _log.warning("search degraded: %s failed with SQLSTATE %s", way.postings, sqlstate(error))
    raise InternalError("The records cannot be searched.")


def _parameters(request: CandidateRequest, model: ModelState | None) -> dict[str, Any]:
    return {
        "terms": list(request.terms),
        "phrase": request.phrase,
        "technologies": sorted(request.technologies),
        "per_leg": request.per_leg,
        "reach": REACH_WHEN_NARROWED if request.technologies else REACH,
        "ceiling": K1 + 1,
        "stored": _STORED,
        "vectors": request.per_leg * _VECTORS_PER_RECORD,
        "model_no": model.model_no if model else None,
        "vector": HalfVector(request.embedding.vector) if model and request.embedding else None,
    }


@lru_cache(maxsize=64)
def _statement(postings: str, model: ModelState | None) -> tuple[TextClause, tuple[str, ...]]:
    """Return the composed search and the names of its parameters. Without a model it knows nothing of vectors."""
    nearest = closeness = sql_text("no_vectors")
    if model is not None:
        closeness = sql_text("closeness")
        nearest = sql_text("nearest_indexed" if model.indexed else "nearest_exact")
    if model is not None and model.indexed:
        # Numbers from our own table: a partial index is found only by its literal predicate.
        nearest = nearest.format(model_no=int(model.model_no), dims=int(model.model.dims))
    statement = text(
        sql_text("find_candidates").format(postings=sql_text(postings), nearest=nearest, closeness=closeness)
    )
    return statement, tuple(statement.compile().params)


def _has_postings(connection: Connection, row: Any, way: _Way) -> bool:
    """Tell postings that hold none of the words, which is rare, from postings that are gone."""
    if way.postings != "words_posted" or row.document_frequency is not None or row.document_count == 0:
        return True
    return connection.execute(sql("has_postings")).scalar_one() is True


def _pool(
    rows: Sequence[Any], request: CandidateRequest, degraded: DegradedReason | None, guard: Guard
) -> CandidatePool:
    first = rows[0]
    count = max(0, first.document_count or 0)
    found_in = json.loads(first.document_frequency or "{}")
    known = {term: min(number, count) for term, number in found_in.items() if isinstance(number, int) and number > 0}
    idf = (inverse_document_frequency(known[term], count) for term in request.terms if term in known)
    found = [row for row in rows if row.slug is not None]
    served = [row for row in found if guard.serves(row.slug)]
    return CandidatePool(
        candidates=tuple(_candidates(served)),
        withheld=len(found) - len(served),
        document_count=count,
        document_frequency={term: known.get(term, 0) for term in request.terms},
        ideal_words=math.fsum(idf) * (K1 + 1),
        degraded=degraded,
    )


def _finite(signal: float | None) -> float | None:
    """Return a signal, None for what is no number: one that is not would put every other out of order."""
    return None if signal is None or not math.isfinite(signal) else float(signal)


def _candidates(rows: Iterable[Any]) -> Iterator[Candidate]:
    for row in rows:
        try:
            yield Candidate(
                slug=row.slug,
                title=row.title,
                topic=Topic(row.topic),
                applies_to=_applies_to(row.applies_to),
                task_types=_task_types(row.task_types),
                words=_finite(row.words),
                matched=frozenset(row.matched or ()),
                cosine=_finite(row.cosine),
                phrase=_finite(row.phrase) or 0.0,
            )
        # Columns are held against the content when it is fetched; here they may be anything.
        except (ValueError, TypeError, KeyError, RecursionError):
            _log.warning("record %s was published by a newer version and is not served by this one", row.slug)


@lru_cache(maxsize=8192)
def _applies_to(entries: str) -> tuple[AppliesTo, ...]:
    """Read what was checked when it was published, without checking again: a constraint takes a parser to check."""
    return tuple(
        AppliesTo.model_construct(
            kind=Kind(entry["kind"]),
            name=entry["name"],
            version_constraint=entry["version_constraint"],
            scheme=Scheme(entry["scheme"]) if entry["scheme"] else None,
        )
        for entry in json.loads(entries)
    )


@lru_cache(maxsize=1024)
def _task_types(entries: str) -> tuple[TaskType, ...]:
    return tuple(TaskType(entry) for entry in json.loads(entries))


def _published(row: Any) -> PublishedRecord | None:
    try:
        approved = _record(row.body)
    except ValidationError:
        _log.warning("record %s was published by a newer version and is not served by this one", row.slug)
        return None
    return PublishedRecord(
        approved, row.record_id, row.content_version, row.content_hash, row.approved_at, row.verified_on
    )


@lru_cache(maxsize=2048)
def _record(body: str) -> Record:
    stored = json.loads(body)
    # Hashes of check files: part of what is approved, none of the record itself.
    stored.pop("fixtures", None)
    return Record.model_validate_json(json.dumps(stored))


def _uuid(identifier: str) -> UUID | None:
    """Read an id in the one form we hand out; a database cast would put a wrong one into the database's log."""
    try:
        parsed = UUID(identifier)
    except ValueError:
        return None
    return parsed if str(parsed) == identifier.lower() else None
