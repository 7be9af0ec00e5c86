"""The gates as a set: found by name, documented, tested, and independent of each other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from review.gates import Failure, Gate, Level, Success, discover, error, run
from tests.gates.records import context_of, make_record

ROOT = Path(__file__).parents[2]
GATES = discover()


def test_the_ten_gates_of_the_contract_and_ours_are_found():
    """A gate is found because its file is there."""
    assert [gate.id for gate in GATES] == [
        "actionability", "brevity", "conflicts", "duplicates", "evidence", "freshness", "license", "safety",
        "source_authority", "version_scope",
    ]  # fmt: skip


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.id)
def test_every_gate_has_its_own_test_file_and_documented_promise(gate):
    """A gate is three things: a file, a test, and a heading that states its promise, refusal and remedy."""
    assert (ROOT / "tests" / "gates" / f"test_{gate.id}.py").is_file()
    section = re.search(
        rf"^## {gate.id}\n(.*?)(?=^## |\Z)", (ROOT / "docs" / "gates.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert section is not None
    assert gate.promise in " ".join(section[1].split())
    for part in ("Refuses:", "Example:", "Remedy:"):
        assert part in section[1]


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.id)
def test_a_gate_sees_neither_clock_nor_network_nor_database(gate):
    """What a gate may know comes with its arguments, so that its verdict is the same today and in a year."""
    tree = ast.parse((ROOT / "review" / "gates" / f"{gate.id}.py").read_text())
    imported = {
        alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "app", "collections", "datetime", "functools", "re", "review"}
    assert not re.search(r"\b(?:today|now|utcnow)\(", (ROOT / "review" / "gates" / f"{gate.id}.py").read_text())


def test_the_record_of_these_tests_passes_every_gate():
    """What the other tests change starts from a record that nothing is held against."""
    record = make_record()
    assert [outcome.gate for outcome in run(record, context_of(record)) if not outcome] == []


def test_a_crashed_gate_is_a_finding_of_that_gate_and_the_others_still_run():
    """One broken gate hides nothing of what the others find."""

    def crash(record, context):
        raise ZeroDivisionError("by zero")

    def refuse(record, context):
        return [error("no", "yes")]

    outcomes = run(make_record(), context_of(), [Gate("broken", "", crash), Gate("strict", "", refuse)])
    assert [outcome.gate for outcome in outcomes if not outcome] == ["broken", "strict"]
    assert "ZeroDivisionError" in outcomes[0].findings[0].message
    assert outcomes[0].findings[0].level is Level.ERROR
    assert not outcomes[0].findings[0].waivable


def test_an_outcome_is_true_only_without_findings():
    """A success is true and has no findings; a failure is false, also one of warnings alone."""
    assert Success("x")
    assert Success("x").findings == ()
    assert not Failure("x", (error("a", "b"),))
