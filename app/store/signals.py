"""What is kept of use: searches without their text, and feedback without its sender."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Engine, func, select, update

from app.errors import AppError, FeedbackClosed, InvalidInput
from app.ports import FeedbackEntry, RetrievalEvent
from app.store.access import PostgresAccessStore
from app.store.engine import connected, sql, sqlstate, transaction
from app.store.tables import feedback

# All feedback of a day counts as one subject beside the callers'; theirs are MACs and longer.
_ALL_FEEDBACK = b"all-feedback"
_log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """What the owner did about feedback."""

    CHANGED = "changed"
    DECLINED = "declined"
    DUPLICATE = "duplicate"
    SPAM = "spam"
    FIXED = "fixed"
    NEW_RECORD = "new_record"


class PostgresSignals:
    """Implements `app.ports.Signals` on the server's engine."""

    def __init__(self, engine: Engine) -> None:
        """Keep the engine; nothing is connected yet.

        Args:
            engine: made by `app.store.engine.server_engine`.
        """
        self._engine = engine
        self._access = PostgresAccessStore(engine)

    def record_retrieval(self, event: RetrievalEvent) -> None:
        """Keep a retrieval event. Never raises: statistics must not fail a search."""
        values = {
            "query_hash": event.query_hash, "topics": list(event.topics), "technologies": list(event.technologies),
            "mode": event.mode.value, "result_count": event.result_count,
            "degraded_reason": event.degraded_reason.value if event.degraded_reason else None, "near": list(event.near),
        }  # fmt: skip
        try:
            with connected(self._engine) as connection:
                connection.execute(sql("keep_retrieval"), values)
        except Exception as error:  # noqa: BLE001  whatever it is, the search has its answer already
            cause = error.__cause__ if isinstance(error, AppError) else error
            _log.warning("retrieval event lost: %s, SQLSTATE %s", type(error).__name__, sqlstate(cause or error))

    def record_feedback(self, entry: FeedbackEntry, daily_cap: int) -> UUID:
        """Keep feedback and return a random id. Raises FeedbackClosed over the day's cap, Unavailable.

        What was said today already is counted with it and needs no room under the cap. The id is new all the same: a
        known one would tell that somebody else said so. Cap and feedback are separate transactions, and neither is the
        caller's quota's: rows of one transaction carry the same number for ever.
        """
        identity = uuid4()
        with connected(self._engine) as connection:
            repeated = connection.execute(sql("repeat_feedback"), {"fingerprint": entry.fingerprint}).one_or_none()
        if repeated is not None:
            return identity
        taken = self._access.take(_ALL_FEEDBACK, daily_cap)
        if not taken.admitted:
            raise FeedbackClosed(
                "No more feedback is taken today; it opens again at midnight UTC.",
                details={"retry_after_seconds": taken.seconds_left},
            )
        with connected(self._engine) as connection:
            connection.execute(sql("keep_feedback"), _values(entry, identity))
        return identity


@dataclass(frozen=True)
class FeedbackRow:
    """Feedback as the owner reads it: text from strangers, to be shown escaped and followed by nobody.

    Attributes:
        repeats: how often the same was said again that day.
        outcome: what the owner did about it, a value of Outcome.
        caller_outcome: what came of following the guidance, as the caller tells it: a value of FeedbackOutcome.
        caller_versions: numbers of the versions it was followed with, by technology.
    """

    feedback_id: UUID
    received_on: date
    category: str
    record: str | None
    source: str
    comment: str | None
    redactions: dict[str, int]
    repeats: int
    resolved_on: date | None
    outcome: str | None
    resolution: str | None
    caller_outcome: str | None = None
    caller_versions: dict[str, str] = field(default_factory=dict)


class FeedbackDesk:
    """Reading and resolving feedback, on the owner's engine. Every method raises Unavailable."""

    def __init__(self, engine: Engine) -> None:
        """Keep the engine; nothing is connected yet.

        Args:
            engine: made by `app.store.engine.owner_engine`.
        """
        self._engine = engine

    def pending(self, limit: int = 100) -> Sequence[FeedbackRow]:
        """Return unresolved feedback, oldest day first, within a day by how often it was said."""
        return self._read(feedback.c.resolved_on.is_(None), limit)

    def resolved(self, limit: int = 100) -> Sequence[FeedbackRow]:
        """Return resolved feedback, oldest day first."""
        return self._read(feedback.c.resolved_on.is_not(None), limit)

    def find(self, feedback_id: UUID) -> FeedbackRow | None:
        """Return one piece of feedback, None for an unknown id."""
        return next(iter(self._read(feedback.c.feedback_id == feedback_id, 1)), None)

    def resolve(self, feedback_id: UUID, outcome: Outcome, resolution: str) -> None:
        """Note what was done about feedback; a later note replaces it. Raises InvalidInput for an unknown id."""
        self.resolve_all([feedback_id], outcome, resolution)

    def resolve_all(self, feedback_ids: Collection[UUID], outcome: Outcome, resolution: str) -> None:
        """Note the same about several pieces of feedback, all or none. Raises InvalidInput if an id is unknown."""
        values = {"resolved_on": func.current_date(), "outcome": outcome.value, "resolution": resolution}
        meant = feedback.c.feedback_id.in_(feedback_ids)
        with transaction(self._engine) as connection:
            changed = connection.execute(update(feedback).where(meant).values(values))
            if changed.rowcount < len(feedback_ids):
                raise InvalidInput("No feedback has this id: `chatctx review feedback list` shows what there is.")

    def _read(self, condition: Any, limit: int) -> Sequence[FeedbackRow]:
        column = feedback.c
        shown = (
            column.feedback_id, column.received_on, column.category, column.record, column.source, column.comment,
            column.redactions, column.repeats, column.resolved_on, column.outcome, column.resolution,
            column.caller_outcome, column.caller_versions,
        )  # fmt: skip
        order = (column.received_on, column.repeats.desc(), column.feedback_id)
        with connected(self._engine) as connection:
            rows = connection.execute(select(*shown).where(condition).order_by(*order).limit(limit)).all()
        return [FeedbackRow(*row) for row in rows]


def _values(entry: FeedbackEntry, identity: UUID) -> dict[str, Any]:
    return {
        "feedback_id": identity, "category": entry.category.value, "record": entry.record, "source": entry.source.value,
        "comment": entry.comment, "redactions": json.dumps(entry.redactions), "fingerprint": entry.fingerprint,
        "caller_outcome": entry.outcome.value if entry.outcome else None,
        "caller_versions": json.dumps(dict(entry.versions)),
    }  # fmt: skip
