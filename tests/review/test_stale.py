"""`review stale`: what has to be looked at again, and why."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest

from app.contract import FeedbackCategory, FeedbackSource
from app.ports import FeedbackEntry
from app.recordfile import read_record
from app.store.signals import PostgresSignals
from review.bench import open_shelf
from review.ledger import Decision, append
from review.majors import MAJORS, Major
from review.stale import Cause, Waiting, due, not_known

SLUG = "store-money-as-numeric"
OTHER = "keep-money-numeric"
TODAY = date(2026, 12, 1)
REACT_20 = {"React": Major("20.0.0", date(2027, 2, 1), "npm: react", since=date(2027, 2, 1))}


@pytest.fixture
def approved(bench):
    """Return a bench with one approved record, about React from 18 on."""
    path = bench.write(SLUG, technology="React")
    bench.edit(path, "    name: React\n", '    name: React\n    version_constraint: ">=18"\n    scheme: npm\n')
    bench.approve(SLUG)
    return bench


def reasons(bench, today: date = TODAY, **known) -> list[tuple[str, str]]:
    """Return cause and words of what is due."""
    found = due(open_shelf(bench.records), today, **known)
    return [(reason.cause.value, reason.words) for one in found for reason in one.reasons]


def test_with_nothing_due_it_says_what_it_cannot_know(approved):
    """That there is no database, and whose majors nobody looked up."""
    approved.edit(approved.records / f"data/{SLUG}.md", "name: React", "name: Vue")
    output = approved.run("stale").output
    assert "nothing is due" in output
    assert "note: no database is set or was started here: feedback is not counted" in output
    assert not (approved.records.parent / "home").exists()
    approved.edit(approved.records / f"data/{SLUG}.md", "name: Vue", "name: JavaScript")
    assert "note: newest major not known: JavaScript" in approved.run("stale").output


@pytest.mark.parametrize(
    ("retrieved", "days", "is_due"),
    [("2025-12-01", 0, False), ("2025-11-30", 0, True), ("2025-12-10", 9, False), ("2025-12-10", 10, True)],
)
def test_a_source_is_due_when_its_gate_begins_to_warn(bench, retrieved, days, is_due):
    """Or so many days before."""
    bench.write(SLUG, retrieved=retrieved)
    bench.approve(SLUG)
    found = reasons(bench, ahead=timedelta(days=days))
    assert [cause for cause, _ in found] == ["source"] * is_due
    if is_due:
        assert f"source 1 was last read {retrieved}, refused after" in found[0][1]


def test_a_source_whose_age_is_waived_is_not_due(bench):
    """Until the waiver ends."""
    bench.write(SLUG, retrieved="2020-01-01")
    (bench.records / "waivers.yaml").write_text(
        f"- gate: freshness\n  slug: {SLUG}\n  reason: it has not changed in years\n  until: 2027-06-30\n"
    )
    bench.approve(SLUG)
    assert reasons(bench) == []
    assert len(reasons(bench, date(2027, 7, 1))) == 1


@pytest.mark.parametrize(
    ("constraint", "claim"),
    [(">=18", "the record counts it in"), (">=18 <20", "the record leaves it out"), (None, "names no")],
)
def test_a_major_that_came_out_after_the_last_look_is_due(approved, constraint, claim):
    """What the record says of it stands beside it."""
    path = approved.records / f"data/{SLUG}.md"
    if constraint is None:
        approved.edit(path, '    version_constraint: ">=18"\n    scheme: npm\n', "")
    else:
        approved.edit(path, ">=18", constraint)
    found = due(open_shelf(approved.records), date(2027, 2, 2), majors=REACT_20)
    assert [reason.cause for one in found for reason in one.reasons] == [Cause.VERSION]
    assert found[0].reasons[0].words.startswith("React 20 is out, ")
    assert claim in found[0].reasons[0].words


@pytest.mark.parametrize("field", ["updated: 2026-11-30", "retrieved: 2026-11-30"])
def test_who_looked_since_the_major_came_out_has_looked(approved, field):
    """At the text, or at a source."""
    approved.edit(approved.records / f"data/{SLUG}.md", field, field.replace("2026-11-30", "2027-02-01"))
    assert reasons(approved, date(2027, 2, 2), majors=REACT_20) == []


def test_a_major_known_when_the_table_was_begun_is_no_news(approved):
    """The records were written for it."""
    assert MAJORS["React"].since is None
    assert reasons(approved, date(2027, 2, 2), majors=MAJORS) == []


def test_majors_looked_up_long_ago_are_named(approved):
    """They may not be the newest any more."""
    shelf = open_shelf(approved.records)
    assert not_known(shelf, TODAY).old == ()
    assert not_known(shelf, MAJORS["React"].looked_up + timedelta(days=93)).old == ("React",)


@pytest.mark.parametrize("outcomes", [["failed"], ["passed", "failed"], ["failed", "passed"]])
def test_a_check_that_failed_last_is_due(bench, outcomes):
    """On exactly this text; what passed since is not."""
    path = bench.write(SLUG, check={"runner": "python", "right": "right.py"})
    path.with_suffix(".checks").mkdir()
    (path.with_suffix(".checks") / "right.py").write_text("assert 1\n")
    bench.approve(SLUG)
    line = {
        "slug": SLUG,
        "check": "the-check",
        "tool": "python",
        "version": "3.13.1",
        "packages": {},
        "date": "2026-11-30",
    }
    sha256 = read_record(path).sha256
    lines = [line | {"sha256": sha256, "outcome": outcome} for outcome in outcomes]
    text = "".join(json.dumps(entry) + "\n" for entry in [*lines, line | {"sha256": "0" * 64, "outcome": "failed"}])
    (bench.records / "verifications.jsonl").write_text(text)
    fails = outcomes[-1] == "failed"
    report = bench.json("stale", code=int(fails))
    words = [reason["words"] for one in report["due"] for reason in one["reasons"] if reason["cause"] == "check"]
    assert words == ["check the-check fails on python 3.13.1"] * fails


def test_only_what_was_approved_is_due(bench):
    """A new record is in nobody's answer; a changed one was, and one out of service is not any more."""
    bench.write(SLUG, retrieved="2025-01-01")
    assert reasons(bench, date(2026, 3, 1)) == []
    bench.write(SLUG, retrieved="2025-12-20")
    bench.approve(SLUG)
    bench.edit(bench.records / f"data/{SLUG}.md", "0.01", "0.02")
    assert len(reasons(bench, date(2027, 1, 1))) == 1
    bench.run("deprecate", SLUG, "--reason", "there is a better one", "--yes")
    assert reasons(bench, date(2027, 1, 1)) == []


