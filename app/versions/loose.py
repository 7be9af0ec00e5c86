"""Versions as people, manifests and lockfiles write them: the releases that a text may stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from app.versions.ranges import CEILING, WHOLE, Release, Scheme, padded, step_down
from app.versions.tails import read_tail

MAX_VERSION_LENGTH = 100
# Of several versions together, as one technology may be named by several packages.
_MAX_TEXT_LENGTH = 2500

_ZERO: Release = (0, 0, 0)
_TOP: Release = (CEILING, CEILING, CEILING)

_OR = re.compile(r"\|\||(?<![<>=~^|])\s+or\s+")
_ELSEWHERE = re.compile(
    r"""(?: file | link | portal | patch | git | github | gitlab | bitbucket | gist | catalog | exec | https? | ssh
    | jsr | path | svn | hg )[:+] | [~.]{0,2}/ | .*(?: :// | \# | \.(?:tgz|gz|zip|whl|git|jar)$ )""",
    re.VERBOSE,
)
_ALIAS = re.compile(r"(?:workspace:|npm:)(?:@?[a-z][^@]*@)?")
_NOTE = re.compile(r"\([^()]*\)")
_HEDGE = re.compile(
    r"""\b(?: not | no | non | pre | post | before | below | under | until | till | older | less | than | since | after
    | above | over | newer | around | about | circa | almost | maybe | between | and | or | either | except | any | only
    | the | we | our | my | is | was | to | from | so | up | max | min | maximum | minimum | lt | gt | lte | gte
    | dropped | migrating | upgrading | alpha | beta | rc | candidate | milestone | canary | nightly | snapshot
    | preview | dev | experimental | insiders | build | commit | sha )\b""",
    re.VERBOSE,
)
# A name before the number: "postgres 15.4", "node:20", "git version 2.43".
_NAME = re.compile(r"[a-z@][^\d<>=~^*]{0,60}")
_ONLY = re.compile(r"\[\s*([\d.]+)\s*\]")
_INTERVAL = re.compile(r"([\[(])\s*([\d.]*)\s*,\s*([\d.]*)\s*([\])])")
_HYPHENATED = re.compile(r"(\S+)\s+-\s+(\S+)$")
_COMPARATOR = re.compile(
    r"""(?P<operator>\^|~=|~>|~|>=|<=|>|<|={1,3}|!=)?v?(?P<number>\d{1,8}(?:\.\d{1,8}){0,3})
        (?P<wildcard>(?:\.[x*])*)(?P<tail>(?!\.?\d).*)""",
    re.VERBOSE | re.ASCII,
)
# Said in other words what has a sign, and what follows a version without changing it.
_REWRITTEN = (
    (re.compile(r"\s*;.*"), ""),
    (re.compile(r"\s*\b(?:or|and)\s+(?:later|newer|above|higher|up|greater|onwards?)\b"), "+"),
    (re.compile(r"\bat least\s+"), ">="),
    (re.compile("\u2265"), ">="),
    (re.compile("\u2264"), "<="),
    (re.compile("[\u2013\u2014]"), "-"),
)
_DROPPED = (
    (re.compile(r"_(?=[a-z@]).*"), ""),
    (re.compile(r",?\s+build\s+\w+$|\s+[a-z]+/[a-z]\w*$"), ""),
    (re.compile(r"\s+for\s+(?:linux|win|mac|osx|debian)\w*\b.*|\s+on\s+(?:x86|aarch|arm|amd)\d+.*"), ""),
    (re.compile(r"\s+(?:lts|stable|ga|final|release|current)$"), ""),
    (re.compile(r"\s+(?=(?:alpha|beta|rc)\b)|(?<=alpha|.beta)\s+(?=\d)|(?<=\brc)\s+(?=\d)"), "-"),
    (re.compile(r"\bv="), "v"),
    (re.compile(r"([<>=~^!])\s+"), r"\1"),
    (re.compile(r"^(\d{4})-(\d\d)-(\d\d)$"), r"\1.\2.\3"),
)


@dataclass(frozen=True)
class Span:
    """Releases from `low` to `high`, both included.

    Attributes:
        prerelease: a prerelease of `low` that is meant too, empty for none.
        released: the releases themselves are meant, not only the prerelease.
    """

    low: Release
    high: Release
    prerelease: str = ""
    released: bool = True


@lru_cache(maxsize=4096)
def read_version(text: str, scheme: Scheme) -> tuple[Span, ...]:
    """Return what a version may stand for, empty when it cannot be told."""
    if len(text) > _MAX_TEXT_LENGTH:
        return ()
    spans = [_alternative(part, scheme) for part in _OR.split(_replace(text.lower(), _REWRITTEN))]
    return tuple(span for span in spans if span) if all(spans) else ()


