"""actionability: the recommendation starts with a verb; the verification checks can be carried out."""

from __future__ import annotations

import pytest

from tests.gates.records import findings, make_record, messages

REST = " and say what else has to be said about this decision."


@pytest.mark.parametrize(
    "recommendation",
    [
        f"Use `numeric`{REST}",
        f"Do not use floats{REST}",
        f"Never store floats{REST}",
        f"Pre-ping pooled connections{REST}",
    ],
)
def test_a_recommendation_that_starts_with_a_verb_passes(recommendation):
    """In the imperative, affirmed or denied."""
    assert findings("actionability", make_record(recommendation=recommendation)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"recommendation": f"Floats are bad for money{REST}"},
            "warning: the recommendation's first word is not a known verb",
        ),
        (
            {"recommendation": f"The amounts should be numeric{REST}"},
            "error: the recommendation does not start with a verb",
        ),
        ({"recommendation": f"Using numeric is better{REST}"}, "error: the recommendation does not start with a verb"),
        ({"recommendation": f"`numeric` is what to use{REST}"}, "error: the recommendation does not start with a verb"),
        ({"recommendation": f"Consider using numeric{REST}"}, "error: the recommendation only asks to consider"),
        ({"title": "The numeric type for money"}, "warning: the title does not start with a verb"),
        (
            {"verification_checks": ["Make sure it works correctly in all of the cases."]},
            "error: verification check 1 is vague",
        ),
        (
            {"verification_checks": ["Look at the amounts in the table for a while."]},
            "warning: verification check 1 does not say what to expect",
        ),
        (
            {"verification_checks": ["Look at the amounts in the table for a while."]},
            "error: no verification check names",
        ),
        (
            {"summary": "TODO: one or two sentences, the decision and what it protects."},
            "error: still to be written: summary",
        ),
    ],
)
def test_what_cannot_be_acted_on_is_held_against_the_record(changes, expected):
    """No verb, no step, no result to expect, or a skeleton that was never filled in."""
    assert expected in messages(findings("actionability", make_record(**changes)))


def test_an_unfilled_skeleton_cannot_be_waived():
    """There is no reason to serve a record that is not written yet."""
    record = make_record(pitfalls=["TODO: what goes wrong, and how it looks when it does."])
    assert [finding.waivable for finding in findings("actionability", record)] == [False]
