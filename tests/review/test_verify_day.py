"""The day since which a record's checks have passed: from the book of results into answers, and nowhere else."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

from click.testing import CliRunner
from sqlalchemy import text

from app.budget import fit_answer
from app.cards import search_card
from app.contract import Detail
from app.ports import PublishedRecord
from app.record import record_id
from app.recordfile import read_record
from app.runtime import LocalRuntime
from app.store.served import publication
from app.transports.cli import create_cli
from review.verifications import append_results
from review.verify.execution import Outcome, Result
from tests.review.checking import SLUG, record_with
from tests.review.conftest import Bench

TODAY = datetime.now(UTC).date()


def ask(bench: Bench, *arguments: str) -> dict[str, Any]:
    """Ask as an agent on this machine would, and return the first result."""
    runtime = LocalRuntime(bench.environ, bench.records.parent)
    done = CliRunner().invoke(create_cli(runtime), [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)["results"][0]
    return result


def say(bench: Bench, day: date, outcome: Outcome) -> None:
    """Append a result on the record as it stands."""
    sha256 = read_record(bench.records / "data" / f"{SLUG}.md").sha256
    result = Result(SLUG, sha256, "the-check", "python", "3.11.0", outcome)
    append_results(bench.records / "verifications.jsonl", [result], day)


def test_an_answer_tells_since_when_the_checks_have_passed_on_this_very_text(published_bench, database):
    """A brief card has no room for it, and what was edited since has none."""
    bench = published_bench
    path = record_with(bench, "python", "assert True")
    bench.approve(SLUG)
    bench.run("publish")
    assert ask(bench, "get", SLUG)["verified_on"] == TODAY.isoformat()
    assert "verified_on" not in ask(bench, "get", SLUG, "--detail", "brief")
    assert f"checks passed {TODAY}" in bench.run("show", SLUG).output
    bench.edit(path, "off by 0.01", "off by 0.02")
    assert "verified_on" not in bench.json("show", SLUG)["card"]


def test_a_record_without_checks_has_no_such_day(published_bench, database):
    """It is left out, not told as unknown."""
    published_bench.write(SLUG)
    published_bench.approve(SLUG)
    published_bench.run("publish")
    assert "verified_on" not in ask(published_bench, "get", SLUG)


def test_a_later_proof_is_published_without_another_approval_and_a_failure_takes_it_away(published_bench, database):
    """The record itself stays unchanged; the same again changes nothing."""
    bench = published_bench
    record_with(bench, "python", "assert True")
    bench.approve(SLUG)
    bench.run("publish")
    first = publication(database.owner)
    say(bench, TODAY + timedelta(days=3), Outcome.PASSED)
    told = bench.json("publish")
    assert (told["changed"], told["unchanged"], told["proved"]) == ([], [SLUG], [SLUG])
    assert ask(bench, "get", SLUG)["verified_on"] == (TODAY + timedelta(days=3)).isoformat()
    before = publication(database.owner)
    assert before.published_at > first.published_at
    bench.run("publish")
    assert publication(database.owner) == before
    say(bench, TODAY + timedelta(days=4), Outcome.FAILED)
    bench.run("publish")
    assert "verified_on" not in ask(bench, "get", SLUG)


def test_a_day_that_is_none_stops_no_record(published_bench, database):
    """Whoever can write to the database can write infinity."""
    record_with(published_bench, "python", "assert True")
    published_bench.approve(SLUG)
    published_bench.run("publish")
    for day in ("infinity", "-infinity", "0044-03-15 BC", "20000-01-01"):
        with database.owner.begin() as connection:
            connection.execute(text("UPDATE record SET verified_on = CAST(:day AS date)"), {"day": day})
        answer = ask(published_bench, "get", SLUG)
        assert (answer["slug"], "verified_on" in answer) == (SLUG, False)


def test_the_day_is_the_first_that_a_card_gives_up(bench):
    """Of search's cards the standard one has it: before sources and texts it goes, without being named."""
    record = read_record(record_with(bench, "python", "assert True")).record
    told = PublishedRecord(record, record_id(SLUG), 1, "", datetime(2026, 11, 30, tzinfo=UTC), date(2026, 12, 1))
    card = search_card(told, None, Detail.STANDARD)
    assert "verified_on" not in search_card(told, None, Detail.BRIEF)
    frame = {"query_summary": "", "suggestions": [], "retrieval": {"mode": "hybrid"}}
    whole = fit_answer(frame, [card], 5_000)
    assert whole["results"][0]["verified_on"] == "2026-12-01"
    shrunk = fit_answer(frame, [card], whole["retrieval"]["tokens_used"] - 1)["results"][0]
    assert shrunk == {key: value for key, value in card.items() if key != "verified_on"}
