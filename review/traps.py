"""A trap is a family of dangerous text; this is how a text is searched for one, dressed up or not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Trap:
    """A family of dangerous text.

    Attributes:
        name: what a finding calls it.
        pattern: what gives it away.
        pardon: what in the clause before it turns it into a warning of the danger; None when nothing does.
    """

    name: str
    pattern: re.Pattern[str]
    pardon: re.Pattern[str] | None = None


_CLAUSE_END = re.compile(r"[.!?]\s|[;:\n]|,\s+(?:then|so)\s|\b(?:but|instead,|and then)\s")
# "Do not hesitate to", "no need to ask" and "not only" forbid nothing.
_NO_NEGATION = re.compile(
    r"\b(?:(?:do\s+not|don't|never|not)\s+(?:hesitate|worry|forget|fail|wait|stop|be\s+afraid|only|just)"
    r"|no\s+(?:need|matter|problem|longer|reason)|without\s+(?:delay|hesitation|further|asking|any))\b",
    re.IGNORECASE,
)
# Not across a comma: "when it does not work, run ..." forbids nothing either.
NEGATED = re.compile(
    r"\b(?:never|(?:do|does|must|should|may|can|could|will|would|and)\s+not|don't|doesn't|cannot|can't|mustn't|won't"
    r"|nobody|no\s+one|avoid\w*|refus\w+|forbid\w*|reject\w*|prevent\w*|den(?:y|ies)|instead\s+of|rather\s+than)\b"
    r"(?=[^,]*$)",
    re.IGNORECASE,
)
_LEET = str.maketrans("013457@$", "oieastas")
_MIXED_WORD = re.compile(r"(?<!\w)(?=[\w@$]*[a-z])(?=[\w@$]*[0-9@$])[\w@$]+", re.IGNORECASE)
_BLANKS = re.compile(r"\s{3,}")
_EMPHASIS = re.compile(r"[*`~\"'\u2018\u2019\u201c\u201d]|(?<!\w)_|_(?!\w)")
_SPACED = re.compile(r"(?<![^\W_])[^\W\d_](?:[ .*_|-]{1,3}[^\W\d_](?![^\W_])){7,}")


def trap(name: str, *alternatives: str, pardon: re.Pattern[str] | None = None) -> Trap:
    """Return a trap that any of some patterns gives away."""
    together = "|".join(f"(?:{alternative})" for alternative in alternatives)
    return Trap(name, re.compile(together, re.IGNORECASE | re.MULTILINE), pardon)


def caught(text: str, traps: Iterable[Trap]) -> Iterator[tuple[Trap, str]]:
    """Yield each trap that a text falls into, with the words that gave it away."""
    even = _even(text)
    for one in traps:
        found = first(even, one)
        if found:
            yield one, found


def caught_in_disguise(text: str, traps: Iterable[Trap]) -> Iterator[tuple[Trap, str]]:
    """Yield what `caught` yields, for the text as it stands, without its emphasis, and with figures read as letters."""
    plain = unicodedata.normalize("NFKC", _even(text))
    bare = _EMPHASIS.sub("", plain)
    read_aloud = _MIXED_WORD.sub(lambda word: word[0].translate(_LEET), bare)
    for one in traps:
        found = next(filter(None, (first(variant, one) for variant in dict.fromkeys((plain, bare, read_aloud)))), None)
        if found:
            yield one, found


def first(text: str, one: Trap) -> str | None:
    """Return the first words that give a trap away and are not pardoned."""
    for match in one.pattern.finditer(text):
        if one.pardon is None or not one.pardon.search(_clause_before(text, match.start())):
            return " ".join(match[0].split())[:60]
    return None


def spelled_apart(text: str) -> str | None:
    """Return a run of eight or more letters with gaps between them, which a reader joins and a pattern does not."""
    for match in _SPACED.finditer(text):
        letters = [letter for letter in match[0].lower() if letter.isalpha()]
        if letters != sorted(letters):
            return match[0][:60]
    return None


def _even(text: str) -> str:
    """Shorten runs of blanks, over which patterns would be slow."""
    return _BLANKS.sub(lambda run: ("  ", "\n ", "\n\n")[min(run[0].count("\n"), 2)], text)


def _clause_before(text: str, place: int) -> str:
    clause = _CLAUSE_END.split(text[max(0, place - 200) : place])[-1]
    return _NO_NEGATION.sub(" ", clause)
