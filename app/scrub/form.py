"""A form in which something comes that is taken out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """Something that is taken out.

    Attributes:
        kind: what a reader is told it was.
        pattern: finds it; of a match that has a group `it`, only that goes.
        end: where it ends in a match, or None where it is something else after all.
    """

    kind: str
    pattern: re.Pattern[str]
    end: Callable[[re.Match[str]], int | None]

    def span(self, match: re.Match[str]) -> tuple[int, int] | None:
        """Return what to take out of a match, None for nothing."""
        end = self.end(match)
        return None if end is None else (match.start(_group(match)), end)


def _group(match: re.Match[str]) -> str | int:
    return "it" if "it" in match.re.groupindex else 0


def form(kind: str, pattern: str, is_meant: Callable[[re.Match[str]], bool] = lambda _: True) -> Form:
    """Return the form of a pattern, of whose matches those go that are meant."""
    return Form(kind, re.compile(pattern), lambda match: match.end(_group(match)) if is_meant(match) else None)
