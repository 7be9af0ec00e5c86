"""Locks between processes. The kernel drops them when a process dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import ClusterError

_PAUSE = 0.02
_ASKED = 3


@contextmanager
def exclusive(path: Path, *, patience: float) -> Iterator[None]:
    """Hold a lock file alone; whoever comes second waits.

    Raises:
        ClusterError: another process has held it for longer than `patience` seconds.
    """
    descriptor = _open(path)
    try:
        deadline = time.monotonic() + patience
        while not _try(descriptor, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"Another process has been starting or stopping PostgreSQL for {patience:.0f} seconds. "
                    f"See who holds {path}, end it, and try again."
                )
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)


class Hold:
    """A share in a lock file: as long as anybody has one, the server is in use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = _open(path)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def release(self) -> None:
        """Give the share back; a second call does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def is_held(path: Path) -> bool:
    """Tell whether anybody has a share in a lock file.

    Asking takes the lock for a moment, so that two who ask at once can each mistake the other for a holder: ask again.
    """
    if not path.exists():
        return False
    descriptor = _open(path)
    try:
        for _ in range(_ASKED):
            if _try(descriptor, fcntl.LOCK_EX):
                return False
            time.sleep(_PAUSE)
        return True
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
