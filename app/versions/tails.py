"""What follows a version's number: a prerelease, or the mark of a build, a package or an image of a release."""

from __future__ import annotations

import re
from contextlib import suppress

from packaging.version import InvalidVersion, Version

from app.versions.ranges import SEMANTIC, WHOLE, Scheme

# What the number may stand for: "" for the release itself, else a prerelease of it. None of them: cannot be read.
Forms = tuple[str, ...]

_RELEASED: Forms = ("",)
_UNREADABLE: Forms = ()
_SHAPE = re.compile(r"[-._~]?[0-9a-z][0-9a-z.~_-]*")
_UNSAFE = re.compile(r"[^0-9a-z.-]")
# Distributions, images, vendors' builds and the words for "released".
_BUILD = re.compile(
    r"""(?: final | ga | release | lts | stable | slim | alpine | bookworm | bullseye | buster | trixie | jammy | focal
    | noble | debian | ubuntu | ubi | rhel | el | fc | amzn | windows\w* | nanoserver | fpm | cli | apache | perl
    | management | jre | jdk | temurin | eclipse | corretto | eks | gke | aks | k3s | rke | ce | ee | pgdg | nodesource
    | dfsg | deb | post | sp | u | p | r )(?![a-z])""",
    re.VERBOSE,
)
_PRERELEASE = re.compile(
    r"""(?:^|[-._~])(?: alpha | beta | rc | cr | pre | preview | dev | devel | canary | next | nightly | snapshot
    | insiders? | experimental | milestone | unstable | ea )(?![a-z]) | ^[abcm][-.]?\d""",
    re.VERBOSE,
)
_REVISION = re.compile(r"\d+[.~]?[a-z]")
# "3.11-3.13" may be a range.
_SECOND_VERSION = re.compile(r"[-_.~]?\d+(?:\.\d+)+")


def read_tail(tail: str, components: int, scheme: Scheme) -> Forms:
    """Return what a number with this tail stands for.

    Args:
        tail: the rest of the version in lower case, with what separates it from the number.
        components: how many components the number has.
        scheme: whose prereleases are meant.
    """
    # Build metadata does not take part in the order, be it npm's, Go's +incompatible or a local version of PEP 440.
    mark = tail.partition("+")[0]
    if not mark:
        return _RELEASED
    if not _SHAPE.fullmatch(mark) or _SECOND_VERSION.fullmatch(mark):
        return _UNREADABLE
    word = _UNSAFE.sub("-", mark.lstrip("-._~"))
    if components >= WHOLE and (native := _native(mark, word, scheme)):
        return (native,)
    return _by_word(mark, word, components, scheme)


def _native(mark: str, word: str, scheme: Scheme) -> str:
    """Return the tail as the scheme itself orders it, where it has an order for it."""
    if scheme is Scheme.MAVEN:
        return "final" if word == "release" else word
    if scheme is Scheme.PEP440:
        with suppress(InvalidVersion):
            Version(f"1.0.0{mark}")
            return word
    return ""


def _by_word(mark: str, word: str, components: int, scheme: Scheme) -> Forms:
    if _BUILD.match(word):
        return _RELEASED
    if _PRERELEASE.search(word):
        return (word,)
    if _REVISION.match(word) and mark[0] in "-_":
        return _RELEASED
    if word.isdigit():
        return _by_number(mark, word, components, scheme)
    return _by_default(mark, word, components, scheme)


def _by_number(mark: str, word: str, components: int, scheme: Scheme) -> Forms:
    """Read "16.3-1": a package's revision; of a whole semantic version it may be a prerelease as well.

    "16-18" may be a range.
    """
    if components == 1 or mark[0] not in "-_":
        return _UNREADABLE
    return ("", word) if scheme in SEMANTIC and components >= WHOLE else _RELEASED


def _by_default(mark: str, word: str, components: int, scheme: Scheme) -> Forms:
    if components >= WHOLE and scheme in SEMANTIC and mark.startswith("-"):
        return (word,)
    # Letters that touch a short number ("18abc") leave open whether it is a version at all.
    return ("", word) if components >= WHOLE or mark[0] in "-_" else _UNREADABLE
