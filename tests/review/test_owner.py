"""What an owner does at the shell: write, check, read, approve, change, deprecate."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from app.record import canonical_form, content_hash
from app.recordfile import read_record
from review.ledger import read_ledger
from review.snapshots import read_snapshot
from tests.gates.records import make_record
from tests.terminals import converse

SLUG = "store-money-as-numeric"
ROOT = Path(__file__).parents[2]


def test_a_new_record_is_a_complete_skeleton_that_names_what_is_to_be_written(bench):
    """It can be parsed as it stands and cannot be approved."""
    bench.run("new", f"data/{SLUG}")
    report = bench.json("check", SLUG, code=1)
    assert report["records"][0]["state"] == "new"
    assert any("still to be written" in entry["message"] for entry in report["records"][0]["findings"])
    refused = bench.run("approve", SLUG, "--yes", code=1)
    assert "refused: store-money-as-numeric has" in refused.stderr
    assert "actionability: still to be written" in refused.stderr
    assert not (bench.records / "ledger.jsonl").exists()


@pytest.mark.parametrize(
    ("place", "code"),
    [("data/Store Money", 2), ("nonsense/store-money", 2), ("store-money", 2), (f"data/{SLUG}", 1), (f"ux/{SLUG}", 1)],
)
def test_a_new_record_needs_a_topic_and_a_free_slug(bench, place, code):
    """An existing file is never overwritten."""
    path = bench.write(SLUG)
    before = path.read_text()
    bench.run("new", place, code=code)
    assert path.read_text() == before


def test_check_names_file_and_line_of_a_record_that_cannot_be_read(bench):
    """A broken record is a finding of its own and the others are still checked."""
    bench.write(SLUG)
    bench.write("a-broken-record").write_text("---\nconfidence: high\nupdatd: 2026-11-30\n---\n")
    report = bench.json("check", code=1)
    assert [(record["slug"], record["state"]) for record in report["records"]] == [
        ("a-broken-record", "unreadable"),
        (SLUG, "new"),
    ]
    assert report["records"][0]["findings"][0]["message"].startswith("data/a-broken-record.md:3: unknown key")


def test_check_of_an_unknown_record_is_refused(bench):
    """A typing error must not look like a clean record."""
    bench.run("check", "unknown-record", code=1)


def test_an_approval_is_an_entry_for_exactly_this_content(bench):
    """The ledger holds the hash of the record, who, when and why."""
    path = bench.write(SLUG)
    bench.approve(SLUG)
    entry = read_ledger(bench.records / "ledger.jsonl").entries[0]
    assert (entry.slug, entry.sha256, entry.by) == (SLUG, read_record(path).sha256, "ada")
    assert entry.note == "read the source again"
    assert bench.json("check")["records"][0]["state"] == "approved"
    bench.run("check", "--approved")


def test_an_edit_of_one_character_takes_the_approval_away(bench):
    """Check says so; a change of layout or of a comment is none."""
    path = bench.write(SLUG)
    bench.approve(SLUG)
    bench.edit(path, "confidence: high", "confidence: high   # sure")
    assert bench.json("check")["changed"] == []
    bench.edit(path, "0.01", "0.02")
    result = bench.run("check")
    assert f"{SLUG}: changed since approval: will not be served at the next publish" in result.output
    bench.run("check", "--approved", code=1)


def test_an_edit_of_a_check_file_takes_the_approval_away(bench):
    """The proof is part of what was approved."""
    path = bench.write(SLUG, check={"runner": "python", "right": "right.py"})
    path.with_suffix(".checks").mkdir()
    fixture = path.with_suffix(".checks") / "right.py"
    fixture.write_text("assert 1\n")
    bench.approve(SLUG)
    fixture.write_text("assert 2\n")
    assert bench.json("check")["changed"] == [SLUG]


def test_diff_shows_what_changed_since_the_approval_without_a_database(bench):
    """Against the copy that was kept when it was approved."""
    path = bench.write(SLUG)
    assert "+[title]" in bench.json("diff", SLUG)["diff"]
    bench.approve(SLUG)
    assert bench.json("diff", SLUG)["diff"] == []
    bench.edit(path, "off by 0.01", "off by 0.02")
    lines = bench.json("diff", SLUG)["diff"]
    assert [line for line in lines if line.startswith(("+ ", "- "))] == [
        "-  - Totals are off by 0.01 although every row prints as expected.",
        "+  - Totals are off by 0.02 although every row prints as expected.",
    ]


def test_an_altered_or_missing_copy_of_an_approved_record_is_refused(bench):
    """The copy proves itself by its name."""
    path = bench.write(SLUG)
    bench.approve(SLUG)
    sha256 = read_record(path).sha256
    bench.edit(path, "off by 0.01", "off by 0.02")
    copy = bench.records / ".approved" / f"{sha256}.json"
    copy.write_bytes(copy.read_bytes().replace(b"0.01", b"0.03"))
    assert bench.run("diff", SLUG, code=1).stderr.startswith("invalid_ledger: The approved copy")
    copy.unlink()
    assert bench.run("diff", SLUG, code=1).stderr.startswith("invalid_ledger: The approved copy")


def test_the_copys_hash_is_the_records_content_hash():
    """Both put the same prefix before the same bytes."""
    record = make_record()
    assert content_hash(record) == hashlib.sha256(b"chatctx-record-v1\0" + canonical_form(record)).hexdigest()


def test_a_copy_reads_back_as_the_approved_record(bench):
    """Every field, and the hashes of the check files."""
    path = bench.write(SLUG)
    bench.approve(SLUG)
    file = read_record(path)
    assert read_snapshot(bench.records, file.sha256) == json.loads(canonical_form(file.record))


def test_a_decision_is_about_one_record(bench):
    """Several names are refused as wrong usage, and nothing is decided."""
    bench.write(SLUG)
    bench.run("approve", SLUG, "another-record", "--yes", code=2)
    bench.run("approve", "--yes", code=2)
    assert not (bench.records / "ledger.jsonl").exists()


def test_a_warning_asks_for_a_reason(bench):
    """Without one it is refused; the reason is kept."""
    bench.write(SLUG, pitfall="Since PostgreSQL 15 totals are off by 0.01 in the report.")
    assert "give the reason" in bench.run("approve", SLUG, "--yes", code=1).stderr
    bench.run("approve", SLUG, "--yes", "--note", "it is a remark in passing")
    assert read_ledger(bench.records / "ledger.jsonl").entries[0].note == "it is a remark in passing"


@pytest.mark.parametrize(("answer", "code", "entries"), [("y", 0, 1), ("n", 1, 0), ("\x04", 1, 0)])
def test_on_a_terminal_the_owner_is_shown_the_record_and_asked(bench, answer, code, entries):
    """Yes decides; no, and an end of input, decide nothing."""
    bench.write(SLUG)
    command = [sys.executable, "-m", "app.main", "review", "approve", SLUG, "--by", "ada"]
    ended, output = converse(command, bench.environ, ("[y/N]:", answer))
    assert ended == code
    assert f"Approve {SLUG} as version 1" in output
    assert "[recommendation]" in output
    assert len(read_ledger(bench.records / "ledger.jsonl").entries) == entries


def test_a_decision_is_not_taken_by_a_pipe(bench):
    """Where nobody can be asked, --yes has to be said; that is found out before anything is shown."""
    bench.write(SLUG)
    result = bench.run("approve", SLUG, "--note", "read it", code=2, stdin="y\n")
    assert "decide with --yes" in result.stderr
    assert result.stdout == ""
    assert not (bench.records / "ledger.jsonl").exists()


def test_the_same_content_is_not_approved_twice(bench):
    """The version counts decisions that changed something."""
    bench.write(SLUG)
    bench.approve(SLUG)
    assert "already approved as it stands, by ada" in bench.run("approve", SLUG, "--by", "ada", "--yes", code=1).stderr


def test_a_deprecated_record_keeps_its_file_and_can_be_approved_again(bench):
    """Deprecation is a decision like another."""
    path = bench.write(SLUG)
    bench.run("deprecate", SLUG, "--reason", "never approved", "--yes", code=1)
    bench.approve(SLUG)
    bench.run("deprecate", SLUG, "--reason", "there is a better one", "--yes", "--by", "ada")
    assert path.exists()
    assert bench.json("check")["records"][0]["state"] == "deprecated"
    bench.approve(SLUG)
    assert [row["decision"] for row in bench.json("history", SLUG)] == ["approve", "deprecate", "approve"]


def test_a_deprecated_record_is_no_duplicate_of_its_successor(bench):
    """Only what is or may be served is compared."""
    bench.write(SLUG)
    bench.approve(SLUG)
    bench.write("keep-money-numeric")
    assert bench.json("check", "keep-money-numeric", code=1)["counts"]["error"] == 1
    bench.run("deprecate", SLUG, "--reason", "superseded by the new text", "--yes")
    assert bench.json("check", "keep-money-numeric")["counts"]["error"] == 0


def test_show_gives_the_card_an_agent_gets_with_its_cost_and_standing(bench):
    """At the detail that was asked for; tokens for all three."""
    bench.write(SLUG)
    shown = bench.json("show", SLUG, "--detail", "brief")
    assert shown["card"]["slug"] == SLUG
    assert shown["card"]["pitfalls"] == []
    assert shown["state"] == "new"
    assert 0 < shown["tokens"]["brief"] < shown["tokens"]["standard"] < shown["tokens"]["full"]
    printed = bench.run("show", SLUG).output
    assert printed.startswith("Store money as numeric, never as float\n====")
    assert "\nPitfalls\n  - Totals are off by 0.01" in printed
    assert "\nstate    new\n" in printed


def test_show_calls_a_record_approved_only_as_it_was_approved(bench):
    """Neither before, nor after an edit."""
    of_approval = {"status", "content_version", "approved_at"}
    path = bench.write(SLUG)
    assert not of_approval & bench.json("show", SLUG)["card"].keys()
    bench.approve(SLUG)
    card = bench.json("show", SLUG)["card"]
    assert (card["status"], card["content_version"]) == ("approved", 1)
    assert "confidence high · version 1\n" in bench.run("show", SLUG).output
    bench.edit(path, "off by 0.01", "off by 0.02")
    assert not of_approval & bench.json("show", SLUG)["card"].keys()
    assert "\nstate    changed, content version 1\n" in bench.run("show", SLUG).output


def test_a_tampered_ledger_stops_every_command_that_reads_it(bench):
    """Check, show, approve, history and publish refuse with one line and exit code 1."""
    bench.write(SLUG)
    bench.approve(SLUG)
    ledger = bench.records / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"ada"', b'"eve"'))
    for command in (["check"], ["show", SLUG], ["approve", SLUG, "--yes"], ["history"], ["publish"]):
        assert bench.run(*command, code=1).stderr.startswith("invalid_ledger: ledger.jsonl:1: was edited")


def test_check_reports_a_copy_that_no_line_speaks_of(bench):
    """The chain cannot tell that its last lines were cut off; the kept copies can."""
    bench.write(SLUG)
    bench.approve(SLUG)
    (bench.records / "ledger.jsonl").write_bytes(b"")
    assert any("has no line in the ledger" in note for note in bench.json("check")["notes"])


def test_check_reports_an_approved_record_whose_file_is_gone(bench):
    """It will not be served, and the owner should know."""
    path = bench.write(SLUG)
    bench.approve(SLUG)
    path.unlink()
    assert any(note.startswith(f"{SLUG} is approved but its file is gone") for note in bench.json("check")["notes"])


def test_two_records_with_one_slug_are_both_refused(bench):
    """The slug is the record's name everywhere."""
    bench.write(SLUG, topic="data")
    bench.write(SLUG, topic="ux")
    report = bench.json("check", code=1)
    assert "the slug is taken by" in report["records"][0]["findings"][0]["message"]


