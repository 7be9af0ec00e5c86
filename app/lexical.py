"""Words of technical English: one analyser for records and questions alike.

An identifier survives whole and is found by its parts too: `useEffect`, `If-None-Match`, `node.js`, `C++`,
`.cursorrules`, `snake_case`, `@media`, `k8s`. Plain words are stemmed (Snowball English), function words are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

from app.technologies import known_key

MAX_TERM_CHARACTERS = 64

_TOKEN = re.compile(
    r"""[@.]?\w+(?:[.\-_'\u2019]\w+)*(?:\+\+|\#)?   # an identifier with what joins its parts
    """,
    re.VERBOSE,
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_JOINT = re.compile(r"[.\-_'\u2019@+#]+")
_WORD = re.compile(r"[a-z]+")
_CONTRACTION = re.compile(r"(?:n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m))$")

# Spellings of technologies that are ordinary words: in running text they say nothing about a technology.
_AMBIGUOUS = frozenset(
    """
    aks android apache astro axe bicep bull bun bundler c caddy cargo cassandra chef compose composer dart diesel
    doctrine ecs elixir eloquent ember envoy enzyme es espresso express expressjs faraday flutter gin go graphite
    guzzle helm hibernate http httpd https hypothesis jasmine joi koa lit logging logs marshmallow maven mercurial
    mocha mock mongoose moq nest next node nomad parcel pg phoenix php poetry puppet puppeteer quartz remix requests
    rest rollup rq ruby scala selenium sequelize sh shell solid spring storybook subversion swift symfony tailwind
    tf tornado trio yarn yup
    """.split()  # noqa: SIM905 - a list of words is read as text
)
_STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being both but by can cannot
    could did do does doing done down each else ever every few for from further get gets getting got had has
    have having he her here hers him his how i if in into is it its itself just keep keeps let like made make
    makes many may me might more most much must my need needs no nor not now of off on once only or other our
    ours out over own per please same shall she should since so some still such than that the their theirs them
    then there these they this those through thus to too under until up upon us use used uses using very via
    want wants was way we were what when where whether which while who whom whose why will with within without
    would yes yet you your yours
    """.split()  # noqa: SIM905 - a list of words is read as text
)


def analyse(text: str) -> list[str]:
    """Return the terms of a text in order, repetitions kept. Deterministic; never raises on any string."""
    return [term for token in _tokens(text) for term in _terms(token)]


def query_terms(text: str) -> tuple[str, ...]:
    """Return the distinct terms of a question in the order they first occur."""
    return tuple(dict.fromkeys(analyse(text)))


def technologies_in(text: str) -> tuple[str, ...]:
    """Return the keys of the technologies a text names, in the order they first occur; ordinary words are not taken."""
    words = [_CONTRACTION.sub("", token.casefold()) for token in _tokens(text)]
    # "Spring Boot" and "SQL Server" are names of two words, and no word of them is ambiguous then.
    pairs = (known_key(f"{one} {two}") for one, two in pairwise(words))
    named = (_technology(word) for word in words)
    return tuple(dict.fromkeys(key for key in (*named, *pairs) if key))


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        token = match[0].strip("_'\u2019")
        if token:
            yield token


@lru_cache(maxsize=16_384)
def _terms(token: str) -> tuple[str, ...]:
    folded = _CONTRACTION.sub("", token.casefold())
    if len(folded) < len(token):
        token = token[: len(folded)]
    if folded in _STOP_WORDS or len(folded) > MAX_TERM_CHARACTERS:
        return ()
    technology = _technology(folded)
    if technology:
        return (technology,)
    parts = _parts(token)
    if len(parts) == 1 and folded == parts[0].casefold():
        return (_stem(folded),)
    words = [_stem(part.casefold()) for part in parts if _says_something(part)]
    return tuple(dict.fromkeys([folded, *words]))


def _parts(token: str) -> list[str]:
    return [
        part
        for chunk in _JOINT.split(token)
        if chunk
        for part in (_PART.findall(chunk) if _is_mixed(chunk) else [chunk])
    ]


def _says_something(part: str) -> bool:
    """Tell a part worth finding from a letter, a number or a function word cut out of an identifier."""
    return len(part) > 1 and not part.isdigit() and part.casefold() not in _STOP_WORDS


def _is_mixed(chunk: str) -> bool:
    """Tell camelCase and HTTPServer, which have parts, from words and from names such as `k8s` and `utf8`."""
    return not (chunk.islower() or chunk.isupper() or chunk.istitle()) or not chunk.isalnum()


def _technology(folded: str) -> str | None:
    return known_key(folded) if folded not in _AMBIGUOUS else None


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    return str(snowballstemmer.stemmer("english").stemWord(word)) if _WORD.fullmatch(word) else word