def test_what_is_most_urgent_comes_first_then_what_most_was_said_about(bench):
    """Then what has been due longest. It says that use is not known."""
    days = {SLUG: "2025-11-20", OTHER: "2025-11-10", "third-record": "2025-11-15", "fourth-record": "2026-11-30"}
    for slug, retrieved in days.items():
        path = bench.write(slug, retrieved=retrieved)
        append(bench.records / "ledger.jsonl", slug=slug, sha256=read_record(path).sha256, decision=Decision.APPROVE,
               by="ada", note=None, at=datetime(2026, 11, 30, tzinfo=UTC))  # fmt: skip
    shelf = open_shelf(bench.records)
    assert [one.slug for one in due(shelf, TODAY)] == [OTHER, "third-record", SLUG]
    said = {slug: Waiting(times, date(2026, 11, 1)) for slug, times in ((SLUG, 3), ("fourth-record", 9))}
    found = due(shelf, TODAY, feedback=said)
    assert [one.slug for one in found] == [SLUG, OTHER, "third-record", "fourth-record"]
    assert [reason.cause for reason in found[0].reasons] == [Cause.SOURCE, Cause.FEEDBACK]
    assert "How often a record is used is kept nowhere" in bench.run("stale", code=1).output


def test_feedback_that_waits_makes_a_record_due(published_bench, database):
    """As often as it was said; resolved feedback does not, and no database is needed for the rest."""
    published_bench.write(SLUG)
    published_bench.approve(SLUG)
    entry = FeedbackEntry(FeedbackCategory.OUTDATED, SLUG, FeedbackSource.OTHER, "numeric has changed", b"0" * 32)
    signals = PostgresSignals(database.server)
    identity = signals.record_feedback(entry, 10)
    signals.record_feedback(entry, 10)
    signals.record_feedback(FeedbackEntry(FeedbackCategory.HELPFUL, SLUG, FeedbackSource.OTHER, None, b"1" * 32), 10)
    report = published_bench.json("stale", code=1)
    assert [(one["slug"], one["feedback"]) for one in report["due"]] == [(SLUG, 2)]
    assert report["due"][0]["reasons"][0]["words"] == "something was said and waits, 2 times"
    assert published_bench.json("stale", "--no-database")["due"] == []
    published_bench.run("feedback", "resolve", str(identity), "--outcome", "declined", "--note", "it has not")
    assert published_bench.json("stale")["due"] == []


def test_a_database_that_cannot_be_reached_is_said_and_does_not_matter(bench):
    """The rest is told all the same."""
    bench.write(SLUG, retrieved="2025-11-20")
    bench.approve(SLUG)
    bench.environ["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/none"
    report = bench.json("stale", code=1)
    assert report["notes"][0].startswith("feedback is not counted: ")
    assert len(report["due"]) == 1
