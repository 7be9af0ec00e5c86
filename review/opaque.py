"""Runs of characters that a person who approves a record cannot read, in one piece or cut up."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Prose, and code that is written to be read, has a blank sooner; and no word has 45 letters.
LONGEST = 120
# Of the characters of a run that was cut up, this share stand in no word.
_SHARE = 0.75
_RULER = re.compile(r"(\W)\1{3,}|(?:[|:+]?-{3,}[|:+]?)+")
_UNBROKEN = re.compile(rf"\S{{{LONGEST},}}|[a-z]{{45,}}")
_JOINT = re.compile(r"^[\"'(,\[]+|[\"'),.;\]]+$")
_WORD = re.compile(r"[A-Za-z]?[a-z]+(?:['-][a-z]+)*|[A-Z]{2,}|[AaI]|[a-z]+(?:[A-Z][a-z]+)+|\w+(?:_\w+)+|\d{1,2}")
_PIECE = re.compile(r"(?=.*[\dA-Z+/=\\.-])[A-Za-z0-9+/=_:.\\&#;%-]+")
_MARKS = re.compile(r"[^\w]+")


def opaque_run(text: str) -> str | None:
    """Return the beginning of the first run that nobody can read, or None."""
    even = _RULER.sub(" ", text)
    unbroken = _UNBROKEN.search(even)
    if unbroken:
        return unbroken[0][:40]
    return next((run[:40] for run in _cut_up(even)), None)


def _cut_up(text: str) -> Iterator[str]:
    """Yield sequences of pieces that are mostly no words and together as long as a run in one piece."""
    run: list[tuple[str, bool]] = []
    for piece in (_JOINT.sub("", raw) for raw in text.split()):
        if not piece or (_MARKS.fullmatch(piece) and not re.fullmatch(r"[.-]+", piece)):
            continue
        is_cipher = (not _WORD.fullmatch(piece) and bool(_PIECE.fullmatch(piece))) or (
            piece.isdigit() and len(piece) > 1
        )
        if not is_cipher and len(run) > 1 and not run[-1][1] and not run[-2][1]:
            if _is_opaque(run):
                yield " ".join(piece for piece, _ in run)
            run = []
        run.append((piece, is_cipher))
    if _is_opaque(run):
        yield " ".join(piece for piece, _ in run)


def _is_opaque(run: list[tuple[str, bool]]) -> bool:
    """Tell by the characters: a word or two at its ends make a run no more legible."""
    characters = sum(len(piece) + 1 for piece, is_cipher in run if is_cipher)
    return characters >= LONGEST and characters >= _SHARE * sum(len(piece) + 1 for piece, _ in run)
