"""Removes from feedback what must never be stored: credentials, personal data and invisible characters.

A tripwire, not a proof: the tool's description asks callers to send none of it. What is found is replaced by
`[redacted:kind]` before the text reaches any store or log.
"""

from __future__ import annotations

import ipaddress
import itertools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

MIN_SECRET_RUN = 32
# A shorter run is a secret if capitals, small letters and digits alternate in it as in nothing that people write.
MIN_SHORT_RUN = 20
# Bits per character. English runs near 4, random base64 near 6; hex cannot exceed 4 and is judged by its digits
# instead.
MIN_ENTROPY = 4.0
MIN_SHORT_ENTROPY = 3.6

# What stands where a secret could, and is code that fetches one or says that there is none.
_CODE_OR_NOTHING = (
    r"(?!(?:none|null|nil|true|false|undefined|required|optional)\b|[a-z_]\w*\(|[a-z_]+(?:\.[a-z_]+)+(?![\w.])"
    r"|(?:process\.env|os\.environ|os\.getenv|import\.meta)\b|[$<{*]|\.\.\.)"
)
# `USER:PASSWORD@HOST`, `${USER}:${PASSWORD}@`, `user:<password>@`.
_NO_TEMPLATE = r"(?!(?:(?-i:[A-Z_]+)|<[^>\s]*>|\$?\{[^}\s]*\}|\$\w+|\*+|pass(?:word)?|secret)@)"
_VALUE = r"""(?:(?<=')[^'\n]{4,64}'|(?<=")[^"\n]{4,64}"|[^\s"',;]{4,}["']?)"""
_CREDENTIAL_NAMES = (
    r"(?:[a-z0-9]+[_-])*(?:[a-z]*password|[a-z]*passwd|pwd|passphrase|secret"
    r"|(?:api|access|account|private|secret|shared|signing|encryption|licen[cs]e)[_-]?key|auth[_-]?token|token)"
)
# Accounts of machines and stand-ins, in the place where a person's name would be.
_NOBODY = (
    r"(?!(?:runner(?:admin)?|node|app|appuser|user(?:name)?|you(?:rname)?|me|name|root|nonroot|admin|ubuntu|debian|vscode"
    r"|codespace|gitpod|circleci|travis|vsts|vagrant|jovyan|coder|git|www-data|linuxbrew|pi|ec2-user|work(?:space)?"
    r"|shared|public|default|all users|dev|foo|bar)[/\\])"
)
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
            r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk_live_|sk_test_|rk_live_|whsec_|shpat_|AIza|ya29\.)"
            r"[0-9A-Za-z_\-]{10,}"
        ),
    ),
    # These beginnings are also those of names: `sk-learn-contrib`, `npm_config_registry`, `pypi-publish`, `hf_hub`.
    ("api_key", re.compile(r"\b(?:sk-|pypi-|hf_|do[a-z]_v1_)(?=[\w\-]*\d)[0-9A-Za-z_\-]{16,}")),
    # A short word before a key in hex: `key-`, `dapi`.
    ("api_key", re.compile(r"\b(?!md5)[A-Za-z]{2,8}[\-_]?(?=[a-f]*\d)[0-9a-f]{32}\b")),
    # The number says whose it is, what follows proves it.
    ("api_key", re.compile(r"\b(?:\d{8,12}:|[\w\-]{8,16}:APA)[A-Za-z0-9][0-9A-Za-z_\-]{32,}")),
    ("api_key", re.compile(r"\bnpm_[0-9A-Za-z]{30,}")),
    ("api_key", re.compile(r"\bSG\.[0-9A-Za-z_\-]{16,}\.[0-9A-Za-z_\-]{16,}")),
    ("token", re.compile(r"\beyJ[0-9A-Za-z_\-]{8,}\.[0-9A-Za-z_\-]{8,}(?:\.[0-9A-Za-z_\-]*)?")),
    ("token", re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])\w{14,}\.(?:[a-z]+v\d\.)?(?=[\w\-]*\d)[\w\-]{40,}")),
    ("token", re.compile(r"\b(?=[\w\-]*\d)(?=[\w\-]*[A-Z])[\w\-]{20,}\.[\w\-]{6,}\.(?=[\w\-]*\d)[\w\-]{20,}")),
    # Whoever knows such an address may write to the channel behind it.
    (
        "webhook",
        re.compile(
            r"(?:(?<=hooks\.slack\.com/)|(?<=/api/webhooks/)|(?<=webhook\.office\.com/))(?=\S*\d)[^\s\"'`]{20,}"
        ),
    ),
    # A password that is given to a database's client without a blank; not `-p 5432` or `-p8080:80`.
    ("password", re.compile(r"(?<=\s-p)(?!\d+[:/])(?=\S*\d)(?=\S*[A-Za-z])[^\s\"'=]{6,}")),
    (
        "credentials",
        re.compile(r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@]*:" + _NO_TEMPLATE + r"[^\s/@]+@[^\s]*", re.IGNORECASE),
    ),
    # "Basic authentication" and "bearer authorization-header" are words.
    ("credentials", re.compile(r"\b(?i:basic|bearer)\s+(?=\S*(?:\d|=|[a-z][A-Z]))[0-9A-Za-z+/=_.\-]{12,}")),
    (
        "password",
        re.compile(
            rf"""(?i)\b{_CREDENTIAL_NAMES}["']?\s*(?:=|:\s*["']?(?=\S*[0-9!@\#$%^&*]))\s*["']?{_CODE_OR_NOTHING}{_VALUE}"""
        ),
    ),
    ("password", re.compile(r"(?i)\b(?:password|passphrase|pwd)\s+(?:is|was)\s+[\"'`]?(?=[a-z]\S*\d)[^\s\"'`,;]{6,}")),
    # Not `/home` of a web site, nor `/users` of its interface.
    (
        "user",
        re.compile(
            rf"(?i)(?:(?<=/home/)(?<![\w.\-]/home/)|(?<=/var/home/)|(?-i:(?<=/Users/))){_NOBODY}[\w.\-@]+(?=/)"
            rf"|(?:(?<=:[/\\]Users[/\\])|(?<=:\\\\Users\\\\)){_NOBODY}[^\s/\\:*?\"<>|$%{{][^/\\:*?\"<>|\n]{{0,40}}(?=[/\\])"
        ),
    ),
    # Not `react@18.2.0`, `icon@2x.png` or the user everybody clones as.
    (
        "email",
        re.compile(
            r"\b(?!git@git)[\w.+\-]{1,64}@[\w\-]+(?:\.[\w\-]+)*\.(?!(?:png|jpe?g|gif|svg|webp)\b)[^\W\d_][\w\-]+\b"
        ),
    ),
    ("phone", re.compile(r"(?<![\w.])\+\d{1,3}[\s().\-]*\d(?:[\s().\-]*\d){6,12}(?![\w.])")),
    # Area and exchange begin with 2 to 9 there.
    (
        "phone",
        re.compile(r"(?<![\w.\-])(?:\([2-9]\d{2}\)[ .\-]?|[2-9]\d{2}[.\-])[2-9]\d{2}[.\-]\d{4}(?![\w\-]|\.\d)"),
    ),
    # Numbers with blanks are anything, unless it is said what they are.
    (
        "phone",
        re.compile(
            r"(?i)\b(?:tele)?(?:phone|fax|mobile|cell|whatsapp|tel\.?)(?: number)?(?: is)?\s*[:=]?\s*"
            r"\(?\d(?:[\s().\-]{0,2}\d){8,12}(?![\w.])"
        ),
    ),
    ("address", re.compile(r"(?<![\w:\-])(?:[0-9A-Fa-f]{2}[:\-]){5}[0-9A-Fa-f]{2}(?![\w:\-])")),
    ("national_id", re.compile(r"(?<![\w\-])\d{3}-\d{2}-\d{4}(?![\w\-]|\.\d)")),
    # Three numbers with blanks between them are anything, unless it is said what they are.
    ("national_id", re.compile(r"(?i)\b(?:ssn|social security)\b[^\d\n]{0,20}\d{3} ?\d{2} ?\d{4}\b")),
)
_CARD = re.compile(r"(?<![\w.])(?<!\w-)(?:\d{13,19}|\d{4}(?:[ \u00a0\u2010-\u2013\-]\d{2,7}){2,4})(?!\w|[.\-]\d)")
# What cards begin with. Timestamps in milliseconds begin with 1, dates with 20.
_CARD_PREFIX = re.compile(r"2[2-7]|[3-6]")
_CARD_DIGITS = range(13, 20)
_PRERELEASE = r"-(?:alpha|beta|rc|dev|pre|snapshot)"
_ADDRESS = re.compile(
    rf"(?<![\w.:])(?:(?:::(?:[Ff]{{4}}:)?)?\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?!\w|\.\d|{_PRERELEASE})|"
    r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:]|\.\d))"
)
# Software with four numbers in its version; further versions may follow the first.
_VERSION_CONTEXT = re.compile(
    r"""(?ix)(?:
        \b(?:v|ver|versions?|release|build|tag|section|chapter|clause|sdk|driver|firmware|opset
        |chrome|chromium|edge|electron|nuget|assemblyversion|fileversion)\b[.:/]?
        | (?<![@\w.\-])(?!(?:root|admin|administrator|ubuntu|ec2-user|debian|centos|deploy|git|user|pi|me)@)
          (?:@?[a-z0-9_.\-]+/)?[a-z0-9_.\-]+@
        | (?<!\bip)(?<!addr)(?<!address)(?<!host)(?<!peer)(?<!\s)\s*==
    )
    \s*[("'`]?(?:[<>=~^!]+\s*)?
    (?:v?\d+(?:\.\d+){1,3}["'`]?\s*(?:,|/|-|or|and|to|through|until|before|->)\s*["'`]?v?)*$"""
)
_REMOTE_SHELL = re.compile(r"(?i)\b(?:ssh|scp|sftp|rsync|mosh)\b[^\n]*$")
_CONTEXT_CHARACTERS = 60
_IPV4 = 4
# A whole network, which is nobody's machine.
_NETWORK = re.compile(r"/\d{1,2}(?!\d)")
_SMALLEST_NETWORK = 24
_RUN = re.compile(rf"[0-9A-Za-z+/=_\-]{{{MIN_SHORT_RUN},}}")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_COMMIT = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])")
_DIGEST_CONTEXT = re.compile(
    r"(?i)\b(?:commits?|sha-?\d*|rev|revision|checksum|digest|md5|integrity|trace-?(?:parent|id)|etag(?:\W+W/)?)"
    r"[\s:=@\"'`(\-]*$"
)
_DIGEST = re.compile(r"(?i)^(?:sha-?\d*|md5)[\-=]")
_KEY_CONTEXT = re.compile(r"(?i)\b(?:key|private_key_id|token|secret|password|credential)s?\b\W*(?:is|was)?\W*$")
_PIECES = re.compile(r"[0-9A-Za-z]+")
# Of neighbouring characters in random base64, about half change between capitals, small letters and digits, the change
# from a capital to a small letter not counted. In names and paths few do.
MIN_CHANGES = 0.25
MIN_SHORT_CHANGES = 0.3
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
    visible = _CARD.sub(_redact("card", counts, _is_card), visible)
    visible = _ADDRESS.sub(_redact("address", counts, _is_address), visible)
    visible = _RUN.sub(_redact("secret", counts, _is_secret), visible)
    return Scrubbed(visible, dict(counts))


