"""brevity: a brief card fits 350 tokens and a full record 1500."""

from __future__ import annotations

import pytest

from app.contract import Detail, count_tokens, serialise
from review.cards import card
from tests.gates.records import findings, make_record, messages

# A word of nine letters and a space.
WORD = "paragraph "


@pytest.mark.parametrize(
    "changes", [{}, {"recommendation": "Use " + WORD * 20 + "to say it."}, {"examples": WORD * 140}]
)
def test_a_record_within_its_budgets_passes(changes):
    """Length that fits is nobody's business."""
    assert findings("brevity", make_record(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"recommendation": "Use " + WORD * 49, "conditions": [WORD * 19] * 4}, "error: the brief card takes"),
        (
            {
                "rationale": WORD * 89,
                "examples": WORD * 149,
                "pitfalls": [WORD * 23] * 4,
                "verification_checks": [WORD * 23] * 4,
            },
            "error: the full record takes",
        ),
    ],
)
def test_a_record_over_a_budget_is_refused(changes, expected):
    """Fields that are each within their limit can be too much together."""
    assert expected in messages(findings("brevity", make_record(**changes)))


def test_the_budget_is_counted_on_the_json_that_is_sent():
    """The number in the finding is that of the served card."""
    record = make_record(recommendation="Use " + WORD * 49, conditions=[WORD * 19] * 4)
    tokens = count_tokens(serialise(card(record, Detail.BRIEF)))
    assert f"takes {tokens} tokens of 350" in messages(findings("brevity", record))
