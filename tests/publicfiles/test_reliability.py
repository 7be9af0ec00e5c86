"""The table of promises is the table of tests."""

from __future__ import annotations

from bench.reliability import DOCUMENT, NUMBERS, Outcome, Promise, promises, rows_of, table


def test_every_number_has_a_test_that_keeps_it() -> None:
    """From the first to the last, none left out and none beyond."""
    assert {promise.number for promise in promises()} == set(NUMBERS)


def test_the_document_has_a_row_for_every_test_and_no_other() -> None:
    """A promise that was changed, added or dropped is measured again."""
    stated = {(promise.number, promise.text.replace("|", "\\|")) for promise in promises()}
    assert rows_of(DOCUMENT.read_text("utf-8")) == stated


def test_no_promise_in_the_document_is_broken() -> None:
    """Nor was one left out of the run that wrote the table."""
    text = DOCUMENT.read_text("utf-8")
    assert "failed**" not in text
    assert not [line for line in text.splitlines() if line.startswith("| T") and line.endswith("| not run |")]


def test_a_table_tells_figures_failures_and_what_was_not_run() -> None:
    promise = Promise(7, "test_x", 1, "test_t07_x", "It holds | always")
    said = {
        "figures": Outcome(passed=2, figures=["1 of 1", "1 of 1"]),
        "many": Outcome(passed=3, figures=["a", "b", "c"]),
        "plain": Outcome(passed=1),
        "failed": Outcome(passed=2, failed=1),
        "skipped": Outcome(skipped=["no Node"]),
    }
    lines = {name: table([promise], {"test_t07_x": outcome}).splitlines()[-1] for name, outcome in said.items()}
    assert lines == {
        "figures": "| T07 | It holds \\| always | 1 of 1 |",
        "many": "| T07 | It holds \\| always | 3 cases hold |",
        "plain": "| T07 | It holds \\| always | holds |",
        "failed": "| T07 | It holds \\| always | **1 of 3 failed** |",
        "skipped": "| T07 | It holds \\| always | not run here: no Node |",
    }
    assert rows_of(lines["plain"]) == {(7, "It holds \\| always")}


def test_every_promise_is_a_sentence_of_the_document() -> None:
    """It begins with a capital and speaks of the server, not of the test."""
    assert not [promise.test for promise in promises() if not promise.text[:1].isupper() and promise.text[:1].isalpha()]
