"""conflicts: no two served records advise the opposite where both apply; references between records hold."""

from __future__ import annotations

import pytest

from review.gates import pair_key
from tests.gates.records import applies_to, findings, make_record, messages

FOR = {
    "slug": "use-array-index-keys",
    "title": "Use the array index as key of list rows",
    "recommendation": "Use the array index as key of list rows in React, for every dynamic list that is rendered.",
}
AGAINST = {
    "slug": "never-use-array-index-keys",
    "title": "Never use the array index as key of list rows",
    "recommendation": "Do not use the array index as key of list rows in React. Take a stable id of the data instead.",
}
REACT_OLD, REACT_NEW = applies_to("React", "<17", "npm"), applies_to("React", ">=17", "npm")


def pair(one: dict[str, object], other: dict[str, object]) -> tuple[object, object]:
    """Return the record for and the record against, each with changes."""
    scope = {"applies_to": [applies_to("React")]}
    return make_record(**{**FOR, **scope, **one}), make_record(**{**AGAINST, **scope, **other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"applies_to": [REACT_OLD]}, {"applies_to": [REACT_NEW]}),
        ({"applies_to": [applies_to("Vue")]}, {}),
        ({"supersedes": [AGAINST["slug"]]}, {}),
        ({}, {"supersedes": [FOR["slug"]]}),
        ({"conflicts_with": [AGAINST["slug"]]}, {"conflicts_with": [FOR["slug"]]}),
        ({}, {"title": FOR["title"], "recommendation": FOR["recommendation"]}),
    ],
    ids=["versions apart", "technologies apart", "superseding", "superseded", "named by both", "same advice"],
)
def test_opposite_advice_that_cannot_meet_or_is_settled_passes(one, other):
    """Apart in version or technology, or settled by supersedes or by conflicts_with on both sides."""
    assert findings("conflicts", *pair(one, other)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"applies_to": [applies_to("React", ">=16.8", "npm")]}, {"applies_to": [REACT_NEW]}),
        ({"applies_to": []}, {}),
        ({"applies_to": [applies_to("JavaScript")]}, {}),
        ({"title": "Prefer the array index as key of list rows over a stable id"}, {}),
        (
            {},
            {
                "title": "Key list rows by a stable id",
                "recommendation": "Take a stable id instead of the array index as key of list rows.",
            },
        ),
    ],
    ids=["same technology", "overlapping versions", "agnostic", "built on it", "prefer over", "instead of"],
)
def test_opposite_advice_where_both_apply_is_refused(one, other):
    """Same or built-on technology with overlapping versions, whatever way the negation is put."""
    record, against = pair(one, other)
    assert f"error: advises the opposite of {against.slug}" in messages(findings("conflicts", record, against))
    assert f"error: advises the opposite of {record.slug}" in messages(findings("conflicts", against, record))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"supersedes": ["gone-record"]}, {}, "error: supersedes gone-record, which does not exist"),
        ({"conflicts_with": ["gone-record"]}, {}, "error: conflicts_with names gone-record, which does not exist"),
        ({"conflicts_with": [AGAINST["slug"]]}, {}, "which does not name it back"),
        ({}, {"conflicts_with": [FOR["slug"]]}, "names it in conflicts_with, but not the reverse"),
        ({"supersedes": [AGAINST["slug"]]}, {"supersedes": [FOR["slug"]]}, "which supersedes it in turn"),
    ],
)
def test_a_reference_that_does_not_hold_is_refused(one, other, expected):
    """Dangling, one-sided and circular references."""
    assert expected in messages(findings("conflicts", *pair(one, other)))


def test_nearness_in_meaning_brings_two_records_together_where_words_do_not():
    """Records on one subject in other words are compared when the embeddings say that they are near."""
    record = make_record(
        slug="enable-autocommit",
        title="Enable autocommit",
        applies_to=[],
        summary="Leave every statement on its own, whatever else the program may do.",
        recommendation="Enable autocommit. Then every statement stands alone and no lock outlives it by accident.",
    )
    other = make_record(
        slug="disable-autocommit",
        title="Disable autocommit",
        applies_to=[],
        summary="Group what belongs together, so that half of it is never seen by others.",
        recommendation="Never leave a pair of writes apart: begin a transaction, write both, and end it afterwards.",
    )
    assert findings("conflicts", record, other) == []
    found = findings("conflicts", record, other, similarity={pair_key(record.slug, other.slug): 0.8})
    assert "may advise the opposite of disable-autocommit (autocommit)" in messages(found)
