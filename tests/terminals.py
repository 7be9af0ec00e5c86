"""A terminal of a command's own, on which a test answers what it asks, passphrases included."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

ROOT = Path(__file__).parents[1]


def converse(
    command: Sequence[str], environ: Mapping[str, str], *answers: tuple[str, str], seconds: float = 60
) -> tuple[int, str]:
    """Run a command on a terminal, give each answer when its question appears, and return exit code and output."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, cwd=ROOT, env={**os.environ, **environ},
        start_new_session=True, preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one call
    )  # fmt: skip
    os.close(follower)
    try:
        output = _talk(leader, answers, time.monotonic() + seconds)
        return process.wait(seconds), output
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def _talk(leader: int, answers: Sequence[tuple[str, str]], end: float) -> str:
    """Read until the command's end. A question counts only if it comes after the answer to the one before."""
    seen, place, left = "", 0, list(answers)
    # The kernel reports the other end's leaving as an error.
    with suppress(OSError):
        while block := _read(leader, end, seen):
            seen += block
            while left and (found := seen.find(left[0][0], place)) >= 0:
                place = found + len(left[0][0])
                os.write(leader, f"{left.pop(0)[1]}\n".encode())
    assert not left, f"never asked: {left[0][0]}\n{seen}"
    return seen.replace("\r\n", "\n")


def _read(leader: int, end: float, seen: str) -> str:
    ready, _, _ = select.select([leader], [], [], max(0.0, end - time.monotonic()))
    assert ready, f"nothing more came:\n{seen}"
    return os.read(leader, 65_536).decode("utf-8", "replace")