def _replace(text: str, rules: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _alternative(part: str, scheme: Scheme) -> Span | None:
    text = part.strip(" \t\r\n'\"`")
    if len(text) > MAX_VERSION_LENGTH or not text.isascii() or _ELSEWHERE.match(text):
        return None
    tokens = _as_comparators(text) or _bare(text).replace(",", " ").split()
    spans = [_comparator(token, scheme) for token in tokens]
    return _intersection([span for span in spans if span]) if spans and all(spans) else None


def _as_comparators(text: str) -> list[str]:
    """Return the comparators of an interval as Maven writes it, none for anything else."""
    if one := _ONLY.fullmatch(text):
        return [f"=={one[1]}"]
    if match := _INTERVAL.fullmatch(text):
        opened, low, high, closed = match.groups()
        lower = [f"{'>=' if opened == '[' else '>'}{low}"] if low else []
        return [*lower, f"{'<=' if closed == ']' else '<'}{high}"] if high else lower
    return []


def _bare(text: str) -> str:
    """Return the version alone, without names, notes and marks; nothing when a word casts doubt on it."""
    text = _ALIAS.sub("", text, count=1)
    while (shorter := _NOTE.sub("", text)) != text:
        if any(_HEDGE.search(note) for note in _NOTE.findall(text)):
            return ""
        text = shorter
    text = _replace(text.strip(), _DROPPED)
    name = _NAME.match(text)
    if name and _HEDGE.search(name[0]):
        return ""
    return _HYPHENATED.sub(r">=\1 <=\2", text[name.end() :] if name else text)


def _comparator(token: str, scheme: Scheme) -> Span | None:
    match = _COMPARATOR.fullmatch(token)
    if match is None:
        return None
    release = tuple(int(part) for part in match["number"].split("."))
    if match["tail"] == "+":
        return Span(padded(release), _TOP)
    forms = read_tail(match["tail"], len(release), scheme)
    if not forms or (match["wildcard"] and forms != ("",)):
        return None
    prerelease = next((form for form in forms if form), "")
    low, high = _ends(match["operator"] or "", release, scheme, wildcard=bool(match["wildcard"]))
    return _span(match["operator"] or "", low, high, prerelease, released="" in forms)


def _span(operator: str, low: Release, high: Release, prerelease: str, *, released: bool) -> Span:
    if operator.startswith(("<", "!")):
        # Whatever the prerelease, its release is above it.
        return Span(low, high if released else min(high, step_down(high)))
    if operator.startswith("=") or not operator:
        return Span(low, high if released else low, prerelease, released)
    return Span(low, high, prerelease)


def _ends(operator: str, release: Release, scheme: Scheme, *, wildcard: bool) -> tuple[Release, Release]:
    """Return the lowest and the highest release meant.

    The operators are those of package.json, of requirements files, of Gemfiles and of Terraform.
    """
    low = padded(release)
    if operator in ("<", "<=", "!=", ">", ">="):
        return _half_open(operator, release, scheme)
    exact = len(release) >= WHOLE or (scheme is Scheme.PEP440 and operator.startswith("="))
    if (operator.startswith("=") or not operator) and exact and not wildcard:
        return low, low
    return low, _filled(release[: _kept(operator, release)])


def _half_open(operator: str, release: Release, scheme: Scheme) -> tuple[Release, Release]:
    if operator == ">":
        return _above(release, scheme), _TOP
    if operator == "<":
        return _ZERO, step_down(padded(release))
    return {">=": (padded(release), _TOP), "<=": (_ZERO, _filled(release)), "!=": (_ZERO, _TOP)}[operator]


def _above(release: Release, scheme: Scheme) -> Release:
    """Return the first release above: of a short one in npm the next it could be, else its first patch."""
    raised = release if scheme in (Scheme.NPM, Scheme.SEMVER) else padded(release)
    return padded((*raised[:-1], raised[-1] + 1))


def _kept(operator: str, release: Release) -> int:
    """Return how many components stay the same up to the highest version meant."""
    if operator == "^":
        return next((place for place, part in enumerate(release) if part), len(release) - 1) + 1
    if operator == "~":
        return min(2, len(release))
    return max(1, len(release) - 1) if operator in ("~=", "~>") else len(release)


def _filled(release: Release) -> Release:
    return (*release, *(CEILING,) * (WHOLE - len(release)))


def _intersection(spans: list[Span]) -> Span | None:
    highest = max(spans, key=lambda span: span.low)
    high = min(span.high for span in spans)
    if highest.low > high:
        return None
    return Span(highest.low, high, highest.prerelease, all(span.released for span in spans))
