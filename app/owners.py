"""`records/owners.txt`: whose passphrases decide about these records.

A line is a fingerprint and a name. The fingerprint is a hash of what is stored of a passphrase, salt included, so that
it gives nothing away. It is kept with the records under version control, so that a home folder without a passphrase, or
with another one, is refused and not taken for one that needs none.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from app.errors import PassphraseError
from app.wholefile import replace_file

OWNERS = "owners.txt"
_HEADING = (
    "# Whose passphrases decide about these records: see docs/approving.md. One line each: fingerprint and name.\n"
)
_LINE = re.compile(r"([0-9a-f]{64})[ \t]+(\S.*)")
_LONGEST = 65_536
# What every file under version control has.
_MODE = 0o644


def read_owners(folder: Path) -> dict[str, str]:
    """Return the names by fingerprint; none where there is no such file. Raises PassphraseError when it is unusable."""
    try:
        return _parse(_content(folder))
    except OSError as error:
        raise PassphraseError(f"{OWNERS} beside the records cannot be read: {error.strerror}; mend that.") from error


def line_for(fingerprint: str, name: str) -> str:
    """Return the line that names an owner, without its end."""
    return f"{fingerprint} {' '.join(name.split()) if name.isprintable() and name.strip() else 'owner'}"


def add_owner(folder: Path, fingerprint: str, name: str) -> bool:
    """Add a line; False where that cannot be done, such as for a folder that is only to be read."""
    try:
        content = _content(folder) or _HEADING.encode()
        start = content if content.endswith(b"\n") else content + b"\n"
        replace_file(folder / OWNERS, start + f"{line_for(fingerprint, name)}\n".encode(), _MODE)
    except OSError:
        return False
    return True


def remove_owner(folder: Path, fingerprint: str) -> None:
    """Remove the lines with a fingerprint, as far as the file can be written."""
    with suppress(OSError):
        lines = _content(folder).splitlines(keepends=True)
        kept = [line for line in lines if not line.lstrip().startswith(fingerprint.encode())]
        replace_file(folder / OWNERS, b"".join(kept), _MODE)


def _content(folder: Path) -> bytes:
    """Return what the file holds, nothing where there is none. Raises OSError."""
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for its other end for ever.
        descriptor = os.open(folder / OWNERS, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_LONGEST)


def _parse(content: bytes) -> dict[str, str]:
    owners = {}
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise PassphraseError(
                f"{OWNERS} beside the records, line {number}, is not `FINGERPRINT NAME`: "
                "restore the file from version control."
            )
        owners[match[1]] = match[2]
    return owners
