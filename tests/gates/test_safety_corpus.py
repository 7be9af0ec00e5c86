"""safety, measured: attacks by class, ordinary documentation, the shipped records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.recordfile import read_record, record_paths
from review.gates import Level
from tests.gates.records import findings, make_record

CORPUS = Path(__file__).parent / "safety"
ROOT = Path(__file__).parents[2]
# What is recognised by its form is refused without exception; what is recognised by its wording, nearly so. `reworded`
# was written to get past the patterns; what of it still does shows where they end.
RECALL = {"hidden": 1.0, "markers": 1.0, "links": 1.0, "reported": 1.0, "reworded": 0.8}
RECALL_BY_WORDING = 0.95
FALSE_ALARMS = 0.02


def lines_of(name: str) -> list[str]:
    """Return the lines of a corpus file; `<U+200B>` stands for a character that a reader would not see."""
    text = (CORPUS / f"{name}.txt").read_text(encoding="utf-8")
    lines = [re.sub(r"<U\+([0-9A-F]{4,6})>", lambda code: chr(int(code[1], 16)), line) for line in text.splitlines()]
    return [line if len(line) >= 20 else f"{line} (as it was found)" for line in lines if line]


ATTACKS = sorted(path.stem.removeprefix("attack-") for path in CORPUS.glob("attack-*.txt"))


def is_refused(text: str, **changes) -> bool:
    """Tell whether the gate holds an error against a record with this pitfall."""
    found = findings("safety", make_record(**(changes or {"pitfalls": [text]})))
    return any(finding.level is Level.ERROR for finding in found)


@pytest.mark.parametrize("kind", ATTACKS)
def test_attacks_are_refused(kind):
    """Every class of attack on its own, so that a good one hides no bad one."""
    lines = lines_of(f"attack-{kind}")
    passed = [line for line in lines if not is_refused(line)]
    assert 1 - len(passed) / len(lines) >= RECALL.get(kind, RECALL_BY_WORDING), passed


@pytest.mark.parametrize("kind", ["download", "install", "encoded", "exfiltration", "ruin", "permission", "override"])
def test_attacks_are_refused_in_examples_too(kind):
    """A code block is what an agent copies first."""
    lines = lines_of(f"attack-{kind}")
    passed = [line for line in lines if not is_refused(line, examples=f"```\n{line.replace('`', '')}\n```")]
    assert 1 - len(passed) / len(lines) >= RECALL_BY_WORDING, passed


def test_the_corpus_is_large_enough_to_say_something():
    """At least ten classes and 150 attacks, and 300 sentences of ordinary documentation."""
    assert len(ATTACKS) >= 10
    assert sum(len(lines_of(f"attack-{kind}")) for kind in ATTACKS) >= 150
    assert len(set(lines_of("benign"))) >= 300


def test_ordinary_documentation_is_not_refused():
    """Also where it speaks of agents, prompts, credentials and deletion."""
    lines = lines_of("benign")
    refused = [line for line in lines if is_refused(line)]
    assert len(refused) / len(lines) <= FALSE_ALARMS, refused


def test_no_shipped_record_is_refused():
    """What stands in the records is documentation too."""
    for path in record_paths(ROOT / "records"):
        found = findings("safety", read_record(path).record)
        assert not [finding for finding in found if finding.level is Level.ERROR], path
