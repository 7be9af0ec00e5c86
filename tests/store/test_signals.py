"""Feedback and retrieval statistics, on a real PostgreSQL."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from uuid import uuid4

import pytest
from sqlalchemy import text

from app.contract import DegradedReason, FeedbackCategory, FeedbackOutcome, FeedbackSource, Mode
from app.errors import FeedbackClosed, InvalidInput
from app.ports import FeedbackEntry, RetrievalEvent
from app.store.engine import server_engine
from app.store.signals import FeedbackDesk, Outcome, PostgresSignals
from tests.databases import Database

EVENT = RetrievalEvent(b"12345678", ("data",), ("postgresql",), Mode.HYBRID, 3, None)


def entry(fingerprint: bytes = b"f" * 32, comment: str | None = "The linked page moved.") -> FeedbackEntry:
    return FeedbackEntry(FeedbackCategory.OUTDATED, "a-slug", FeedbackSource.SEARCH, comment, fingerprint, {"email": 2})


@pytest.fixture
def signals(database: Database) -> PostgresSignals:
    return PostgresSignals(database.server)


@pytest.fixture
def desk(database: Database) -> FeedbackDesk:
    return FeedbackDesk(database.owner)


def test_feedback_reaches_the_owner_as_it_was_scrubbed(signals: PostgresSignals, desk: FeedbackDesk) -> None:
    """Every field comes out as it went in, with the id the sender got."""
    identity = signals.record_feedback(entry(), 10)
    (kept,) = desk.pending()
    assert kept.feedback_id == identity
    assert (kept.category, kept.record, kept.source) == ("outdated", "a-slug", "search_knowledge")
    assert (kept.comment, kept.redactions, kept.repeats) == ("The linked page moved.", {"email": 2}, 0)


def test_what_came_of_guidance_is_kept_apart_from_what_the_owner_did(
    signals: PostgresSignals, desk: FeedbackDesk
) -> None:
    """The caller's outcome and the owner's are different columns."""
    told = replace(entry(), outcome=FeedbackOutcome.DID_NOT_WORK, versions={"React": "18.2"})
    desk.resolve(signals.record_feedback(told, 10), Outcome.FIXED, "in version 2")
    (kept,) = desk.resolved()
    assert (kept.caller_outcome, kept.caller_versions, kept.outcome) == ("did_not_work", {"React": "18.2"}, "fixed")


def test_several_pieces_are_resolved_together_or_not_at_all(signals: PostgresSignals, desk: FeedbackDesk) -> None:
    """An id that is not there leaves the others waiting."""
    ids = [signals.record_feedback(entry(bytes([number]) * 32), 10) for number in range(3)]
    with pytest.raises(InvalidInput):
        desk.resolve_all([*ids, uuid4()], Outcome.DECLINED, "no")
    assert len(desk.pending()) == 3
    desk.resolve_all(ids[:2], Outcome.DECLINED, "no")
    assert [kept.feedback_id for kept in desk.pending()] == [ids[2]]


def test_repeated_feedback_is_counted_and_gets_a_new_id(signals: PostgresSignals, desk: FeedbackDesk) -> None:
    """The id does not tell that somebody said the same before."""
    ids = {signals.record_feedback(entry(), 10) for _ in range(3)}
    assert len(ids) == 3
    assert [kept.repeats for kept in desk.pending()] == [2]


def test_feedback_closes_at_the_daily_cap_exactly(database: Database, desk: FeedbackDesk) -> None:
    """Of thirty different entries at once, the cap's number is kept; what is a repeat is still counted."""
    engine = server_engine(database.app_url, pool_size=10)
    signals = PostgresSignals(engine)

    def send(number: int) -> bool:
        try:
            signals.record_feedback(entry(bytes([number]) * 32), 12)
        except FeedbackClosed:
            return False
        return True

    with ThreadPoolExecutor(10) as threads:
        kept = list(threads.map(send, range(30)))
    assert sum(kept) == len(desk.pending()) == 12
    signals.record_feedback(entry(bytes([kept.index(True)]) * 32), 12)
    with pytest.raises(FeedbackClosed) as closed:
        signals.record_feedback(entry(bytes([kept.index(False)]) * 32), 12)
    assert closed.value.details["retry_after_seconds"]
    engine.dispose()


