"""What can be told about version constraints by trying the versions around their bounds."""

from __future__ import annotations

import re

from app.record import AppliesTo
from app.versions import Verdict, judge_version

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_BOUND = re.compile(r"([<>]=?)\s*v?(\d+(?:\.\d+)*)")
_FAR = 99_999


def is_satisfiable(entry: AppliesTo) -> bool:
    """Tell whether any version meets the constraint; one without a constraint is met by all."""
    alternatives = (entry.version_constraint or "").split("||")
    if all(_contradicts_itself(alternative) for alternative in alternatives):
        return False
    return any(_holds(point, entry) for point in _points(entry))


def excludes_something(entry: AppliesTo) -> bool:
    """Tell whether any version fails the constraint: one that all versions meet says nothing."""
    return entry.version_constraint is not None and not all(_holds(point, entry) for point in _points(entry))


def overlap(one: AppliesTo, other: AppliesTo) -> bool:
    """Tell whether some version of the technology meets both constraints."""
    return any(_holds(point, one) and _holds(point, other) for point in _points(one, other))


def _holds(point: str, entry: AppliesTo) -> bool:
    if entry.version_constraint is None or entry.scheme is None:
        return True
    return judge_version(point, entry.version_constraint, entry.scheme) is Verdict.SATISFIED


def _contradicts_itself(alternative: str) -> bool:
    """Tell `>=18 <17`: nothing lies above the one and below the other."""
    bounds = [(match[1], _parts(match[2])) for match in _BOUND.finditer(alternative)]
    lows = [(parts, operator == ">") for operator, parts in bounds if operator.startswith(">")]
    highs = [(parts, operator == "<") for operator, parts in bounds if operator.startswith("<")]
    if not lows or not highs:
        return False
    (low, above), (high, below) = max(lows), min(highs, key=lambda bound: (bound[0], not bound[1]))
    return low > high or (low == high and (above or below))


def _parts(text: str) -> tuple[int, ...]:
    return tuple(([int(part) for part in text.split(".")] + [0, 0, 0])[:3])


def _points(*entries: AppliesTo) -> list[str]:
    """Return exact versions at, just below and just above every bound, and both ends of the scale."""
    points = [(0, 0, 0), (0, 0, 1), (_FAR, 0, 0)]
    for entry in entries:
        for text in _NUMBER.findall(entry.version_constraint or ""):
            major, minor, patch = ([int(part) for part in text.split(".")] + [0, 0, 0])[:3]
            points += [(major, minor, patch), (major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0)]
            points.append(_just_below(major, minor, patch))
    return [f"{major}.{minor}.{patch}" for major, minor, patch in dict.fromkeys(points)]


def _just_below(major: int, minor: int, patch: int) -> tuple[int, int, int]:
    if patch:
        return major, minor, patch - 1
    if minor:
        return major, minor - 1, _FAR
    return max(major - 1, 0), _FAR, 0
