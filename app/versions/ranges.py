"""Constraints as records state them: which releases are inside, by the libraries of each ecosystem.

A prerelease lies between the release before its own and its own: 19.0.0-rc.1 is inside ">=18" and outside both ">=19"
and "<19". npm leaves prereleases out when it chooses what to install; that says nothing about what is installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion as InvalidPep440
from packaging.version import Version
from semantic_version import NpmSpec
from semantic_version import Version as SemanticVersion
from semantic_version.base import Range
from univers.version_range import MavenVersionRange
from univers.versions import MavenVersion

# Larger than any component that is read; keeps the upper end of "16" inside 16.x.
CEILING = 999_999_999
# Components from which a version names one release.
WHOLE = 3

Release = tuple[int, ...]
# Whether a release, or a prerelease of it where one is named, is inside.
Contains = Callable[[Release, str], bool]
# The same of a version's text; None where the scheme has no such version.
_Matches = Callable[[str], bool | None]

_SPACE_AFTER_OPERATOR = re.compile(r"([<>=^~])\s+")
_V_BEFORE_NUMBER = re.compile(r"\bv(?=\d)")
_BRACKETED = re.compile(r"[\[(][^\[\]()]*[\])](?:\s*,\s*[\[(][^\[\]()]*[\])])*")


class Scheme(StrEnum):
    """The language a version constraint is written in."""

    PEP440 = "pep440"
    SEMVER = "semver"
    NPM = "npm"
    MAVEN = "maven"
    GO = "go"
    GENERIC = "generic"


# Versions are major.minor.patch, and what follows a hyphen is a prerelease.
SEMANTIC = frozenset({Scheme.NPM, Scheme.SEMVER, Scheme.GO})


class InvalidConstraint(ValueError):
    """A constraint is not written in the language of its scheme."""


@lru_cache(maxsize=4096)
def membership(constraint: str, scheme: Scheme) -> Contains:
    """Return the test for being inside a constraint.

    Raises:
        InvalidConstraint: it cannot be read in its scheme.
    """
    try:
        matches = _reader(scheme)(constraint)
        _contains(matches, (1, 0, 0), "")
    except Exception as error:  # The libraries raise errors of many kinds on text they cannot read.
        raise InvalidConstraint(f"not a {scheme} constraint") from error
    return lambda release, prerelease: _contains(matches, release, prerelease)


def padded(release: Release) -> Release:
    """Return the lowest release meant by one that may leave components out."""
    return (*release, 0, 0)[: max(WHOLE, len(release))]


def step_down(release: Release) -> Release:
    """Return the release just below; 0.0.0 itself has none."""
    for place in range(len(release) - 1, -1, -1):
        if release[place]:
            return (*release[:place], release[place] - 1, *(CEILING,) * (len(release) - place - 1))
    return release


def _contains(matches: _Matches, release: Release, prerelease: str) -> bool:
    text = _dotted(release)
    exact = matches(f"{text}-{prerelease}") if prerelease else None
    if exact is not None:
        return exact
    return bool(matches(text)) and (not prerelease or bool(matches(_dotted(step_down(release)))))


def _dotted(release: Release) -> str:
    return ".".join(map(str, release))


def _reader(scheme: Scheme) -> Callable[[str], _Matches]:
    if scheme in (Scheme.NPM, Scheme.SEMVER):
        return _npm
    return _maven if scheme is Scheme.MAVEN else _pep440


def _npm(constraint: str) -> _Matches:
    text = _SPACE_AFTER_OPERATOR.sub(r"\1", _V_BEFORE_NUMBER.sub("", " ".join(constraint.split())))
    alternatives = [_comparators(alternative) for alternative in text.split("||")]

    def matches(version: str) -> bool | None:
        point = _semantic(version)
        return any(all(one.match(point) for one in each) for each in alternatives) if point else None

    return matches


def _comparators(alternative: str) -> list[Range]:
    """Return what must hold together. The library's own way leaves prereleases out as npm does when it installs."""
    low, hyphen, high = alternative.partition(" - ")
    blocks = [f">={low.strip()}", f"<={high.strip()}"] if hyphen else alternative.split()
    if not blocks:
        raise ValueError(alternative)
    return [Range(one.operator, one.target) for block in blocks for one in NpmSpec.Parser.parse_simple(block)]


def _semantic(version: str) -> SemanticVersion | None:
    number, hyphen, prerelease = version.partition("-")
    try:
        return SemanticVersion(".".join(number.split(".")[:WHOLE]) + hyphen + prerelease)
    except ValueError:
        return None


def _maven(constraint: str) -> _Matches:
    # Without brackets Maven takes a version for a wish, which excludes nothing.
    if not _BRACKETED.fullmatch(constraint.strip()):
        raise ValueError(constraint)
    versions = MavenVersionRange.from_native(constraint)  # type: ignore[no-untyped-call]  # univers ships no types
    return lambda version: MavenVersion(version) in versions


def _pep440(constraint: str) -> _Matches:
    specifiers = SpecifierSet(constraint)
    if not list(specifiers):
        raise InvalidSpecifier(constraint)

    def matches(version: str) -> bool | None:
        try:
            return specifiers.contains(Version(version), prereleases=True)
        except InvalidPep440:
            return None

    return matches