def _redact(
    kind: str, counts: Counter[str], is_meant: Callable[[re.Match[str]], bool] = lambda _: True
) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        if not is_meant(match):
            return match[0]
        counts[kind] += 1
        return f"[redacted:{kind}]"

    return replace


def _before(match: re.Match[str]) -> str:
    return match.string[max(match.start() - _CONTEXT_CHARACTERS, 0) : match.start()]


def _is_card(match: re.Match[str]) -> bool:
    """Tell a card number from another long number: its beginning and its check digit (Luhn)."""
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    checks = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    return len(digits) in _CARD_DIGITS and checks and _CARD_PREFIX.match(match[0]) is not None


def _is_address(match: re.Match[str]) -> bool:
    """Tell an address from a clock time or a version with three colons or dots; loopback says nothing about anyone."""
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return False
    if address.is_loopback or address.is_unspecified or _is_mask_or_network(match):
        return False
    before = _before(match)
    return address.version != _IPV4 or not _VERSION_CONTEXT.search(before) or bool(_REMOTE_SHELL.search(before))


def _is_mask_or_network(match: re.Match[str]) -> bool:
    """Tell a mask, and a network by the bits that are zero, from a machine."""
    suffix = _NETWORK.match(match.string, match.end())
    try:
        network = ipaddress.ip_network(match[0] + (suffix[0] if suffix else ""))
    except ValueError:
        return False
    return network.version == _IPV4 and (network.is_reserved or network.prefixlen <= _SMALLEST_NETWORK)


