"""The pepper: the secret outside the database without which no stored hash can be checked or reversed.

One file holds a ring of peppers, newest first, one `<id> <hex>` a line; `#` starts a comment. Everything new uses the
first; keys hashed under an older one are moved to the first when they are next used, and a line that is removed ends
whatever still depended on it. Each purpose has its own subkey, so that a hash made for one can never stand for another.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.errors import SettingsError

MIN_BYTES = 32
# Nobody but the owner may write it and no stranger may read it; a group may: mounted secrets are read through one.
_FORBIDDEN_MODE = stat.S_IRWXO | stat.S_IWGRP | stat.S_IXGRP
_LINE = re.compile(r"([0-9A-Za-z_-]{1,32})\s+((?:[0-9A-Fa-f]{2})+)")


@dataclass(frozen=True, repr=False)
class PepperRing:
    """The peppers by id, newest first. It has no repr, so that no log can carry one by accident."""

    peppers: Mapping[str, bytes]

    @property
    def newest(self) -> str:
        """Id of the pepper that everything new is hashed under."""
        return next(iter(self.peppers))

    def subkey(self, purpose: str, *, salt: bytes = b"", pepper_id: str | None = None) -> bytes:
        """Return the 32-byte key for one purpose, of the newest pepper unless another is named."""
        return _subkey(self.peppers[pepper_id or self.newest], salt, purpose)

    def key_mac(self, key: str, pepper_id: str) -> bytes:
        """Return what is stored of an API key: 32 bytes that tell nothing about it without the pepper."""
        return keyed_hash(self.subkey("api key", pepper_id=pepper_id), key)


def keyed_hash(key: bytes, text: str) -> bytes:
    """Return HMAC-SHA256 of the text."""
    return hmac.digest(key, text.encode("utf-8"), "sha256")


def hkdf(secret: bytes, salt: bytes, info: bytes) -> bytes:
    """Return 32 bytes derived as RFC 5869 says, with SHA-256."""
    extracted = hmac.digest(salt or bytes(hashlib.sha256().digest_size), secret, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


# Small: one entry per purpose and pepper, and a few per day for the salted ones.
@lru_cache(maxsize=64)
def _subkey(pepper: bytes, salt: bytes, purpose: str) -> bytes:
    return hkdf(pepper, salt, f"chatctx {purpose}".encode())


def load_peppers(path: Path) -> PepperRing:
    """Read the pepper file; make it, readable by its owner alone, if it does not exist.

    Raises:
        SettingsError: the file is not a regular one, can be read by others, is too short, or is not a pepper file.
            Nothing of it is repeated.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for its writer for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            _refuse_unsuitable(path, os.fstat(file.fileno()).st_mode)
            return parse_peppers(file.read(65_536).decode("utf-8", "replace"), path)
    except FileNotFoundError:
        create_peppers(path)
        return load_peppers(path)
    except OSError as error:
        raise SettingsError(f"The pepper file {path} cannot be read: {error.strerror}.") from error


def parse_peppers(text: str, path: Path) -> PepperRing:
    """Return the ring that a pepper file's text describes."""
    ring: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.split("#", 1)[0].strip()
        if not stripped:
            continue
        match = _LINE.fullmatch(stripped)
        if match is None or match[1] in ring:
            raise SettingsError(f"{path}, line {number}: expected `<id> <hex>`, each id once.")
        ring[match[1]] = bytes.fromhex(match[2])
        if len(ring[match[1]]) < MIN_BYTES:
            raise SettingsError(f"{path}, line {number}: a pepper has at least {MIN_BYTES} bytes.")
    if not ring:
        raise SettingsError(
            f"{path} holds no pepper. Remove it to have one made; that ends every key that depends on it."
        )
    return PepperRing(ring)


def create_peppers(path: Path) -> None:
    """Write a file with one new pepper, unless another process has done so first."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pepper = f"p{secrets.token_hex(4)} {secrets.token_hex(MIN_BYTES)}"
    content = f"# Newest first. Losing this file ends every API key.\n{pepper}\n"
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode())
            file.flush()
            os.fsync(file.fileno())
        # A link appears whole or not at all, so a second process never reads half a pepper.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _refuse_unsuitable(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise SettingsError(f"The pepper file {path} cannot be read: it is not a regular file.")
    if mode & _FORBIDDEN_MODE:
        raise SettingsError(f"The pepper file {path} has mode {stat.S_IMODE(mode):04o}: run `chmod 600 {path}`.")
