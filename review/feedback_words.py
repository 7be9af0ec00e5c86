"""Which comments say the same: compared by their words, the same every time, without a model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from app.lexical import analyse

# Share of telling words, and pairs of these, that two comments have in common from which they say the same. "The link
# to A is dead" and "the link to B is dead" stay below it.
ALIKE = 0.5
# Groups that a word or pair leads to, and groups that are compared, at most: comments made of the same few words must
# not cost a day.
_LED_TO = 50
_COMPARED = 20
_WORD = re.compile(r"\w+(?:[.\-]\w+)*")
_NOT = re.compile(r"n['\u2019]t\b")
_NEGATIONS = frozenset({"not", "no", "never", "none", "nothing", "without", "cannot"})

_Shingles = frozenset[str]


def gather(comments: Sequence[str]) -> list[list[int]]:
    """Return the places of comments that say the same, in groups, each led by its first.

    A comment joins the group whose first comment is most like it. What differs in a number or a negation is never
    alike: "works with 18" is not "works with 19", nor "does not work with 18". How many groups are looked at is
    bounded: where thousands of comments are made of the same few words, a likeness may be missed.
    """
    shingled = [_shingles(analyse(comment) or _words(comment)) for comment in comments]
    claims = [_claims(comment) for comment in comments]
    rarity = Counter(shingle for shingles in shingled for shingle in shingles)
    groups: list[list[int]] = []
    leads: defaultdict[tuple[object, str], list[int]] = defaultdict(list)
    for place, shingles in enumerate(shingled):
        telling = [(claims[place], shingle) for shingle in _telling(shingles, rarity)]
        near = Counter(group for key in telling for group in leads[key])
        likeness = {group: _likeness(shingles, shingled[groups[group][0]]) for group in _nearest(near)}
        best = max(likeness, key=lambda group: (likeness[group], -group), default=None)
        if best is not None and likeness[best] >= ALIKE:
            groups[best].append(place)
            continue
        for key in telling:
            if len(leads[key]) < _LED_TO:
                leads[key].append(len(groups))
        groups.append([place])
    return groups


def _nearest(near: Counter[int]) -> list[int]:
    return sorted(near, key=lambda group: (-near[group], group))[:_COMPARED]


def _words(comment: str) -> list[str]:
    return _WORD.findall(_NOT.sub(" not", comment.casefold()))


def _shingles(words: Sequence[str]) -> _Shingles:
    return frozenset((*words, *(f"{one} {other}" for one, other in pairwise(words)))) or frozenset({""})


def _claims(comment: str) -> tuple[int, tuple[str, ...]]:
    """Return what may not differ: how much is denied, and the numbers."""
    words = _words(comment)
    numbers = sorted(word for word in words if any(character.isdigit() for character in word))
    return sum(word in _NEGATIONS for word in words), tuple(numbers)


def _telling(shingles: _Shingles, rarity: Counter[str]) -> Iterable[str]:
    """Return the rarest half, and one more: two comments that are alike have one of these in common."""
    return sorted(shingles, key=lambda shingle: (rarity[shingle], shingle))[: len(shingles) // 2 + 1]


def _likeness(one: _Shingles, other: _Shingles) -> float:
    return len(one & other) / len(one | other)
