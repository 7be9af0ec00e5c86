"""Removes from feedback what must never be stored: credentials, personal data and invisible characters.

A tripwire, not a proof: the tool's description asks callers to send none of it. What is found is replaced by
`[redacted:kind]` before the text reaches any store or log.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.scrub.form import Form
from app.scrub.forms import FORMS

_KEPT_CONTROLS = frozenset("\n\t")
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs"})


@dataclass(frozen=True)
class Scrubbed:
    """Text that may be kept, and how many pieces of each kind were taken out of it."""

    text: str
    redactions: Mapping[str, int] = field(default_factory=dict)


def scrub(text: str) -> Scrubbed:
    """Return the text without credentials, personal data and invisible characters.

    Takes time in proportion to the text's length, whatever is in it.
    """
    counts: Counter[str] = Counter()
    shown = "".join(char for char in text if char in _KEPT_CONTROLS or unicodedata.category(char) not in _INVISIBLE)
    if len(shown) < len(text):
        counts["invisible"] = len(text) - len(shown)
    plain = _plain(shown)
    for form in FORMS:
        shown, plain, found = _take_out(form, shown, plain)
        counts[form.kind] += found
    return Scrubbed(shown, {kind: count for kind, count in counts.items() if count})


def _take_out(form: Form, shown: str, plain: str) -> tuple[str, str, int]:
    """Replace in both texts what is found in the plain one; return them and how much it was."""
    spans = [span for match in form.pattern.finditer(plain) if (span := form.span(match))]
    if not spans:
        return shown, plain, 0
    mark = f"[redacted:{form.kind}]"
    return _replaced(shown, spans, mark), _replaced(plain, spans, mark), len(spans)


def _replaced(text: str, spans: Sequence[tuple[int, int]], mark: str) -> str:
    begins = (0, *(end for _, end in spans))
    ends = (*(start for start, _ in spans), len(text))
    return mark.join(text[begin:end] for begin, end in zip(begins, ends, strict=True))


def _plain(text: str) -> str:
    """Return the text with its full-width and other variants of ASCII as ASCII, each in its place."""
    return text if text.isascii() else "".join(map(_ascii_of, text))


def _ascii_of(char: str) -> str:
    same = unicodedata.normalize("NFKC", char)
    return same if len(same) == 1 and same.isascii() else char
