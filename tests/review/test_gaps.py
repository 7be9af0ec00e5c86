"""Gaps: what was asked and not found, told without a word of any question."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.contract import DegradedReason, Mode
from app.ports import RetrievalEvent
from app.store.gaps import Aspect, Missed
from app.store.signals import PostgresSignals
from review.gaps import LEAST_QUESTIONS, report
from tests.acceptance.conftest import answer_of, run_program
from tests.core.records import make_record
from tests.databases import Database
from tests.review.conftest import Bench

MONTH = date(2026, 11, 1)
Ask = Callable[..., None]


@pytest.fixture
def ask(database: Database) -> Ask:
    """Return a function that keeps a search as the server does; the number stands for the question."""
    signals = PostgresSignals(database.server)

    def one(number: int, mode: Mode = Mode.NO_MATCH, failed: DegradedReason | None = None, **about: Any) -> None:
        given = {"topics": (), "technologies": (), "result_count": 0, **about}
        signals.record_retrieval(
            RetrievalEvent(query_hash=number.to_bytes(8), mode=mode, degraded_reason=failed, **given)
        )

    return one


def _rows(bench: Bench, aspect: str) -> list[tuple[Any, ...]]:
    named = {"topic": "topic", "technology": "technology", "record": "record"}
    rows = bench.json("gaps")[aspect]
    keys = ("topic", "technology") if aspect not in named else (named[aspect],)
    return [(*(row[key] for key in keys), row["questions"]) for row in rows]


@pytest.mark.parametrize(("different", "told"), [(LEAST_QUESTIONS - 1, []), (LEAST_QUESTIONS, [("security", 5)])])
def test_four_questions_are_not_told_and_five_are(
    published_bench: Bench, ask: Ask, different: int, told: list[tuple[Any, ...]]
) -> None:
    """A row stands for five different questions at least, in every kind of row."""
    for number in range(different):
        ask(number, topics=("security",), technologies=("Kafka",), near=("use-stable-keys",))
    found = published_bench.json("gaps")
    assert _rows(published_bench, "topic") == told
    assert [row["technology"] for row in found["technology"]] == ["Kafka"] * len(told)
    assert [row["record"] for row in found["record"]] == ["use-stable-keys"] * len(told)
    assert [(row["topic"], row["technology"]) for row in found["topic_and_technology"]] == [
        ("security", "Kafka")
    ] * len(told)
    assert found["withheld"] == (0 if told else 4)
    assert found["unanswered"] == different
    assert ("security" in published_bench.run("gaps").output) is bool(told)


def test_a_question_that_is_repeated_counts_once(published_bench: Bench, ask: Ask) -> None:
    """Four questions stay four, however often they are asked."""
    for number in [*range(4), *[3] * 100]:
        ask(number, topics=("security",))
    assert _rows(published_bench, "topic") == []
    ask(4, topics=("security",))
    assert _rows(published_bench, "topic") == [("security", 5)]


def test_months_are_not_added_up_to_reach_the_least(published_bench: Bench, ask: Ask, database: Database) -> None:
    """One question has another hash in another month: five months of it are not five questions."""
    for number in range(12):
        ask(number, topics=("security",) if number < 6 else ("data",))
    with database.owner.begin() as connection:
        # Half of the first and one of the second topic were asked two months ago.
        connection.execute(
            text(
                "UPDATE retrieval_event SET hour = hour - interval '62 days' "
                "WHERE query_hash IN (:one, :two, :three, :six)"
            ),
            {name: number.to_bytes(8) for name, number in {"one": 1, "two": 2, "three": 3, "six": 6}.items()},
        )
    found = published_bench.json("gaps")
    assert _rows(published_bench, "topic") == [("data", 5)]
    assert (found["asked"], found["unanswered"], found["withheld"]) == (12, 12, 1)
    assert published_bench.json("gaps", "--days", "30")["asked"] == 8


def test_what_was_answered_or_failed_is_no_gap(published_bench: Bench, ask: Ask) -> None:
    """A search that a failure kept from seeing everything says nothing about what is missing."""
    for number in range(8):
        ask(number, Mode.HYBRID, topics=("data",), result_count=1)
        ask(100 + number, failed=DegradedReason.EMBEDDING_TIMEOUT, topics=("ux",))
        ask(200 + number, failed=DegradedReason.EMBEDDING_DISABLED, topics=("testing",))
    found = published_bench.json("gaps")
    assert _rows(published_bench, "topic") == [("testing", 8)]
    assert (found["asked"], found["unanswered"]) == (24, 8)


def test_questions_about_several_things_count_for_each(published_bench: Bench, ask: Ask) -> None:
    """What names no topic is told as such."""
    for number in range(5):
        ask(number, technologies=("Kafka", "Redis"))
    assert _rows(published_bench, "technology") == [("Kafka", 5), ("Redis", 5)]
    assert _rows(published_bench, "topic") == [(None, 5)]
    assert _rows(published_bench, "topic_and_technology") == []
    assert "(no topic named)" in published_bench.run("gaps").output


def test_real_searches_leave_gaps_and_no_word(published_bench: Bench, database: Database, tmp_path: Path) -> None:
    """Asked over MCP: topics, known technologies and near records are told; words, and names nobody knows, are nowhere.

    What callers report as missing is told in their own words, as quoted.
    """
    database.publish(make_record())
    environ = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    with run_program({"CHATCTX_EMBEDDER": "none", **environ}, tmp_path / "server", command="serve") as server:
        for number in range(6):
            question = {
                "query": f"zqcanary{number} partition rebalancing for ann@example.org", "topic": "reliability",
                "technologies": ["kafka", "ZqSecretProduct"],
            }  # fmt: skip
            answer = answer_of(server.call("search_knowledge", question))
            assert answer["retrieval"]["mode"] == "no_match"
        server.call("submit_feedback", {"category": "missing", "comment": "Nothing about Kafka rebalancing\x07."})
        server.call("submit_feedback", {"category": "missing", "comment": "nothing about kafka rebalancing"})
    assert _rows(published_bench, "topic_and_technology") == [("reliability", "Kafka", 6)]
    [missing] = published_bench.json("gaps")["missing"]
    assert missing["times"] == 2
    told = published_bench.run("gaps").output
    assert '| "Nothing about Kafka rebalancing' in told
    with database.owner.connect() as connection:
        kept = str(connection.execute(text("SELECT CAST(e AS text) FROM retrieval_event AS e")).all())
    for word in ("zqcanary", "partition", "example.org", "zqsecret", "rebalancing"):
        assert word not in kept.lower()


def test_records_that_came_close_are_kept_only_where_nothing_was_found(published_bench: Bench, ask: Ask) -> None:
    """The row names the record: its scope may be too narrow."""
    for number in range(5):
        ask(number, near=("use-stable-keys", "another-record"))
        ask(10 + number, Mode.HYBRID, near=("never-told",), result_count=2)
    assert _rows(published_bench, "record") == [("another-record", 5), ("use-stable-keys", 5)]


def test_nothing_asked_is_no_gap(published_bench: Bench) -> None:
    """The report of an empty database is empty, not an error."""
    assert "0 different questions, 0 found nothing" in published_bench.run("gaps").output


def test_the_report_leaves_out_what_few_asked_and_orders_the_rest() -> None:
    """A pure function, so that every screen tells the same."""
    counts = [
        Missed(MONTH, Aspect.ALL, None, None, None, 40),
        Missed(MONTH, Aspect.TECHNOLOGY, None, "Kafka", None, 5),
        Missed(MONTH, Aspect.TECHNOLOGY, None, "Redis", None, 9),
        Missed(MONTH, Aspect.TOPIC, "data", None, None, 4),
        Missed(date(2026, 10, 1), Aspect.TOPIC, "data", None, None, 4),
        Missed(date(2026, 10, 1), Aspect.TECHNOLOGY, None, "Kafka", None, 7),
    ]
    found = report(MONTH, counts, asked=100)
    told = [(gap.technology, gap.questions, gap.latest) for gap in found.gaps]
    assert told == [("Kafka", 12, MONTH), ("Redis", 9, MONTH)]
    assert (found.withheld, found.unanswered, found.asked) == (1, 40, 100)


def test_ten_thousand_searches_are_counted_in_seconds(published_bench: Bench, database: Database) -> None:
    """A season of searches is read in one statement."""
    with database.owner.begin() as connection:
        connection.execute(
            text("""INSERT INTO retrieval_event
                (hour, query_hash, topics, technologies, mode, result_count, near)
                SELECT now() - n % 80 * interval '1 day', decode(lpad(to_hex(n / 2), 16, '0'), 'hex'),
                    ARRAY['data', 'testing'], ARRAY['Kafka', 'Redis', 'React'], 'no_match', 0, ARRAY['one', 'two']
                FROM generate_series(1, 10000) AS n""")
        )
    started = time.monotonic()
    rows = _rows(published_bench, "technology")
    assert time.monotonic() - started < 10
    assert [name for name, _ in rows] == ["Kafka", "React", "Redis"]
    assert all(5000 <= count <= 10_000 for _, count in rows)
