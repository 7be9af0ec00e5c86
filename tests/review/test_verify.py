"""Executed checks: right must succeed, wrong must fail and show it, and what cannot be run has not passed."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from datetime import date

import pytest

from app.recordfile import read_record
from app.settings import read_settings
from review.desk.office import Office
from review.errors import Refused
from review.verifications import append_results, proved_on, unproved, verified_on
from review.verify import runners
from review.verify.execution import Outcome, Result
from tests.review.checking import DEBIAN_15, NEEDS_NODE, SLUG, record_with, results

STARTS_ANOTHER = (
    "import subprocess, sys\n"
    "open('test_it.py', 'w').write('import not_at_hand\\nassert not_at_hand')\n"
    "assert subprocess.run([sys.executable, 'test_it.py'], capture_output=True).returncode == 0"
)


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


def test_a_check_that_says_it_was_not_started_has_failed(bench):
    """Only what starts it can say so."""
    lie = "raise SystemExit('launch: the program cannot be started as the unprivileged user: Permission denied')"
    [result] = results(record_with(bench, "python", lie))
    assert result.outcome is Outcome.FAILED


def test_a_check_that_could_not_be_started_is_unavailable(bench, monkeypatch):
    """The reason is that of the system."""
    elsewhere = lambda program: real(replace(program, argv=("/not/there",)))  # noqa: E731
    real = runners.run_confined
    monkeypatch.setattr(runners, "run_confined", elsewhere)
    [result] = results(record_with(bench, "python", "assert True"))
    assert result.outcome is Outcome.UNAVAILABLE
    assert result.reason.endswith("No such file or directory")


def test_database_logs_pepper_and_records_are_private_to_every_check(bench, monkeypatch, tmp_path):
    """The command says which those are."""
    asked = []
    real = runners.run_confined
    monkeypatch.setattr(runners, "run_confined", lambda program: asked.append(program.private) or real(program))
    record_with(bench, "python", "assert True")
    bench.run("verify", CHATCTX_PEPPER_FILE=str(tmp_path / "secrets" / "pepper"))
    assert asked == [(tmp_path / "home", bench.records, tmp_path / "secrets" / "pepper")]


def test_what_a_check_says_cannot_drive_the_terminal(bench):
    """Neither as text nor as JSON, which leaves some control characters as they are."""
    record_with(bench, "python", r"raise SystemExit('\x1b[2J\x9b2Jthe sum \x1b]0;x\x07is 0.99')")
    assert "    the sum is 0.99\n" in bench.run("verify", code=1).output
    [row] = bench.json("verify", code=1)
    assert row["output"] == "the sum is 0.99"


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
    [result] = results(record_with(bench, "node", "process.exit(0)"))
    assert (result.outcome, result.reason) == (Outcome.UNAVAILABLE, "node 16.20.0 is older than 18")


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
    assert [result.version.split(".")[0] for result in found] == ["18", "16", "15"]
    assert {result.outcome.value for result in found[: 3 if DEBIAN_15 else 2]} == {outcomes}


def test_a_postgresql_that_is_not_installed_is_unavailable_and_said_to_be(bench, monkeypatch, tmp_path):
    """The others are asked all the same; the exit code says that not everything was."""
    monkeypatch.setattr("review.verify.postgres.DEBIAN", tmp_path)
    record_with(bench, "sql", "SELECT 1;")
    rows = bench.json("verify", code=3)
    assert [(row["version"].split(".")[0], row["outcome"]) for row in rows] == [
        ("18", "passed"), ("16", "passed"), ("15", "unavailable"),
    ]  # fmt: skip
    assert rows[2]["reason"] == "not installed here (Debian: apt install postgresql-15)"


def test_sql_checks_find_an_empty_database_with_pgvector_to_create(bench):
    """Nothing of an earlier check is left, and the extension the project needs can be had."""
    sql = "CREATE TABLE left_over (a int);\nCREATE EXTENSION vector;\nSELECT CAST('[1,2]' AS vector);"
    path = record_with(bench, "sql", sql)
    bench.edit(path, "name: PostgreSQL", "name: PostgreSQL\n    version_constraint: '>=16'\n    scheme: generic")
    assert {result.outcome for _ in range(2) for result in results(path)} == {Outcome.PASSED}


def test_without_an_extension_it_creates_an_sql_check_is_unavailable(bench):
    """It says which; a statement that fails otherwise has failed."""
    found = results(record_with(bench, "sql", "CREATE EXTENSION not_at_hand;"))
    assert {result.outcome for result in found} == {Outcome.UNAVAILABLE}
    assert found[0].reason == "needs the extension not_at_hand, which is not installed for this PostgreSQL"


@pytest.mark.parametrize(
    "right",
    [
        "import not_at_hand",
        "from not_at_hand.part import thing",
        STARTS_ANOTHER,
    ],
    ids=["import", "from", "in a program it starts"],
)
def test_without_a_module_it_imports_a_check_is_unavailable(bench, right):
    """It says which, and what installs it; the exit code is not that of a failure."""
    record_with(bench, "python", right)
    [row] = bench.json("verify", code=3)
    assert row["outcome"] == "unavailable"
    assert row["reason"].startswith("needs not_at_hand, not installed here; `make venv`")


@pytest.mark.parametrize(
    "right",
    [
        "import sqlalchemy.no_such_part",
        "open('own.py', 'w').write('import own\\n')\nimport own\nassert False",
        '"""A check\nfrom nowhere: import it if you can."""\nassert False',
    ],
    ids=["part of an installed one", "written by itself", "prose"],
)
def test_a_check_that_lacks_no_module_has_failed(bench, right):
    """What is installed and does not do what it should is the point of the check."""
    [result] = results(record_with(bench, "python", right))
    assert result.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("right", "needed"),
    [
        ("import tarfile\ntarfile.NoSuchError", "needs a Python whose tarfile has NoSuchError"),
        ("from os.path import no_such", "needs a Python whose posixpath has no_such"),
        ("from asyncio import NoSuchGroup", "needs a Python whose asyncio has NoSuchGroup"),
    ],
)
def test_on_a_python_whose_standard_library_lacks_a_name_a_check_is_unavailable(bench, right, needed):
    """The right file must work where the claim can be tried at all."""
    [result] = results(record_with(bench, "python", right))
    assert (result.outcome, result.reason) == (Outcome.UNAVAILABLE, needed)


def test_a_wrong_file_that_lacks_a_name_of_the_standard_library_proves_nothing(bench):
    """The right one ran on this very Python."""
    [result] = results(record_with(bench, "python", "assert True", "import tarfile\ntarfile.NoSuchError"))
    assert result.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("runner", "technology", "needed"),
    [
        ("python", "Python\n    version_constraint: '>=3.99'\n    scheme: pep440", "needs Python >=3.99; here is 3."),
        ("python", "SQLAlchemy\n    version_constraint: '<1'\n    scheme: pep440", "needs SQLAlchemy <1; here is "),
        ("sql", "PostgreSQL\n    version_constraint: '>=99'\n    scheme: generic", "needs PostgreSQL >=99; here is 1"),
        pytest.param(
            "node", "Node.js\n    version_constraint: '>=999'\n    scheme: npm", "needs Node.js >=999; here is ",
            marks=NEEDS_NODE,
        ),
    ],
)  # fmt: skip
def test_on_a_version_the_record_is_not_about_a_check_is_unavailable(bench, runner, technology, needed):
    """A record for a later version is not proved, nor refuted, by this one."""
    path = record_with(bench, runner, "broken on purpose")
    bench.edit(path, "name: PostgreSQL", f"name: {technology}")
    for result in results(path):
        assert (result.outcome, result.reason.startswith(needed)) == (Outcome.UNAVAILABLE, True)


def test_of_several_postgresqls_only_those_the_record_is_about_are_asked(bench):
    """The others say nothing about it."""
    path = record_with(bench, "sql", "SELECT 1;")
    bench.edit(path, "name: PostgreSQL", "name: PostgreSQL\n    version_constraint: '>=17'\n    scheme: generic")
    assert [(result.version.split(".")[0], result.outcome) for result in results(path)] == [("18", Outcome.PASSED)]


def test_what_could_not_be_run_is_not_written_down(bench):
    """It says something about this machine, not about the record."""
    record_with(bench, "python", "import not_at_hand")
    bench.run("verify", code=3)
    assert not (bench.records / "verifications.jsonl").exists()


def test_in_a_pipe_a_result_is_one_line(bench):
    """Record and check are not parted."""
    record_with(bench, "python", "assert True", check_id="a-check-with-a-name-as-long-as-the-form-permits-it-to-be-ok")
    line = f"{SLUG}: a-check-with-a-name-as-long-as-the-form-permits-it-to-be-ok"
    assert any(row.startswith("passed") and row.endswith(line) for row in bench.run("verify").output.splitlines())


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


def test_what_passes_again_after_a_failure_counts_though_the_same_was_said_before(tmp_path):
    """On one day, too: the last word is what holds."""
    path = tmp_path / "verifications.jsonl"
    passed = Result(SLUG, "1" * 64, "the-check", "python", "3.14.0", Outcome.PASSED)
    for outcome in (Outcome.PASSED, Outcome.FAILED, Outcome.PASSED, Outcome.PASSED):
        append_results(path, [replace(passed, outcome=outcome)], date(2026, 11, 30))
    assert [json.loads(line)["outcome"] for line in path.read_text().splitlines()] == ["passed", "failed", "passed"]
    assert [entry["outcome"] for entry in verified_on(path, SLUG, "1" * 64)] == ["passed"]


def test_a_record_is_proved_since_the_day_its_last_check_passed(bench):
    """Each check on each of its sets of packages, and none failed since on anything it was run on."""
    path = record_with(bench, "python", "assert True", packages=["widget==1.0", "widget==2.0"])
    file, book = read_record(path), bench.records / "verifications.jsonl"

    def say(day: int, pinned: str, outcome: Outcome = Outcome.PASSED, tool: str = "python") -> tuple:
        result = Result(SLUG, file.sha256, "the-check", tool, "3.14.0", outcome, pinned=pinned)
        append_results(book, [result], date(2026, 11, day))
        told = verified_on(book, SLUG, file.sha256)
        return unproved(told, file), proved_on(told, file)

    assert say(1, "widget==1.0") == (("the-check",), None)
    assert say(3, "widget==2.0") == ((), date(2026, 11, 1))
    assert say(5, "widget==1.0") == ((), date(2026, 11, 3))
    assert say(6, "widget==2.0", Outcome.FAILED, tool="pypy") == (("the-check",), None)
    assert say(7, "widget==2.0", tool="pypy") == ((), date(2026, 11, 5))


def test_an_approval_is_refused_while_a_check_fails(bench):
    """It says which, on what and how; once the check passes, the same text can be approved."""
    path = record_with(bench, "python", "assert True", "print('no failure')")
    refused = bench.run("approve", SLUG, "--by", "ada", "--yes", code=1).output
    assert f"{SLUG} is contradicted by 1 of its checks. the-check on python " in refused
    assert "wrong.py should fail and succeeded" in refused
    assert not (bench.records / "ledger.jsonl").exists()
    (path.with_suffix(".checks") / "wrong.py").write_text("raise SystemExit('boom')")
    bench.run("approve", SLUG, "--by", "ada", "--yes")
    [proof] = bench.json("show", SLUG)["verified_on"]
    assert (proof["outcome"], bench.json("show", SLUG)["state"]) == ("passed", "approved")


def test_the_desk_approves_nothing_that_a_check_contradicts(bench):
    """By the same rule as the command."""
    record_with(bench, "python", "raise SystemExit('the sum is 0.99')")
    desk = Office(read_settings(bench.environ, base=bench.records.parent), "ada")
    shelf, [item] = desk.look()
    studied = desk.study(shelf, SLUG)
    assert studied.unproved == ("the-check",)
    with pytest.raises(Refused, match="is contradicted by 1 of its checks"):
        desk.approve(item, studied, "")
    assert not (bench.records / "ledger.jsonl").exists()


def test_an_approval_runs_no_check_that_has_passed_on_this_text(bench, monkeypatch):
    """And runs all of them again when one has failed since."""
    path = record_with(bench, "python", "assert True")
    bench.run("verify")
    started = []
    real = runners.run_confined
    monkeypatch.setattr(runners, "run_confined", lambda program: started.append(program) or real(program))
    bench.run("approve", SLUG, "--by", "ada", "--yes")
    assert started == []
    failed = Result(SLUG, read_record(path).sha256, "the-check", "python", "3.0.0", Outcome.FAILED)
    append_results(bench.records / "verifications.jsonl", [failed], date(2026, 11, 30))
    bench.run("approve", SLUG, "--by", "bob", "--yes")
    assert len(started) == 1


def test_a_check_that_cannot_be_run_here_does_not_keep_from_approving(bench):
    """The owner is told which, and why."""
    record_with(bench, "python", "import not_at_hand")
    output = bench.run("approve", SLUG, "--by", "ada", "--yes").output
    assert "note: not run here: the-check on python: needs not_at_hand, not installed here" in output


def test_a_torn_line_of_results_does_not_swallow_the_next(tmp_path):
    """It is closed, and left out when results are read."""
    path = tmp_path / "verifications.jsonl"
    path.write_text('{"slug": "torn')
    result = Result(SLUG, "1" * 64, "the-check", "python", "3.14.0", Outcome.PASSED)
    assert append_results(path, [result], date(2026, 11, 30)) == 1
    assert append_results(path, [result], date(2026, 11, 30)) == 0
    assert [entry["version"] for entry in verified_on(path, SLUG, "1" * 64)] == ["3.14.0"]
