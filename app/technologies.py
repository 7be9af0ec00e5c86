"""Names of technologies: one canonical spelling each, the aliases people write, and what each is built on.

A caller names technologies freely ("reactjs", "Postgres", "k8s", "psycopg[binary]", "postgres:16"); records use
canonical names. Both sides are reduced to the same key here, so that a filter never fails on spelling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from app.technologytable import PACKAGES, TECHNOLOGIES

# Spellings whose numbers are not the technology's versions: of forks, clients, parts, and of names that are no name.
_COUNTED_APART = (
    "mariadb", "valkey", "opentofu", "buildkit", "Dockerfile", "asyncio", "zsh", "sh", "shell", "package-lock", "mock",
    "oidc", "OpenID Connect", "gql", "REST", "HTTP API", "REST API", "web api", "RESTful", "rtk", "redux toolkit",
    "react-redux", "@reduxjs/toolkit", "rtl", "react testing library", "user-event", "@testing-library/react",
    "@testing-library/dom", "@testing-library/user-event", "@testing-library/jest-dom", "mysql2", "mysqlclient",
    "pymysql", "pg8000", "ioredis", "@modelcontextprotocol/sdk", "tf2",
)  # fmt: skip

# Spellings that name a package of a registry as well: versions of this form are the package's.
_PACKAGE_VERSIONS = {
    name: re.compile(rf"[<>=~^!v\s]*(?:{versions})")
    for name, versions in {
        "docker": r"[0-7](?:\.|$)",
        "graphql": r"\d\d?(?:\.|$)",
        "kubernetes": r"(?:[2-9]|\d\d)(?:\.|$)",
        "mcp": r"\d(?:\.|$)",
        "mysql": r"[0-3](?:\.|$)",
        "pg": r"[0-8](?:\.|$)",
        "postgres": r"[0-3](?:\.|$)",
        "py": r"[01]\.",
        # Clients and server are numbered alike: what looks like a lockfile's or a manifest's is left open.
        "redis": r"[0-7]\.\d+\.\d+|(?<=[<>=~^])[0-7]",
    }.items()
}

# Shorthands for versions, by the technology that uses them.
_Spell = Callable[[re.Match[str]], str]
_SHORTHANDS: dict[str, tuple[re.Pattern[str], _Spell]] = {
    "ecmascript": (re.compile(r"([6-9]|1\d)"), lambda match: str(2009 + int(match[1]))),
    "java": (re.compile(r"1\.([5-8])(?:[._].*)?"), lambda match: match[1]),
    "python": (re.compile(r"([23])(\d{1,2})"), lambda match: f"{match[1]}.{match[2]}"),
}

# "js" is taken off longer names only: what is left of a shorter one would not be a name.
_SHORTEST_WITH_SUFFIX = 5
_PUNCTUATION = re.compile(r"[\s._\-/@]+")
_PLACE = re.compile(r"^(?:npm:(?=[@a-z])|docker\.io/|library/|/)+")
_RANGE_OF_NPM = re.compile(r"^npm:(?=[\dv^~<>=*])")
_EXTRAS = re.compile(r"\[[^\]]*\]")
_NUMBER = re.compile(r"(?<![\d.])\d")
_SEPARATORS = " \t@:/_=<>~^!(-.,"
_OPERATOR = re.compile(r"[<>=~^!]+(?=\s*v?$)")
# What may touch a name or follow it after a hyphen: more than a number makes it another name, as in "es6-promise".
_PLAIN = re.compile(r"[\d.]+(?:x|\+)?")
_NOTED = re.compile(
    r"(?P<name>[^@:]+?)\s*(?:\([^()]*\)|\b(?:version|ver|release|lts|latest|stable|current))+", re.IGNORECASE
)
_SPECIFIED = re.compile(r"(?P<name>@?[^@:]+?)\s*[@:](?!//)\s*(?P<version>.*)")
_FORK = re.compile(r"mariadb|valkey|tofu", re.IGNORECASE)


@dataclass(frozen=True)
class Named:
    """A technology as somebody named it.

    Attributes:
        key: its comparison key.
        spelling: the name as written, without what else was.
        version: the version written with the name, None without one or where it is another product's.
    """

    key: str
    spelling: str
    version: str | None = None


def technology_key(name: str) -> str:
    """Return the comparison key of a technology as anyone may write it.

    >>> technology_key("React.js") == technology_key("reactjs") == technology_key("React 18") == technology_key("React")
    True
    """
    return read_name(name).key


@lru_cache(maxsize=4096)
def read_name(text: str) -> Named:
    """Read a name that may carry a version: "Python 3.11", "postgres:16-alpine", "react@18.2.0", "psycopg2"."""
    bare = _EXTRAS.sub("", _PLACE.sub("", text.strip(" \t\r\n\"'`").rpartition("node_modules/")[2]))
    whole = _find(bare)
    numbered = [named for named in _numbered(bare) if whole in (None, named.key)]
    if numbered and _fold(bare) not in _apart():
        return numbered[-1]
    return Named(whole, bare) if whole else next(_by_form(bare), Named(_fold(bare), bare))


def version_under(name: str, version: str) -> str | None:
    """Return which version of the technology is meant by one given under this name, None when it cannot be told."""
    named = read_name(name)
    text = _RANGE_OF_NPM.sub("", version.strip())
    if not text:
        return named.version
    if text[0].isalpha() or text[0] == "@":
        other = read_name(text)
        if other.key in _names() or text.startswith("npm:"):
            return other.version if other.key == named.key else None
    return _own_version(named.key, named.spelling, text)


def canonical_name(name: str) -> str | None:
    """Return the canonical spelling of a known technology, or None for an unknown one."""
    return _names().get(technology_key(name))


def foundations(key: str) -> frozenset[str]:
    """Return the keys of everything the technology is built on, transitively, without itself."""
    return _foundations(key)


def known_key(name: str) -> str | None:
    """Return the key of a known technology as prose names it, or None for any other word."""
    key = _fold(name)
    return _aliases().get(key) or _aliases().get(_without_suffix(key))


def _find(name: str) -> str | None:
    return _packages().get(_fold(name)) or known_key(name)


def _numbered(text: str) -> Iterator[Named]:
    """Yield each known name that stands before a number, with the rest as its version."""
    for match in _NUMBER.finditer(text):
        before, version = text[: match.start()], text[match.start() :]
        if before[-1:] in ("v", "V") and not before[-2:-1].isalpha():
            before = before[:-1]
        name = before.rstrip(_SEPARATORS)
        between = before[len(name) :]
        key = _find(re.sub(r"\s(?:version|ver\.?|release)$", "", name, flags=re.IGNORECASE))
        # A lone "=" is a slip for "==", which the command line points out.
        if key and between != "=" and (between not in ("", "-", "_", ".") or _PLAIN.fullmatch(version)):
            yield _with_version(key, name, between, version)


def _with_version(key: str, name: str, between: str, rest: str) -> Named:
    operator = _OPERATOR.search(between)
    version = (operator[0] if operator else "") + (rest.rstrip(")") if "(" in between else rest)
    return Named(key, name, _own_version(key, name, version, image=":" in between))


def _by_form(text: str) -> Iterator[Named]:
    """Yield the known name in forms without a number: "node:lts-alpine", "react@latest", "Node.js (LTS)"."""
    if (match := _SPECIFIED.fullmatch(text)) and (key := _find(match["name"])):
        yield Named(key, match["name"], version_under(match["name"], match["version"]))
    if (match := _NOTED.fullmatch(text)) and (key := _find(match["name"])):
        yield Named(key, match["name"])


def _own_version(key: str, spelling: str, version: str, *, image: bool = False) -> str | None:
    """Return a version unless it is of something else: a fork, or a client that goes by the same name.

    An image is never a client's.
    """
    client = None if image else _PACKAGE_VERSIONS.get(spelling)
    if _fold(spelling) in _apart() or _FORK.search(version) or (client and client.match(version)):
        return None
    pattern, spell = _SHORTHANDS.get(key, (None, None))
    match = pattern.fullmatch(version) if pattern else None
    return spell(match) if match and spell else version


def _fold(name: str) -> str:
    return _PUNCTUATION.sub("", name.casefold())


def _without_suffix(key: str) -> str:
    """Drop the "js" that people add to names ("reactjs"), where the rest is long enough to be a name."""
    return key[:-2] if key.endswith("js") and len(key) >= _SHORTEST_WITH_SUFFIX else key


@cache
def _aliases() -> dict[str, str]:
    return {_fold(said): _fold(name) for name, (aliases, _) in TECHNOLOGIES.items() for said in (name, *aliases)}


@cache
def _packages() -> dict[str, str]:
    return {_fold(spelling): _fold(name) for name, spellings in PACKAGES.items() for spelling in spellings}


@cache
def _apart() -> frozenset[str]:
    return frozenset(map(_fold, _COUNTED_APART))


@cache
def _names() -> dict[str, str]:
    return {_fold(name): name for name in TECHNOLOGIES}


@cache
def _foundations(key: str) -> frozenset[str]:
    found: set[str] = set()
    ahead = [key]
    while ahead:
        name = _names().get(ahead.pop())
        # HTML and ARIA hold for each other.
        new = {_fold(base) for base in TECHNOLOGIES[name][1]} - found if name else set()
        found |= new
        ahead += new
    return frozenset(found - {key})
