"""evidence: the advice is carried by sources, each at a named place and about the same thing."""

from __future__ import annotations

import pytest

from tests.gates.records import findings, make_record, make_source, messages

OFF_SUBJECT = "The dolphin is a marine mammal that breathes air."


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sources": [make_source(relation="qualifies"), make_source(relation="defines", locator="8.1")]},
        {"confidence": "medium", "sources": [make_source(), make_source(relation="contradicts", locator="8.2")]},
    ],
)
def test_a_claim_that_its_sources_carry_passes(changes):
    """Supporting or defining text, at a named place, in words that the record shares."""
    assert findings("evidence", make_record(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"sources": [make_source(relation="qualifies")]}, "error: no source supports or defines"),
        ({"sources": [make_source(locator="top")]}, "error: source 1: the locator names no place"),
        (
            {"sources": [make_source(evidence_excerpt="Store money as numeric, never as float")]},
            "error: source 1: the excerpt repeats",
        ),
        ({"sources": [make_source(evidence_excerpt=OFF_SUBJECT)]}, "error: source 1: the excerpt shares no word"),
        (
            {"sources": [make_source(evidence_excerpt="The money of dolphins is a marine matter.")]},
            "warning: source 1: the excerpt shares",
        ),
        (
            {
                "sources": [make_source(), make_source(relation="contradicts", locator="8.2")],
                "exceptions": [],
                "conditions": [],
            },
            "error: a source contradicts the advice",
        ),
        (
            {"sources": [make_source(), make_source(relation="contradicts", locator="8.2")]},
            "warning: confidence is high although",
        ),
    ],
)
def test_a_claim_that_its_sources_do_not_carry_is_held_against_the_record(changes, expected):
    """Each way in which evidence can be missing has a finding of its own."""
    assert expected in messages(findings("evidence", make_record(**changes)))
