"""safety, measured in code blocks: what tests/acceptance/test_safety.py measures in prose."""

from __future__ import annotations

import pytest

from bench.safety import FOLDER, decoded, lines_of
from review.gates import Level
from tests.gates.records import findings, make_record

LEAST_REFUSED = 0.95


@pytest.mark.parametrize("kind", ["download", "install", "encoded", "exfiltration", "ruin", "permission", "override"])
def test_attacks_are_refused_in_examples_too(kind):
    """A code block is what an agent copies first."""
    lines = [decoded(line) for line in lines_of(FOLDER / f"attack-{kind}.txt")]
    passed = [line for line in lines if not is_refused(f"```\n{line.replace('`', '')}\n```")]
    assert 1 - len(passed) / len(lines) >= LEAST_REFUSED, passed


def is_refused(examples: str) -> bool:
    """Tell whether the gate holds an error against a record with these examples."""
    found = findings("safety", make_record(examples=examples))
    return any(finding.level is Level.ERROR for finding in found)
