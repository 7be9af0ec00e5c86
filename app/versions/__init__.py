"""Version constraints: does a version, as an agent may write it, satisfy what a record demands?

The range arithmetic is that of well-kept libraries (`ranges`). What is ours is the reading of loose versions (`loose`,
`tails`): "16" stands for every 16.x, "^18.2" for 18.2 up to 19, "node:20-alpine" and "v18.2" for their numbers,
and "latest" for nothing that can be decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

from app.versions.loose import MAX_VERSION_LENGTH, Span, read_version
from app.versions.ranges import InvalidConstraint, Release, Scheme, membership, padded, step_down

__all__ = [
    "MAX_VERSION_LENGTH",
    "InvalidConstraint",
    "Scheme",
    "Verdict",
    "check_constraint",
    "judge_version",
    "shown_version",
]

_NUMBERS = re.compile(r"\d+(?:\.\d+)*", re.ASCII)
_SHOWABLE = re.compile(r"[0-9vx.*^~<>=!|, -]+(?:(?:alpha|beta|rc|a|b|dev|canary|next)[0-9.]*)?")


class Verdict(StrEnum):
    """What is known about a version against a constraint."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


def check_constraint(constraint: str, scheme: Scheme) -> None:
    """Raise InvalidConstraint unless the constraint can be read in its scheme."""
    membership(constraint, scheme)


def judge_version(version: str, constraint: str, scheme: Scheme) -> Verdict:
    """Say whether every version that `version` may stand for satisfies the constraint.

    A version that names a release exactly gets a definite answer. One that stands for many ("16", "^18") is satisfied
    or violated only when all of them agree. What cannot be read ("latest", nonsense) is unknown, never an error.
    """
    try:
        contains = membership(constraint, scheme)
    except InvalidConstraint:
        return Verdict.UNKNOWN
    points = (point for span in read_version(version, scheme) for point in _deciding(span, constraint))
    answers = {contains(release, prerelease) for release, prerelease in points}
    if len(answers) != 1:
        return Verdict.UNKNOWN
    return Verdict.SATISFIED if answers.pop() else Verdict.VIOLATED


def shown_version(version: str) -> str | None:
    """Return a version as it may be repeated: as written when it is nothing else, otherwise its number."""
    if len(version) > MAX_VERSION_LENGTH:
        return None
    shown = _SHOWABLE.fullmatch(version) or _NUMBERS.search(version)
    return shown[0] if shown else None


def _deciding(span: Span, constraint: str) -> Iterator[tuple[Release, str]]:
    """Yield the points that decide: both ends, and each bound of the constraint between them with what is below it."""
    if span.prerelease:
        yield span.low, span.prerelease
    if span.released:
        points = [span.low, span.high, *(point for point in _bounds(constraint) if span.low <= point <= span.high)]
        yield from ((point, "") for point in dict.fromkeys(points))


@lru_cache(maxsize=4096)
def _bounds(constraint: str) -> tuple[Release, ...]:
    bounds = [padded(tuple(map(int, text.split(".")))) for text in _NUMBERS.findall(constraint)]
    return tuple(point for bound in bounds for point in (bound, step_down(bound)))
