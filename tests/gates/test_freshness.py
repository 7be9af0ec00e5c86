"""freshness: every source was read again within the last year (refused after eighteen months)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.gates.records import TODAY, findings, make_record, make_source, messages


def aged(days: int) -> dict[str, object]:
    """Return changes that make the only source this old."""
    return {"sources": [make_source(retrieved=str(TODAY - timedelta(days=days)))]}


@pytest.mark.parametrize("days", [-1, 0, 364, 365])
def test_a_source_read_within_the_year_passes(days):
    """A day ahead is another time zone."""
    assert findings("freshness", make_record(**aged(days))) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (aged(366), "warning: source 1: last read"),
        (aged(548), "warning: source 1: last read"),
        (aged(549), "error: source 1: last read"),
        (aged(-2), "error: source 1: `retrieved` lies in the future"),
        ({"updated": str(TODAY + timedelta(days=2))}, "error: `updated` lies in the future"),
    ],
)
def test_an_old_or_future_date_is_held_against_the_record(changes, expected):
    """The warning comes half a year before the refusal."""
    assert messages(findings("freshness", make_record(**changes))).startswith(expected)
