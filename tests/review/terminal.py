"""A command as a process on a terminal of its own, with the screen that a person would see."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

import pyte

from tests.review.conftest import Bench


class Terminal:
    """The desk as a process on a terminal of its own."""

    def __init__(self, bench: Bench, *arguments: str, rows: int = 24, columns: int = 80, **environ: str) -> None:
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app.main", "review", *arguments],
            cwd=Path(__file__).parents[2], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**os.environ, **bench.environ, "TERM": "xterm-256color", "USER": "ada", "LOGNAME": "ada", **environ},
        )  # fmt: skip
        os.close(slave)
        self.seen = b""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        with suppress(OSError):
            os.close(self.master)

    def wait_for(self, words: str, seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < deadline, self.text[-2000:]
            self._read(0.1)

    def wait_until(self, true: Callable[[], bool], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, self.text[-2000:]
            self._read(0.1)

    def send(self, keys: str) -> None:
        for key in keys:
            os.write(self.master, key.encode())
            self._read(0.05)

    def end(self, by: int | None = None) -> int:
        if by is not None:
            self.process.send_signal(by)
        self.wait_until(lambda: self.process.poll() is not None)
        os.close(self.master)
        return int(self.process.returncode)

    @property
    def text(self) -> str:
        """What stands on the screen."""
        return "\n".join(self._screen.display)

    def _read(self, seconds: float) -> None:
        if select.select([self.master], [], [], seconds)[0]:
            with suppress(OSError):
                data = os.read(self.master, 65_536)
                self.seen += data
                self._stream.feed(data)
