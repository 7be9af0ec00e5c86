"""version_scope: advice that depends on a version says so in a constraint that can be decided."""

from __future__ import annotations

import pytest

from app.record import AppliesTo
from review.ranges import overlap
from tests.gates.records import applies_to, findings, make_record, messages


def scoped(*entries: dict[str, object], **changes: object) -> dict[str, object]:
    """Return changes to a record about these technologies."""
    return {"applies_to": list(entries), **changes}


@pytest.mark.parametrize(
    "changes",
    [
        scoped(applies_to("PostgreSQL", ">=15", "generic")),
        scoped(applies_to("React", ">=16.8", "npm")),
        scoped(applies_to("SQLAlchemy", ">=2.0,<3", "pep440")),
        scoped(
            applies_to("PostgreSQL", ">=15", "generic"), pitfalls=["Since PostgreSQL 15 this is refused by the server."]
        ),
        scoped(applies_to("PostgreSQL"), exceptions=["PostgreSQL 15 or later has a clause for it."]),
        scoped(
            applies_to("TypeScript"),
            rationale="Since 5.4 parameters keep their narrowing as well, in functions made after the last assignment.",
            pitfalls=["Code written against 5.4 or later fails where 5.3 still compiles it."],
            exceptions=["TypeScript 5.4 or later, for a parameter: no copy is needed."],
        ),
        scoped(
            applies_to("asyncio"), pitfalls=["A bare task is lost where `asyncio.TaskGroup` (3.11+) would hold it."]
        ),
        scoped(applies_to("PostgreSQL"), pitfalls=["The clause (since 15.2) is refused by an older server."]),
        scoped(applies_to("PostgreSQL"), pitfalls=["Takes from 5 ms to 9 ms, since 3 of the rows are locked twice."]),
        scoped(applies_to("ECMAScript", ">=2022", "generic")),
    ],
)
def test_a_scope_that_can_be_decided_passes(changes):
    """A bounded technology may be spoken of by version; so may what an exception settles, and an aside's subject."""
    assert findings("version_scope", make_record(**changes)) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (scoped(applies_to("React", ">=18 <17", "npm")), "error: React: no version meets the constraint"),
        (scoped(applies_to("SQLAlchemy", ">=3,<2", "pep440")), "error: SQLAlchemy: no version meets"),
        (scoped(applies_to("SQLAlchemy", ">=0", "pep440")), "error: SQLAlchemy: every version meets"),
        (scoped(applies_to("PostgreSQL", ">=99999", "generic")), "error: PostgreSQL: no release has a number as large"),
        (scoped(applies_to("React", ">=16.8", "pep440")), "error: React: versions are not written in pep440"),
        (scoped(applies_to("FastAPI", ">=0.100", "npm")), "error: FastAPI: versions are not written in npm"),
        (
            scoped(applies_to("PostgreSQL"), pitfalls=["Since PostgreSQL 15 this is refused by the server."]),
            "warning: pitfalls 1 depends",
        ),
        (
            scoped(applies_to("PostgreSQL"), conditions=["PostgreSQL 15 or later is in use everywhere."]),
            "warning: conditions 1",
        ),
        (
            scoped(applies_to("PostgreSQL"), conditions=["The server is from version 14.2 and on a replica."]),
            "warning: conditions 1",
        ),
        (
            scoped(
                applies_to("PostgreSQL"),
                conditions=["PostgreSQL 15 or later is in use everywhere."],
                exceptions=["PostgreSQL 16 or later does it by itself, and tables of 15 rows need nothing."],
            ),
            "warning: conditions 1",
        ),
        (
            scoped(applies_to("PostgreSQL"), conditions=["The server (PostgreSQL 15 or later) is a primary."]),
            "warning: conditions 1",
        ),
        (scoped(applies_to("Python"), conditions=["Runs on Python 3.11+ and nothing older."]), "warning: conditions 1"),
    ],
)
def test_a_scope_that_cannot_be_decided_is_held_against_the_record(changes, expected):
    """Impossible or empty constraints, a foreign scheme, and versions that only the prose knows."""
    assert expected in messages(findings("version_scope", make_record(**changes)))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((">=16.8", "npm"), ("<16.8", "npm"), False),
        ((">=16.8", "npm"), ("<=16.8", "npm"), True),
        (("^17", "npm"), ("^18 || ^17.2", "npm"), True),
        ((">=2.0,<2.1", "pep440"), (">=2.1", "pep440"), False),
        ((">=2.0,<2.1", "pep440"), (None, None), True),
        (("[3.0,4.0)", "maven"), ("[4.0,5.0)", "maven"), False),
    ],
)
def test_version_ranges_overlap_when_one_version_meets_both(one, other, expected):
    """The ends of ranges are tried, open and closed."""
    entries = [
        AppliesTo.model_validate_json(
            f'{{"kind":"tool","name":"Redis","version_constraint":{_json(c)},"scheme":{_json(s)}}}'
        )
        for c, s in (one, other)
    ]
    assert overlap(*entries) is expected
    assert overlap(*reversed(entries)) is expected


def _json(text: str | None) -> str:
    return "null" if text is None else f'"{text}"'