@pytest.mark.parametrize(
    "command",
    ["check", "new", "import", "lint", "stale", "show", "diff", "approve", "deprecate", "history", "publish", "verify"],
)
def test_every_command_explains_itself_and_offers_json(bench, command):
    """Help is there, and says how to get output for programs."""
    assert "--json" in bench.run(command, "--help").output


def test_output_is_readable_without_colour_in_80_columns(bench):
    """No escape sequences reach a pipe, and lines are folded."""
    bench.write(SLUG, recommendation="The amounts should be stored as numeric, whatever anybody else may say of it.")
    output = bench.run("check", code=1).output
    assert "\x1b" not in output
    assert max(len(line) for line in output.splitlines()) <= 100


@pytest.mark.parametrize("place", ["odd.md", "data/deeper/odd.md", "data/odd.MD"])
def test_check_names_a_record_that_lies_where_none_is_read(bench, place):
    """A record in the wrong place is an error of its own, not silence."""
    path = bench.write(SLUG)
    stray = bench.records / place
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_text(path.read_text("utf-8"), "utf-8")
    report = bench.json("check", code=1)
    messages = [finding["message"] for record in report["records"] for finding in record["findings"]]
    assert any(message.startswith(f"{place}: no record is read from here") for message in messages)


def test_records_folder_that_does_not_exist_is_named_with_its_setting(bench):
    """A misspelt folder is not an empty one."""
    nowhere = str(bench.records / "nowhere")
    result = bench.run("check", code=1, CHATCTX_RECORDS=nowhere)
    assert nowhere in result.stderr
    assert "CHATCTX_RECORDS" in result.stderr


def test_one_unreadable_record_keeps_no_other_from_service(published_bench):
    """It is withheld and named; the rest is published."""
    other = "escape-text-in-pytest-raises-match"
    for source in (ROOT / "records/testing").glob(f"{other}*"):
        target = published_bench.records / "testing" / source.name
        target.parent.mkdir(exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    published_bench.write(SLUG)
    for slug in (SLUG, other):
        published_bench.approve(slug)
    published_bench.edit(published_bench.records / "data" / f"{SLUG}.md", "updated: 20", "updated: 2026-02-31 #")
    result = published_bench.json("publish")
    assert result["served"] == 1
    assert result["withheld"] == {SLUG: "cannot be read"}
