"""Removes from feedback what must never be stored: credentials, personal data and invisible characters.

A tripwire, not a proof: the tool's description asks callers to send none of it. What is found is replaced by
`[redacted:kind]` before the text reaches any store or log.
"""

from __future__ import annotations

import ipaddress
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

MIN_SECRET_RUN = 32
# Bits per character. English runs near 4, random base64 near 6; hex cannot exceed 4 and is judged by its digits
# instead.
MIN_ENTROPY = 4.0

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private_key",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    ),
    ("api_key", re.compile(r"\bkb_(?:live|test)_[0-9A-Za-z_]{6,}")),
    ("api_key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    (
        "api_key",
        re.compile(
            r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|sk_live_|rk_live_|npm_|pypi-|AIza)[0-9A-Za-z_\-]{10,}"
        ),
    ),
    ("token", re.compile(r"\beyJ[0-9A-Za-z_\-]{8,}\.[0-9A-Za-z_\-]{8,}(?:\.[0-9A-Za-z_\-]*)?")),
    ("credentials", re.compile(r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@]+:[^\s/@]+@[^\s]*", re.IGNORECASE)),
    ("credentials", re.compile(r"\b(?:basic|bearer)\s+[0-9A-Za-z+/=_.\-]{12,}", re.IGNORECASE)),
    (
        "password",
        re.compile(
            r"""(?ix)\b((?:[a-z0-9]+[_-])*(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token|token))
            ["']?\s*(?:=|:\s*["']?(?=\S*[0-9!@\#$%^&*]))\s*["']?[^\s"',;]{4,}["']?"""
        ),
    ),
    ("email", re.compile(r"\b[\w.+\-]{1,64}@[\w\-]+(?:\.[\w\-]+)+\b")),
    ("phone", re.compile(r"(?<![\w.])\+\d{1,3}[\s().\-]*\d(?:[\s().\-]*\d){6,12}(?![\w.])")),
)
_ADDRESS = re.compile(
    r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7})(?![\w:]|\.\d)"
)
_RUN = re.compile(rf"[0-9A-Za-z+/=_\-]{{{MIN_SECRET_RUN},}}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_KEPT_CONTROLS = frozenset("\n\t")
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs"})


@dataclass(frozen=True)
class Scrubbed:
    """Text that may be kept, and how many pieces of each kind were taken out of it."""

    text: str
    redactions: Mapping[str, int] = field(default_factory=dict)


def scrub(text: str) -> Scrubbed:
    """Return the text without credentials, personal data and invisible characters."""
    counts: Counter[str] = Counter()
    visible = "".join(char for char in text if char in _KEPT_CONTROLS or unicodedata.category(char) not in _INVISIBLE)
    if len(visible) < len(text):
        counts["invisible"] = len(text) - len(visible)
    for kind, pattern in _PATTERNS:
        visible = pattern.sub(_redact(kind, counts), visible)
    visible = _ADDRESS.sub(_redact("address", counts, _is_address), visible)
    visible = _RUN.sub(_redact("secret", counts, _looks_random), visible)
    return Scrubbed(visible, dict(counts))


def _redact(
    kind: str, counts: Counter[str], is_meant: Callable[[str], bool] = lambda _: True
) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        if not is_meant(match[0]):
            return match[0]
        counts[kind] += 1
        return f"[redacted:{kind}]"

    return replace


def _is_address(text: str) -> bool:
    """Tell an address from a clock time or a version with three colons or dots; loopback says nothing about anyone."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def _looks_random(run: str) -> bool:
    """Tell a key or digest from a long identifier or path: hex with many digits, or high entropy in mixed classes."""
    if _HEX.fullmatch(run):
        return sum(char.isdigit() for char in run) >= len(run) // 5
    mixed = any(c.isdigit() for c in run) and any(c.islower() for c in run) and any(c.isupper() for c in run)
    return mixed and _entropy(run) > MIN_ENTROPY


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
