"""Comments that hold what must not be kept, and comments that must be kept as they are, all made up.

They lie in `tests/acceptance`. `privacy_secrets.txt` holds one comment a line, `kind | comment`: what must be gone
stands between « and », ⏎ is a line end, and the bar ¦ is left out; it keeps secret scanners from taking made-up keys
for leaked ones. `privacy_unseen.txt` is like it, of forms that no pattern was written for: it says what to expect of
others, so nothing is fitted to it. `privacy_clean.txt` holds one technical comment a line, many of which look like
something private and are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "tests/acceptance"
# A piece this long of a key is worth something to whoever finds it.
TELLING_CHARACTERS = 8


@dataclass(frozen=True)
class Sample:
    """A comment, what kind of thing is hidden in it, and the parts that must be gone."""

    kind: str
    comment: str
    private: tuple[str, ...]

    def survives_in(self, kept: str) -> bool:
        """Tell whether a private part, or a telling piece of one, is still there."""
        return any(piece in kept for part in self.private for piece in _pieces(part))


def secret_samples() -> list[Sample]:
    """Return the comments with something private in them."""
    return [_sample(line) for line in _lines("privacy_secrets.txt")]


def unseen_samples() -> list[Sample]:
    """Return the comments with something private in them that nothing was fitted to."""
    return [_sample(line) for line in _lines("privacy_unseen.txt")]


def clean_comments() -> list[str]:
    """Return the comments without."""
    return _lines("privacy_clean.txt")


def _sample(line: str) -> Sample:
    kind, _, marked = line.replace("¦", "").replace("⏎", "\n").partition(" | ")
    private = tuple(re.findall("«([^»]*)»", marked))
    if not private:
        raise ValueError(f"nothing is marked as private: {kind}")
    return Sample(kind, re.sub("[«»]", "", marked), private)


def _pieces(part: str) -> list[str]:
    return [part[start : start + TELLING_CHARACTERS] for start in range(max(len(part) - TELLING_CHARACTERS, 0) + 1)]


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").splitlines()
