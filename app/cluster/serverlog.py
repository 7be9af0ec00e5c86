"""The server's log file: append-only, private, never larger than its cap for long."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import BinaryIO

_CAP = 8 * 1024**2
_SHOWN_LINES = 12
_SHOWN_BYTES = 8192


def open_log(path: Path) -> BinaryIO:
    """Open the log for the server to append to."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "ab")


def cap_log(path: Path, *, cap: int = _CAP) -> None:
    """Keep the log below its cap: what is there moves to one older file, which replaces the one before.

    The file is emptied and not renamed, because the running server keeps writing to it.
    """
    if not path.exists() or path.stat().st_size <= cap:
        return
    older = path.with_suffix(".log.1")
    shutil.copyfile(path, older)
    older.chmod(0o600)
    os.truncate(path, 0)


def tail(path: Path) -> str:
    """Return the last lines of the log."""
    if not path.exists():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _SHOWN_BYTES))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-_SHOWN_LINES:])