def _is_secret(match: re.Match[str]) -> bool:
    """Tell a key from a long identifier, a path, or what names a commit or a file's content."""
    before, run = _before(match), match[0]
    if _KEY_CONTEXT.search(before):
        return _looks_random(run, fewest_changes=0) or _holds_key(run)
    if _DIGEST_CONTEXT.search(before) or _DIGEST.match(run):
        return False
    rest = _COMMIT.sub("", run)
    return (len(rest) >= MIN_SECRET_RUN and _looks_random(rest)) or _holds_key(rest)


def _holds_key(run: str) -> bool:
    return any(_is_key(piece) for piece in _PIECES.findall(run))


def _is_key(piece: str) -> bool:
    """Tell whether letters and digits without a break are a key, whatever surrounds them."""
    if len(piece) >= MIN_SECRET_RUN:
        return _looks_random(piece)
    kinds = {_class(char) for char in piece}
    return (
        len(piece) >= MIN_SHORT_RUN
        and len(kinds) == len(("digit", "capital", "small"))
        and _entropy(piece) > MIN_SHORT_ENTROPY
        and _changes(piece) >= MIN_SHORT_CHANGES
    )


def _looks_random(run: str, fewest_changes: float = MIN_CHANGES) -> bool:
    """Tell whether a run is hex with many digits, or of mixed classes in which the characters often change."""
    if _HEX.fullmatch(run):
        return sum(char.isdigit() for char in run) >= len(run) // 5
    both_cases = any(c.islower() for c in run) and any(c.isupper() for c in run)
    # Letters of one case with separators are an identifier.
    mixed = any(c.isdigit() for c in run) and (both_cases or run.isalnum())
    return mixed and _entropy(run) > MIN_ENTROPY and _changes(run) >= fewest_changes


def _changes(run: str) -> float:
    """Return for what part of neighbouring letters and digits the class changes."""
    pairs = [pair for piece in _PIECES.findall(run) for pair in itertools.pairwise(piece)]
    changes = sum(_class(left) != _class(right) and not (left.isupper() and right.islower()) for left, right in pairs)
    return changes / max(len(pairs), 1)


def _class(char: str) -> str:
    return "digit" if char.isdigit() else "capital" if char.isupper() else "small"


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
