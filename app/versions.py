"""Version constraints: does a version, as an agent may write it, satisfy what a record demands?

The range arithmetic is `packaging` (PEP 440, dotted numbers) and `univers` (npm and Maven ranges). What is ours is
the reading of loose versions: "16" stands for every 16.x, "^18.2" for 18.2 up to 19, "v18.2" and "ES2022" for their
numbers, and "latest" for nothing that can be decided.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion as InvalidPep440
from packaging.version import Version
from univers.version_range import InvalidVersionRange, MavenVersionRange, NpmVersionRange
from univers.versions import InvalidVersion, MavenVersion, SemverVersion

MAX_VERSION_LENGTH = 80
# Larger than any component a real version has; keeps the upper end of "16" inside 16.x.
_CEILING = 999_999
# Components from which a version names one release.
_WHOLE = 3

_LOOSE = re.compile(
    r"""^\s*(?P<operator>\^|~=|~>|~|>=|==|=)?\s*
        (?:[A-Za-z]{1,12}[ _.-]?)?(?P<number>\d{1,6}(?:\.\d{1,6}){0,3})
        (?P<wildcard>(?:\.[xX*])+)?
        (?P<tail>[-+.]?[0-9A-Za-z][0-9A-Za-z.+-]*)?\s*$""",
    re.VERBOSE | re.ASCII,
)
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")

Contains = Callable[[str], bool]


class Scheme(StrEnum):
    """The language a version constraint is written in."""

    PEP440 = "pep440"
    SEMVER = "semver"
    NPM = "npm"
    MAVEN = "maven"
    GO = "go"
    GENERIC = "generic"


class Verdict(StrEnum):
    """What is known about a version against a constraint."""

    SATISFIED = "satisfied"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class InvalidConstraint(ValueError):
    """A constraint is not written in the language of its scheme."""


def check_constraint(constraint: str, scheme: Scheme) -> None:
    """Raise InvalidConstraint unless the constraint can be read in its scheme."""
    _membership(constraint, scheme)


def judge_version(version: str, constraint: str, scheme: Scheme) -> Verdict:
    """Say whether every version that `version` may stand for satisfies the constraint.

    A version that names a release exactly gets a definite answer. One that stands for many ("16", "^18") is satisfied
    or violated only when all of them agree. What cannot be read ("latest", nonsense) is unknown, never an error.
    """
    contains = _membership(constraint, scheme)
    ranges = version.split("||") if len(version) <= MAX_VERSION_LENGTH else []
    samples = [_sample(part, constraint) for part in ranges]
    answers = {_ask(contains, point) for points in samples for point in points}
    if not all(samples):
        return Verdict.UNKNOWN
    if answers == {True}:
        return Verdict.SATISFIED
    if answers == {False}:
        return Verdict.VIOLATED
    return Verdict.UNKNOWN


def _ask(contains: Contains, point: str) -> bool | None:
    try:
        return contains(point)
    except (InvalidPep440, InvalidVersion, ValueError):
        return None


@lru_cache(maxsize=4096)
def _membership(constraint: str, scheme: Scheme) -> Contains:
    try:
        if scheme in (Scheme.NPM, Scheme.SEMVER):
            return _npm(constraint)
        if scheme is Scheme.MAVEN:
            return _maven(constraint)
        return _pep440(constraint)
    except (InvalidSpecifier, InvalidVersionRange, InvalidVersion, ValueError, AttributeError, TypeError) as error:
        raise InvalidConstraint(f"not a {scheme} constraint") from error


def _npm(constraint: str) -> Contains:
    versions = NpmVersionRange.from_native(constraint)  # type: ignore[no-untyped-call]  # univers ships no types
    return lambda point: SemverVersion(point) in versions


def _maven(constraint: str) -> Contains:
    versions = MavenVersionRange.from_native(constraint)  # type: ignore[no-untyped-call]  # univers ships no types
    return lambda point: MavenVersion(point) in versions


def _pep440(constraint: str) -> Contains:
    specifiers = SpecifierSet(constraint)
    if not list(specifiers):
        raise InvalidSpecifier(constraint)
    return lambda point: specifiers.contains(Version(point), prereleases=True)


def _sample(version: str, constraint: str) -> tuple[str, ...]:
    """Return the points that decide: both ends of what the version stands for, and each bound between them."""
    match = _LOOSE.match(version) if len(version) <= MAX_VERSION_LENGTH else None
    if match is None or _is_bare_word(match):
        return ()
    number, tail = match["number"], match["tail"]
    if tail and not match["operator"]:
        return (number + tail,)
    low = [int(part) for part in number.split(".")]
    high = _upper_end(low, match["operator"])
    if match["operator"] in ("==", "=") or (len(low) >= _WHOLE and not match["operator"]):
        return (number,)
    return _between(low, high, constraint)


def _is_bare_word(match: re.Match[str]) -> bool:
    """Tell text such as "node 18 or so" from a version: nothing but the number may carry meaning."""
    return match["tail"] is not None and " " in match["tail"]


def _upper_end(low: list[int], operator: str | None) -> list[int]:
    """Return the highest version meant; the operators are those of package.json, requirements files and Gemfiles."""
    if operator == ">=":
        return [_CEILING, _CEILING, _CEILING]
    if operator == "^":
        kept = 1 if low[0] or len(low) == 1 else 2
    elif operator in ("~=", "~>"):
        kept = max(1, len(low) - 1)
    elif operator == "~":
        kept = min(2, len(low))
    else:
        kept = len(low)
    return (low[:kept] + [_CEILING] * 3)[: max(3, kept)]


def _between(low: list[int], high: list[int], constraint: str) -> tuple[str, ...]:
    bounds = [_pad([int(part) for part in text.split(".")]) for text in _NUMBERS.findall(constraint)]
    inner: list[list[int]] = []
    for bound in bounds:
        inner += [bound, _step_down(bound)]
    points = [_pad(low), *(point for point in inner if _pad(low) <= point <= high), high]
    return tuple(dict.fromkeys(".".join(map(str, point)) for point in points))


def _pad(parts: list[int]) -> list[int]:
    return [*parts, 0, 0][: max(3, len(parts))]


def _step_down(parts: list[int]) -> list[int]:
    """Return a version just below, so that both sides of an open bound are sampled."""
    for place in range(len(parts) - 1, -1, -1):
        if parts[place]:
            return [*parts[:place], parts[place] - 1, *([_CEILING] * (len(parts) - place - 1))]
    return parts
