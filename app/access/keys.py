"""API keys: how they look, how they are made, and how one is told from a typing error without asking the database.

`kb_live_<id12>_<secret43><crc6>` in base62. The id finds the stored row, the 256-bit secret is never stored, the
checksum lets scanners and this server refuse a mistyped key offline. `kb_test_` keys are for fixtures.
"""

from __future__ import annotations

import re
import secrets
import string
import zlib
from dataclasses import dataclass
from typing import Literal

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
ID_LENGTH = 12
# 62 ** 43 is just above 2 ** 256.
SECRET_LENGTH = 43
CHECKSUM_LENGTH = 6
# For secret scanners; the checksum weeds out what only looks like a key.
SCANNER_PATTERN = rf"\bkb_(live|test)_[0-9A-Za-z]{{{ID_LENGTH}}}_[0-9A-Za-z]{{{SECRET_LENGTH + CHECKSUM_LENGTH}}}\b"

_KEY = re.compile(
    rf"kb_(live|test)_([0-9A-Za-z]{{{ID_LENGTH}}})_[0-9A-Za-z]{{{SECRET_LENGTH + CHECKSUM_LENGTH}}}", re.ASCII
)

KeyKind = Literal["live", "test"]


@dataclass(frozen=True, repr=False)
class ApiKey:
    """A well-formed key whose checksum holds; whether it is valid only the store can tell.

    Attributes:
        text: the whole key. It has no repr, so that no traceback or log can carry it by accident.
    """

    kind: KeyKind
    key_id: str
    text: str


def mint_key(kind: KeyKind = "live") -> ApiKey:
    """Return a new random key."""
    key_id = _random(ID_LENGTH)
    body = f"kb_{kind}_{key_id}_{_random(SECRET_LENGTH)}"
    return ApiKey(kind, key_id, body + checksum(body))


def parse_key(text: str) -> ApiKey | None:
    """Return the key that the text is, None when its form or checksum is wrong."""
    match = _KEY.fullmatch(text)
    if match is None or checksum(text[:-CHECKSUM_LENGTH]) != text[-CHECKSUM_LENGTH:]:
        return None
    return ApiKey("live" if match[1] == "live" else "test", match[2], text)


def checksum(body: str) -> str:
    """Return the CRC-32 of the key's body in base62, six characters."""
    value = zlib.crc32(body.encode("ascii"))
    digits = []
    for _ in range(CHECKSUM_LENGTH):
        value, digit = divmod(value, len(BASE62))
        digits.append(BASE62[digit])
    return "".join(reversed(digits))


def _random(length: int) -> str:
    return "".join(secrets.choice(BASE62) for _ in range(length))
