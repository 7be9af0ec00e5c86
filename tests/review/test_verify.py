"""Executed checks: right must succeed, wrong must fail and show it, and what cannot be run has not passed."""

from __future__ import annotations

import json
import shutil
import sys
from datetime import date
from pathlib import Path

import pytest

from app.record import Runner
from app.recordfile import read_record
from review.verifications import append_results, verified_on
from review.verify import runners
from review.verify.execution import Outcome, Result, run_checks
from review.verify.runners import Missing, tools_for

SLUG = "store-money-as-numeric"
NEEDS_NODE = pytest.mark.skipif(isinstance(tools_for(Runner.NODE)[0], Missing), reason="no node here")


def record_with(bench, runner: str, right: str, wrong: str | None = None, shows: str = "boom") -> Path:
    """Write a record with one check."""
    ending = {"python": "py", "node": "mjs", "sql": "sql"}[runner]
    check = {"runner": runner, "right": f"right.{ending}"}
    if wrong is not None:
        check |= {"wrong": f"wrong.{ending}", "wrong_shows": shows}
    path = bench.write(SLUG, check=check)
    folder = path.with_suffix(".checks")
    folder.mkdir()
    (folder / f"right.{ending}").write_text(right)
    if wrong is not None:
        (folder / f"wrong.{ending}").write_text(wrong)
    return path


def results(path: Path) -> list[Result]:
    """Run the checks of a record file."""
    return run_checks([read_record(path)])


@pytest.mark.parametrize(
    ("right", "wrong", "outcome", "reason"),
    [
        ("assert True", None, Outcome.PASSED, ""),
        ("assert True", "raise SystemExit('boom: the total is off')", Outcome.PASSED, ""),
        ("assert False", None, Outcome.FAILED, "right.py should succeed and ended with 1"),
        ("assert True", "print('boom')", Outcome.FAILED, "wrong.py should fail and succeeded: the claim is not proved"),
        ("assert True", "raise SystemExit('other')", Outcome.FAILED, "its output does not contain 'boom'"),
    ],
)
def test_a_check_passes_only_when_right_succeeds_and_wrong_fails_as_it_is_said_to(bench, right, wrong, outcome, reason):
    """A wrong that does not fail, or fails otherwise, proves nothing."""
    [result] = results(record_with(bench, "python", right, wrong))
    assert result.outcome is outcome
    assert reason in result.reason


def test_python_checks_have_the_projects_packages(bench):
    """And the result names the version of the one the record is about."""
    path = record_with(bench, "python", "import sqlalchemy; assert sqlalchemy.__version__")
    bench.edit(path, "name: PostgreSQL", "name: SQLAlchemy")
    [result] = results(path)
    assert result.outcome is Outcome.PASSED
    assert result.version == ".".join(map(str, sys.version_info[:3]))
    assert set(result.packages) == {"SQLAlchemy"}


def test_a_check_that_does_not_end_has_failed(bench, monkeypatch):
    """It is killed after the time it has."""
    quick = lambda program, **_: real(program, seconds=1)  # noqa: E731
    real = runners.run_confined
    monkeypatch.setattr(runners, "run_confined", quick)
    [result] = results(record_with(bench, "python", "import time; time.sleep(60)"))
    assert (result.outcome, result.reason) == (Outcome.FAILED, "right.py did not end in time")


@NEEDS_NODE
def test_node_checks_run(bench):
    """With what Node itself brings."""
    right = "import assert from 'node:assert'; assert.equal(1, 1);"
    [result] = results(record_with(bench, "node", right, "throw new Error('boom')"))
    assert result.outcome is Outcome.PASSED


def test_without_node_a_check_is_unavailable_and_never_passed(bench, monkeypatch):
    """The exit code is that of something that cannot be reached."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    record_with(bench, "node", "process.exit(0)")
    [row] = bench.json("verify", code=3)
    assert (row["outcome"], row["reason"]) == ("unavailable", "node is not on the PATH")


def test_an_old_node_is_unavailable(bench, tmp_path, monkeypatch):
    """Older than what the checks are written for."""
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v16.20.0\n")
    old.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(old))
    assert tools_for(Runner.NODE) == (Missing("node", "node 16.20.0 is older than 18"),)


@pytest.mark.parametrize(
    ("right", "wrong", "outcomes"),
    [
        ("CREATE TABLE t (a numeric);\nINSERT INTO t VALUES (0.1);", "SELECT 1/0;\nSELECT 'boom';", "passed"),
        ("CREATE TABLE t (a numeric);\nSELECT boom FROM t;\nSELECT 1;", None, "failed"),
    ],
)
def test_sql_checks_run_on_each_postgresql_that_is_at_hand(bench, right, wrong, outcomes):
    """Statement by statement in a database of their own; the first error ends it."""
    found = results(record_with(bench, "sql", right, wrong, shows="division by zero"))
    assert [result.version.split(".")[0] for result in found] == ["18", "16"]
    assert {result.outcome.value for result in found} == {outcomes}


def test_sql_checks_find_an_empty_database_with_pgvector_to_create(bench):
    """Nothing of an earlier check is left, and the extension the project needs can be had."""
    sql = "CREATE TABLE left_over (a int);\nCREATE EXTENSION vector;\nSELECT CAST('[1,2]' AS vector);"
    path = record_with(bench, "sql", sql)
    assert {result.outcome for _ in range(2) for result in results(path)} == {Outcome.PASSED}


def test_verify_writes_what_was_run_on_what_and_when(bench):
    """Once a day and result; show tells it as long as the record stands as it was."""
    path = record_with(bench, "python", "assert True")
    bench.run("verify", SLUG, "--no-record")
    assert not (bench.records / "verifications.jsonl").exists()
    bench.run("verify", SLUG)
    bench.run("verify", "--jobs", "2")
    [line] = (bench.records / "verifications.jsonl").read_text().splitlines()
    entry = json.loads(line)
    assert (entry["slug"], entry["check"], entry["tool"], entry["outcome"]) == (SLUG, "the-check", "python", "passed")
    assert entry["sha256"] == read_record(path).sha256
    assert bench.json("show", SLUG)["verified_on"] == [entry]
    bench.edit(path, "off by 0.01", "off by 0.02")
    assert bench.json("show", SLUG)["verified_on"] == []


def test_a_failed_check_is_exit_code_1_and_shows_what_was_said(bench):
    """With the end of the program's output."""
    record_with(bench, "python", "raise SystemExit('the sum is 0.99')")
    output = bench.run("verify", code=1).output
    assert f"failed: {SLUG}: the-check on python" in output
    assert "the sum is 0.99" in output


def test_a_torn_line_of_results_does_not_swallow_the_next(tmp_path):
    """It is closed, and left out when results are read."""
    path = tmp_path / "verifications.jsonl"
    path.write_text('{"slug": "torn')
    result = Result(SLUG, "1" * 64, "the-check", "python", "3.14.0", Outcome.PASSED)
    assert append_results(path, [result], date(2026, 11, 30)) == 1
    assert append_results(path, [result], date(2026, 11, 30)) == 0
    assert [entry["version"] for entry in verified_on(path, SLUG, "1" * 64)] == ["3.14.0"]
