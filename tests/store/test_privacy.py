"""What a caller says leaves no trace: not in tables, not in the view of activity, not in PostgreSQL's log."""

from __future__ import annotations

import logging
from contextlib import suppress

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.cluster import Cluster
from app.contract import DegradedReason, FeedbackCategory, FeedbackSource, Mode
from app.ports import FeedbackEntry, RetrievalEvent
from app.store.catalogue import PostgresCatalogue
from app.store.loggedvalues import logged_values
from app.store.signals import PostgresSignals
from app.store.tables import metadata
from tests.core.records import make_record
from tests.databases import Database
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask

CANARY = "canary7f3a"
QUESTIONS = (
    f"list rows {CANARY}",
    f"'{CANARY}' & | ! <-> :* ()",
    f"{CANARY}'; DROP TABLE record; --",
    f"\\{CANARY}\\x00 \ufffe",
    f"{CANARY} " * 150,
    f"{CANARY}-{CANARY}://{CANARY}@{CANARY}?{CANARY}&{CANARY}",
    f"{'x' * 1900} {CANARY}",
)


def everything(database: Database) -> str:
    """Return every table as text."""
    with database.owner.connect() as connection:
        return "\n".join(
            str(connection.scalars(text(f"SELECT CAST(row AS text) FROM {table.fullname} AS row")).all())  # noqa: S608
            for table in metadata.tables.values()
        )


@pytest.mark.parametrize(
    "damage", [None, "DELETE FROM term_posting", "REVOKE SELECT ON record_embedding FROM chatctx_server"]
)
def test_question_is_nowhere_afterwards(
    database: Database, cluster: Cluster, caplog: pytest.LogCaptureFixture, damage: str | None
) -> None:
    """Whatever it looks like, and whatever of the search fails."""
    database.publish(make_record())
    if damage:
        with database.owner.begin() as connection:
            connection.execute(text(damage))
    catalogue, embedder = PostgresCatalogue(database.server), HashingEmbedder()
    signals = PostgresSignals(database.server)
    with caplog.at_level(logging.DEBUG):
        for question in QUESTIONS:
            ask(catalogue, question, embedder.question(question), technologies=(CANARY,))
            catalogue.fetch([question[:120]])
        signals.record_retrieval(
            RetrievalEvent(b"12345678", (), (), Mode.KEYWORD_FALLBACK, 1, DegradedReason.TEXT_SEARCH_ERROR)
        )
        with database.owner.connect() as connection:
            activity = str(connection.execute(text("SELECT query FROM pg_stat_activity")).all())
    assert CANARY not in activity
    assert CANARY not in caplog.text
    assert CANARY not in everything(database)
    assert CANARY not in cluster.status().log_file.read_text("utf-8", "replace")


def test_feedback_that_cannot_be_kept_is_nowhere_either(
    database: Database, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """A failing row would be printed by PostgreSQL if a constraint read its text: none does."""
    with database.owner.begin() as connection:
        connection.execute(text("ALTER TABLE feedback ADD CONSTRAINT fails CHECK (false)"))
    entry = FeedbackEntry(FeedbackCategory.OTHER, None, FeedbackSource.OTHER, CANARY, b"f" * 32)
    with caplog.at_level(logging.DEBUG), suppress(Exception):
        PostgresSignals(database.server).record_feedback(entry, 5)
    assert CANARY not in caplog.text
    assert CANARY not in cluster.status().log_file.read_text("utf-8", "replace")
    assert CANARY not in everything(database)


def test_no_constraint_reads_what_a_stranger_wrote(database: Database) -> None:
    """On a server of somebody else's, the log of a violated one would hold the comment."""
    with database.owner.connect() as connection:
        read = connection.scalars(
            text("""
                SELECT pg_get_constraintdef(oid) FROM pg_constraint
                WHERE conrelid = CAST('chatctx.feedback' AS regclass) AND contype IN ('c', 'u', 'x')
            """)
        ).all()
    assert read
    assert not any("comment" in definition or "record" in definition for definition in read)


@pytest.mark.parametrize(
    ("name", "silent", "telling"),
    [("pgaudit.log_parameter", "off", "on"), ("auto_explain.log_min_duration", "-1", "250ms")],
)
def test_extensions_that_log_values_are_warned_of(database: Database, name: str, silent: str, telling: str) -> None:
    """Neither is in the wheel: PostgreSQL keeps their settings for them until they are loaded."""
    with database.server.connect() as connection:
        quiet = logged_values(connection)
        assert not [setting for setting in quiet if setting.startswith(name)]
        for value, more in ((silent, []), (telling, [f"{name}={telling}"])):
            connection.execute(text("SELECT set_config(:name, :value, false)"), {"name": name, "value": value})
            assert logged_values(connection) == [*quiet, *more]
        # Whatever may be said about values of the server's own.
        with suppress(ProgrammingError):
            connection.execute(text("SET log_parameter_max_length = 0"))
        assert f"{name}={telling}" in logged_values(connection)
