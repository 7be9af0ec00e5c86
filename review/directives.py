"""What a recommendation tells one to do and what not to do, as sets of content words.

A reading of English by its markers, not understanding: "Use X, never Y" is one clause for X and one against Y. It
is meant to bring opposite advice to the owner's eyes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from app.lexical import analyse
from app.record import Record
from review.prose import sentences

_CLAUSE_END = re.compile(
    r"[,;:()]\s+|\.\s+|\s+-\s+|\s+(?=(?:instead of|rather than|never|but|and not|do not|don't|avoid)\b)"
    r"|\b(?:so that|because|where|when|if|unless|until|while)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:never|not|don't|doesn't|avoid|avoids|instead of|rather than|without|stop|no longer|forbid|refuse|disable"
    r"|remove|turn off|switch off)\b",
    re.IGNORECASE,
)
# Two "not"s make a "do": "never leave out", "do not disable".
_UNDONE = re.compile(r"\b(?:leave out|omit|skip|disable|turn off|switch off|remove|forget|drop)\b", re.IGNORECASE)
_PREFERENCE = re.compile(r"\b(?:prefer|choose|favou?r)\b(?P<wanted>.+?)\b(?:over|to)\b(?P<unwanted>.+)", re.IGNORECASE)
_GENERAL = frozenset(
    analyse("use prefer avoid write call set keep make enable disable add remove turn switch choose pass")
)


@dataclass(frozen=True)
class Directive:
    """One clause: for (`wanted`) or against what its words name."""

    wanted: bool
    words: frozenset[str]


@lru_cache(maxsize=4096)
def directives(record: Record) -> tuple[Directive, ...]:
    """Return the clauses of a record's title and recommendation."""
    found = [clause for text in (record.title, *sentences(record.recommendation)) for clause in _read(text)]
    return tuple(directive for directive in dict.fromkeys(found) if len(directive.words) >= 1)


def opposite(one: Record, other: Record, ignored: frozenset[str]) -> tuple[str, ...]:
    """Return the words of the nearest pair of clauses of which one asks for what the other forbids; empty for none.

    Args:
        ignored: words that say nothing here, such as the technology both records are about.
    """
    best: tuple[str, ...] = ()
    for first in directives(one):
        for second in directives(other):
            shared = _opposed_words(first, second, ignored)
            best = shared if len(shared) > len(best) else best
    return best


def _opposed_words(first: Directive, second: Directive, ignored: frozenset[str]) -> tuple[str, ...]:
    if first.wanted == second.wanted:
        return ()
    one, other = first.words - ignored, second.words - ignored
    shared = one & other
    # Nearly all of the shorter clause, and not a lone word out of a long one.
    close = (
        shared and len(shared) >= 0.75 * min(len(one), len(other)) and len(shared) >= 0.4 * max(len(one), len(other))
    )
    return tuple(sorted(shared)) if close else ()


def _read(text: str) -> Iterator[Directive]:
    preference = _PREFERENCE.search(text)
    if preference:
        yield Directive(wanted=True, words=_content(preference["wanted"]))
        yield Directive(wanted=False, words=_content(preference["unwanted"]))
        return
    for clause in _CLAUSE_END.split(text):
        if clause and clause.strip():
            against = len(_AGAINST.findall(clause))
            undone = bool(_UNDONE.search(clause)) and bool(
                re.search(r"\b(?:never|not|don't|avoid)\b", clause, re.IGNORECASE)
            )
            yield Directive(wanted=against == 0 or undone, words=_content(clause))


def _content(clause: str) -> frozenset[str]:
    return (
        frozenset(analyse(clause))
        - _GENERAL
        - frozenset(analyse("never avoid instead rather without stop longer forbid refuse"))
    )
