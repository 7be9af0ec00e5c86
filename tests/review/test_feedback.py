"""Feedback: what the owner reads and what is done about it."""

from __future__ import annotations

import pytest

from app.contract import FeedbackCategory, FeedbackSource
from app.ports import FeedbackEntry
from app.store.signals import PostgresSignals


@pytest.fixture
def entry(published_bench, database):
    """Keep one piece of feedback and return how the owner sees it."""
    given = FeedbackEntry(
        FeedbackCategory.OUTDATED, "a-record", FeedbackSource.SEARCH, "The page\x1b[31m moved.", b"f" * 32
    )
    PostgresSignals(database.server).record_feedback(given, 10)
    [row] = published_bench.json("feedback", "list")
    return row


def test_feedback_is_listed_shown_and_resolved(published_bench, entry):
    """Once resolved it no longer waits."""
    identity = entry["feedback_id"]
    assert published_bench.json("feedback", "show", identity)["category"] == "outdated"
    published_bench.run("feedback", "resolve", identity, "--outcome", "changed", "--note", "the link was mended")
    assert published_bench.json("feedback", "list") == []
    [resolved] = published_bench.json("feedback", "list", "--resolved")
    assert (resolved["outcome"], resolved["resolution"]) == ("changed", "the link was mended")


def test_a_comment_cannot_drive_the_owners_terminal(published_bench, entry):
    """Callers wrote it: what a terminal would obey is not printed."""
    for command in (["list"], ["show", entry["feedback_id"]]):
        output = published_bench.run("feedback", *command).output
        assert "moved." in output
        assert "\x1b" not in output


@pytest.mark.parametrize(("identity", "code"), [("nonsense", 2), ("00000000-0000-4000-8000-000000000000", 1)])
def test_an_unknown_piece_of_feedback_is_refused(published_bench, identity, code):
    """As wrong usage when it is no identifier at all."""
    published_bench.run("feedback", "show", identity, code=code)
    published_bench.run("feedback", "resolve", identity, "--outcome", "spam", "--note", "no such thing", code=code)
