"""The file that holds what is stored of the owner's passphrase: `CHATCTX_HOME/owner-passphrase`, one line of Argon2id.

What may not be trusted is refused and never taken for nothing: a file that others may read or replace, a link, or
something else in its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.errors import PassphraseError
from app.wholefile import replace_file

FILE = "owner-passphrase"
_DOMAIN = b"chatctx-owner-v1\0"
_ENCODED = re.compile(
    r"\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$[0-9A-Za-z+/]{22,86}\$[0-9A-Za-z+/]{43,86}", re.ASCII
)
# More than this is no hash of ours, and would keep the machine busy instead of failing: KiB, passes, lanes.
_MOST = (1 << 20, 20, 16)
_LONGEST = 1024
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, repr=False)
class Stored:
    """What is stored of a passphrase. It has no repr, so that no log can carry it by accident.

    Attributes:
        memory_kib, passes, lanes: the parameters it was hashed with.
    """

    encoded: str
    memory_kib: int
    passes: int
    lanes: int

    @property
    def fingerprint(self) -> str:
        """A hash of it, 64 hexadecimal digits, from which nobody can guess the passphrase: the salt is unknown."""
        return hashlib.sha256(_DOMAIN + self.encoded.encode("ascii")).hexdigest()


def parse_stored(encoded: str) -> Stored | None:
    """Read Argon2id's usual form, None when it is something else or asks for more work than is sensible."""
    match = _ENCODED.fullmatch(encoded)
    if match is None:
        return None
    costs = (int(match[1]), int(match[2]), int(match[3]))
    return Stored(encoded, *costs) if all(1 <= cost <= most for cost, most in zip(costs, _MOST, strict=True)) else None


def read_stored(home: Path, *, place: bool = False) -> Stored | None:
    """Return what is stored, None while nothing is.

    Args:
        place: look at the folder too although nothing is stored yet.

    Raises:
        PassphraseError: it cannot be read, others may read or replace it, or it is something else.
    """
    try:
        if place and home.exists():
            _refuse_open_folder(home)
        return _read(home / FILE)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PassphraseError(
            f"{home / FILE} cannot be read: {error.strerror}. If it is another person's, set CHATCTX_HOME to a folder "
            "of your own."
        ) from error


@contextmanager
def changing(home: Path) -> Iterator[None]:
    """Keep others from changing the file while the body does; make the folder. Raises OSError."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(home / f"{FILE}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_stored(home: Path, stored: Stored) -> None:
    """Write the file, for its owner alone. Raises OSError; nothing was changed then."""
    replace_file(home / FILE, f"{stored.encoded}\n".encode("ascii"), 0o600)


def _read(path: Path) -> Stored:
    # A link could lead to a file of somebody else's choice; a named pipe would be waited for without O_NONBLOCK.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise PassphraseError(f"{path} is not a regular file: restore it from a backup.")
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise PassphraseError(f"{path} has mode {stat.S_IMODE(mode):04o}, open to others: run `chmod 600 {path}`.")
        _refuse_open_folder(path.parent)
        stored = parse_stored(os.read(descriptor, _LONGEST).decode("ascii", "replace").removesuffix("\n"))
    finally:
        os.close(descriptor)
    if stored is None:
        raise PassphraseError(
            f"{path} does not hold what `chatctx owner set-passphrase` writes: restore it from a backup."
        )
    return stored


def _refuse_open_folder(folder: Path) -> None:
    """Where others may write to the folder they may put another file in the place of this one."""
    mode = folder.stat().st_mode
    if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
        raise PassphraseError(f"Others may write to {folder}, and replace the passphrase: run `chmod go-w {folder}`.")
