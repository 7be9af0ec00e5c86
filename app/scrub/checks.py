"""Tells what a pattern of feedback found from what merely looks like it, by check digits, context and randomness."""

from __future__ import annotations

import ipaddress
import itertools
import math
import re
from collections import Counter

MIN_SECRET_RUN = 32
# A shorter run is a secret if capitals, small letters and digits alternate in it as in nothing that people write.
MIN_SHORT_RUN = 20
# Bits per character. English runs near 4, random base64 near 6; hex cannot exceed 4 and is judged by its digits
# instead.
MIN_ENTROPY = 4.0
MIN_SHORT_ENTROPY = 3.6

# What cards begin with. Timestamps in milliseconds begin with 1, dates with 20.
_CARD_PREFIX = re.compile(r"2[2-7]|[3-6]")
_CARD_DIGITS = range(13, 20)
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
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")
_COMMIT = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{40}(?![0-9A-Za-z])")
_DIGEST_CONTEXT = re.compile(
    r"(?i)\b(?:commits?|sha-?\d*|rev|revision|checksum|digest|md5|integrity|trace-?(?:parent|id)|etag(?:\W+W/)?)"
    r"[\s:=@\"'`(\-]*$"
)
# The last is how IPFS names content.
_DIGEST = re.compile(r"(?i)^(?:(?:sha-?\d*|md5)[\-=]|bafy[a-z2-7]{50})")
_KEY_CONTEXT = re.compile(r"(?i)\b(?:key|private_key_id|token|secret|password|credential)s?\b\W*(?:is|was)?\W*$")
_PIECES = re.compile(r"[0-9A-Za-z]+")
# Of neighbouring characters in random base64, about half change between capitals, small letters and digits, the change
# from a capital to a small letter not counted. In names and paths few do.
MIN_CHANGES = 0.25
MIN_SHORT_CHANGES = 0.3
# What a wallet's list of words does not have, and hardly a sentence lacks.
_NOT_OF_A_SEED = frozenset({"the", "and", "for", "that", "this", "with", "from", "you", "are", "not", "was", "has"})
_SEED_WORDS = 12
_COOKIE_ATTRIBUTES = frozenset({"samesite", "path", "domain", "max-age", "expires", "priority"})
_TELLING_COOKIE, _LONG_COOKIE = 6, 16
_MIN_IBAN, _MIN_IBAN_DIGITS = 15, 8
_IBAN_REMAINDER, _IBAN_MODULUS = 1, 97
# Of a web site that has its pages below `/home`; and what a folder holds that is everybody's.
_PAGE_OR_FILE = re.compile(
    r"(?i)^(?:dashboard|index|about|settings|profile|feed|news|page|details?|main|products?|search|login|users?)\b"
    r"|\.(?:txt|md|html?|json|ya?ml|toml|ini|cfg|env|csv|xml|log|py|[jt]sx?|sh|exe|zip|png|jpe?g)$"
)
_ROUTE_CONTEXT = re.compile(
    r"(?i)(?:\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|routes?|paths?|pages?|urls?|links?|endpoints?|navigate|redirect(?:s|ed)?"
    r"|navigates)\b\W*(?:to\b)?|\b(?:href|to|path|url|action)=)\W*/home/$"
)


def _before(match: re.Match[str]) -> str:
    return match.string[max(match.start() - _CONTEXT_CHARACTERS, 0) : match.start()]


def is_card(match: re.Match[str]) -> bool:
    """Tell a card number from another long number: its beginning and its check digit (Luhn)."""
    digits = [int(char) for char in match[0] if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    checks = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    return len(digits) in _CARD_DIGITS and checks and _CARD_PREFIX.match(match[0]) is not None


def iban_end(match: re.Match[str]) -> int | None:
    """Return where an account number ends, by its check digits; words may follow that look like more of it."""
    end = match.end()
    while end > match.start():
        number = re.sub(r"[ \-]", "", match.string[match.start() : end]).upper()
        if len(number) < _MIN_IBAN:
            return None
        if _is_iban(number):
            return end
        end = max(match.string.rfind(" ", match.start(), end), match.string.rfind("-", match.start(), end))
    return None


def _is_iban(number: str) -> bool:
    value = int("".join(str(int(char, 36)) for char in number[4:] + number[:4]))
    return value % _IBAN_MODULUS == _IBAN_REMAINDER and sum(map(str.isdigit, number)) >= _MIN_IBAN_DIGITS


def is_cookie(match: re.Match[str]) -> bool:
    """Tell a cookie that lets somebody in from one of an example, and from what says how long it is kept."""
    pairs = (pair.strip().partition("=") for pair in match["it"].split(";"))
    return any(_is_telling(value) and name.lower() not in _COOKIE_ATTRIBUTES for name, _, value in pairs)


def _is_telling(value: str) -> bool:
    fewest = _TELLING_COOKIE if any(char.isdigit() for char in value) else _LONG_COOKIE
    return len(value) >= fewest and value[0] not in "<{$*"


def is_seed_phrase(match: re.Match[str]) -> bool:
    """Tell a list of words from a sentence."""
    return not _NOT_OF_A_SEED & set(re.findall("[a-z]+", match["it"].lower())[:_SEED_WORDS])


def is_somebodys_folder(match: re.Match[str]) -> bool:
    """Tell a home folder from a page of a web site, which it can only be where nothing is below it."""
    if match.string.startswith(("/", "\\"), match.end()):
        return True
    return not _PAGE_OR_FILE.search(match[0]) and not _ROUTE_CONTEXT.search(_before(match))


def is_address(match: re.Match[str]) -> bool:
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


def is_secret(match: re.Match[str]) -> bool:
    """Tell a key from a long identifier, a path, or what names a commit or a file's content."""
    before, run = _before(match), match[0].removeprefix("0x")
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
