"""The whole cycle as people live it: written, checked, approved, published, asked, told about, mended, asked again."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.store.served import published_hashes
from review.ledger import Decision, read_ledger
from tests.acceptance.conftest import Start, answer_of, serve
from tests.databases import Database
from tests.review.conftest import Bench
from tests.review.recordtexts import record_text
from tests.review.terminal import Terminal

__all__ = ["serve"]

ROOT = Path(__file__).parents[2]
SLUG = "store-money-as-numeric"
QUESTION = {"query": "invoice total is off by one cent, floats in the price column", "technologies": ["PostgreSQL"]}


def approve_at_the_desk(bench: Bench, note: str, version: int, settled: str = "") -> None:
    """Approve the first thing that waits, as its owner does, and settle the feedback that is left, if there is any."""
    with Terminal(bench) as desk:
        desk.wait_for("2 wait" if settled else "1 waits")
        desk.wait_for("Recommendation")
        desk.send("a")
        desk.wait_for(f"as version {version}")
        desk.send(f"{note}\r")
        desk.wait_for(f"approved: {SLUG}")
        if settled:
            desk.wait_for("1 waits")
            desk.send("f")
            desk.wait_for(settled)
        desk.wait_for("0 wait")
        desk.send("q")
        assert desk.end() == 0


def test_the_whole_cycle_from_a_new_record_to_a_mended_one(
    published_bench: Bench, database: Database, serve: Start
) -> None:
    """On a terminal and over MCP: what an agent says of a record comes back to it as a better version."""
    bench = published_bench
    bench.run("new", f"data/{SLUG}")
    bench.run("check", SLUG, code=1)
    bench.write(SLUG)
    bench.run("check", SLUG)
    approve_at_the_desk(bench, "read the source again", 1)
    bench.run("publish")
    with serve(database, CHATCTX_VERIFY_SECONDS="1") as program:
        (found,) = answer_of(program.call("search_knowledge", QUESTION))["results"]
        assert found["slug"] == SLUG
        told = {"category": "incorrect", "record": SLUG, "comment": "The scale is two, and some currencies have three."}
        assert answer_of(program.call("submit_feedback", told))["accepted"]
        (entry,) = bench.json("feedback", "list")
        assert (entry["record"], entry["comment"]) == (SLUG, told["comment"])
        bench.edit(bench.records / "data" / f"{SLUG}.md", "numeric(14, 2)", "numeric(15, 3)")
        approve_at_the_desk(bench, "three places, as currencies have", 2, settled="noted: fixed in version 2")
        bench.run("publish")
        (full,) = answer_of(program.call("get_guidance", {"ids": [SLUG]}))["results"]
        assert "numeric(15, 3)" in full["recommendation"]
        assert full["content_version"] == 2
    assert bench.json("feedback", "list") == []
    assert bench.json("queue") == []


def interrupted(bench: Bench, *command: str, after: float) -> None:
    """Run a command and kill it after some seconds, wherever it is; then run it to its end."""
    argv = [sys.executable, "-m", "app.main", "review", *command]
    environ = {**os.environ, **bench.environ}
    process = subprocess.Popen(argv, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    process.kill()
    process.wait()
    done = subprocess.run(argv, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False)
    # What was done before it was killed is not done twice, and says so.
    assert done.returncode == 0 or "already" in done.stderr or "nothing to deprecate" in done.stderr, done.stderr


@pytest.mark.parametrize("after", [0.9, 1.2, 1.6])
def test_killing_any_step_loses_and_doubles_nothing(published_bench: Bench, database: Database, after: float) -> None:
    """Each step is killed once somewhere on its way and run again."""
    bench = published_bench
    decided = ("--by", "ada", "--yes", "--words-only", "--note", "read the source again")
    bench.write(SLUG)
    interrupted(bench, "approve", SLUG, *decided, after=after)
    interrupted(bench, "publish", after=after)
    first = published_hashes(database.owner)
    (bench.records / "data" / f"{SLUG}.md").write_text(record_text(pitfall="Totals are off by 0.01 in some reports."))
    interrupted(bench, "approve", SLUG, *decided, after=after)
    interrupted(bench, "publish", after=after)
    assert published_hashes(database.owner).keys() == {SLUG}
    assert published_hashes(database.owner) != first
    interrupted(bench, "deprecate", SLUG, "--reason", "no longer so", "--by", "ada", "--yes", after=after)
    interrupted(bench, "publish", "--allow-empty", after=after)
    assert published_hashes(database.owner) == {}
    ledger = read_ledger(bench.records / "ledger.jsonl")
    assert [entry.decision for entry in ledger.entries] == [Decision.APPROVE, Decision.APPROVE, Decision.DEPRECATE]
    assert ledger.torn is None
