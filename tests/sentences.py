"""What a message for a person or an agent looks like, whatever it says."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[A-Z\"'`/].*[a-z].*\.", re.DOTALL)


def is_sentence(message: object) -> bool:
    """Tell whether a message is a sentence: it begins with a capital or a quoted name, and ends with a full stop."""
    return isinstance(message, str) and _SENTENCE.fullmatch(message) is not None


def is_advice(remedy: object) -> bool:
    """Tell whether a remedy is a clause that says what to do: in small letters, to follow a colon or semicolon."""
    return isinstance(remedy, str) and re.fullmatch(r"[a-z][^A-Z]*(?:[A-Z][a-z]+[^A-Z]*)*[^.XA-Z]", remedy) is not None
