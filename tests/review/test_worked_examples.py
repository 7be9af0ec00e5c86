"""The two records that docs/writing-records.md shows: what it says of them is what the gates say."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from app.recordfile import read_record
from review.lint import lint

_DOC = (Path(__file__).parents[2] / "docs/writing-records.md").read_text("utf-8")
_RECORD = re.compile(r"`records/(?P<place>data/[a-z-]+)\.md`[^`]*````markdown\n(?P<text>.*?)````", re.DOTALL)
_SAID = re.compile(r"```text\n(?P<said>.*?)```", re.DOTALL)


def written(bench) -> list[Path]:
    """Write the examples as if they were of today, and return their files: the good one, then the bad one."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    paths = []
    for match in _RECORD.finditer(_DOC):
        paths.append(bench.records / f"{match['place']}.md")
        paths[-1].parent.mkdir(exist_ok=True)
        paths[-1].write_text(match["text"].replace("2026-11-30", today), "utf-8")
    return paths


def test_the_good_example_passes_every_gate(bench):
    """It is in order to the letter, too."""
    good, _ = written(bench)
    report = bench.json("check", good.stem, "--words-only")
    assert report["records"][0]["findings"] == []
    assert lint(good.read_text("utf-8"), good).repairs == ()
    assert read_record(good).record.slug == good.stem


def test_what_is_said_of_the_bad_example_is_what_the_gates_say(bench):
    """Word for word, with the lines."""
    _, bad = written(bench)
    said = bench.run("check", bad.stem, "--words-only", code=1).output
    match = _SAID.search(_DOC)
    assert match
    assert said.strip() == match["said"].strip()
