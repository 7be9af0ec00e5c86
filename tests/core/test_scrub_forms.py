"""No pattern of the scrubber takes time that grows faster than the text: each is held to forms that cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as opcode  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from app.scrub.form import Form
from app.scrub.forms import FORMS

REPEATS = (opcode.MAX_REPEAT, opcode.MIN_REPEAT, opcode.POSSESSIVE_REPEAT)
ASSERTIONS = (opcode.ASSERT, opcode.ASSERT_NOT)
# The longest that a cookie's value or a token's part can be and still be looked at.
MOST = 1024
# How far back a match is begun anew: repetitions of more than this are entered at one place of a run only.
SHORT = 128


def faults(pattern: str) -> list[str]:
    """Return what could make a pattern slow, in words."""
    return list(_faults(parser.parse(pattern), last=True, inside=False))


def _faults(items: Sequence[Any], *, last: bool, inside: bool) -> Iterator[str]:
    """Look at a sequence; `last`: nothing is asked after it; `inside`: of a repetition."""
    listed = list(items)
    for place, (kind, value) in enumerate(listed):
        ends = last and all(_may_be_nothing(item) for item in listed[place + 1 :])
        if kind in REPEATS:
            yield from _faults_of_repeat(kind, *value, ends=ends, inside=inside)
        for part in _parts(kind, value):
            yield from _faults(part, last=ends and kind not in ASSERTIONS, inside=inside)


def _faults_of_repeat(
    kind: Any, least: int, most: int, body: Sequence[Any], *, ends: bool, inside: bool
) -> Iterator[str]:
    varies = most != least
    if most == parser.MAXREPEAT:
        if not ends:
            yield "has no bound, and more is asked after it"
    elif most > MOST or (most > SHORT and kind is not opcode.POSSESSIVE_REPEAT):
        yield f"may be {most} long"
    if inside and varies and most > 1 and kind is not opcode.POSSESSIVE_REPEAT:
        yield "gives back inside of another"
    yield from _faults(body, last=ends, inside=inside or most > 1)


def _parts(kind: Any, value: Any) -> list[Any]:
    if kind is opcode.BRANCH:
        return list(value[1])
    if kind is opcode.SUBPATTERN:
        return [value[-1]]
    if kind in ASSERTIONS:
        return [value[1]]
    return []


def _may_be_nothing(item: Any) -> bool:
    kind, value = item
    return kind in REPEATS and value[0] == 0


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.kind)
def test_pattern_has_bounds(form: Form) -> None:
    assert faults(form.pattern.pattern) == []


@pytest.mark.parametrize(
    "slow",
    ["a*b", r"(?:[a-z0-9]+[_-])*password", "(?:a{1,9}){1,9}", "a{1,2000}b", "(?=a*b)a", r"(a|b*)c", "(?:(?:a+)?){3}"],
)
def test_slow_patterns_are_told(slow: str) -> None:
    """The check finds what it is for."""
    assert faults(slow)


@pytest.mark.parametrize(
    "quick", ["ab{20,}", "a{1,9}b", "(?:a{1,9}+,){1,9}b", "b(?:(?!c).)*c?", "a{3}(?:[a-z]{4}){2,7}"]
)
def test_quick_patterns_are_let_pass(quick: str) -> None:
    assert re.compile(quick)
    assert faults(quick) == []