def test_feedback_holds_no_time_and_no_caller(database: Database, signals: PostgresSignals) -> None:
    """The columns are exactly these: none could say who or when."""
    signals.record_feedback(entry(), 10)
    with database.owner.connect() as connection:
        row = connection.execute(text("SELECT * FROM feedback")).mappings().one()
    assert set(row) == {
        "feedback_id", "received_on", "category", "record", "source", "comment", "redactions", "fingerprint", "repeats",
        "resolved_on", "outcome", "resolution", "caller_outcome", "caller_versions",
    }  # fmt: skip
    assert row["feedback_id"].version == 4


def test_feedback_and_its_count_are_separate_transactions(database: Database, signals: PostgresSignals) -> None:
    """Rows of one transaction share its number, which would tie feedback to the quota row of who sent it."""
    signals.record_feedback(entry(), 10)
    with database.owner.connect() as connection:
        numbers = connection.execute(
            text("SELECT (SELECT xmin FROM feedback) AS feedback, (SELECT xmin FROM quota_use) AS quota")
        ).one()
    assert numbers.feedback != numbers.quota


def test_resolved_feedback_leaves_the_list(signals: PostgresSignals, desk: FeedbackDesk) -> None:
    """It is found again with what was done about it."""
    identity = signals.record_feedback(entry(), 10)
    desk.resolve(identity, Outcome.CHANGED, "New link.")
    assert desk.pending() == []
    (done,) = desk.resolved()
    assert (done.outcome, done.resolution) == ("changed", "New link.")
    assert desk.find(identity) == done
    with pytest.raises(InvalidInput):
        desk.resolve(uuid4(), Outcome.SPAM, "")


def test_retrieval_is_kept_by_the_hour(database: Database, signals: PostgresSignals) -> None:
    """Minutes and seconds are not stored."""
    signals.record_retrieval(EVENT)
    signals.record_retrieval(RetrievalEvent(b"87654321", (), (), Mode.NO_MATCH, 0, DegradedReason.EMBEDDING_TIMEOUT))
    with database.owner.connect() as connection:
        rows = connection.execute(text("SELECT * FROM retrieval_event ORDER BY result_count")).mappings().all()
    assert [row["mode"] for row in rows] == ["no_match", "hybrid"]
    assert rows[0]["degraded_reason"] == "embedding_timeout"
    assert rows[1]["query_hash"] == b"12345678"
    assert (rows[0]["hour"].minute, rows[0]["hour"].second) == (0, 0)


def test_what_came_close_is_kept_with_the_event(database: Database, signals: PostgresSignals) -> None:
    """Slugs of ours; a search with an answer has none."""
    signals.record_retrieval(EVENT)
    signals.record_retrieval(replace(EVENT, mode=Mode.NO_MATCH, near=("use-stable-keys",)))
    with database.owner.connect() as connection:
        kept = {row.mode: row.near for row in connection.execute(text("SELECT mode, near FROM retrieval_event"))}
    assert kept == {"hybrid": [], "no_match": ["use-stable-keys"]}


def test_retrieval_that_cannot_be_kept_fails_nothing(
    database: Database, signals: PostgresSignals, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says that it was lost and why, without the search's words."""
    with database.owner.begin() as connection:
        connection.execute(text("DROP TABLE retrieval_event"))
    with caplog.at_level(logging.WARNING, logger="app.store"):
        signals.record_retrieval(EVENT)
    assert "SQLSTATE 42P01" in caplog.text
    assert "postgresql" not in caplog.text
