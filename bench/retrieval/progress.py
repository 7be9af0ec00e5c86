"""A line on standard error that tells how far long work is."""

from __future__ import annotations

import sys
import time

_BAR = 30


class Progress:
    """Draws over one line on a terminal, writes one every minute elsewhere, and none when there is nothing to do."""

    def __init__(self, label: str, total: int) -> None:
        """Start the clock.

        Args:
            label: what is being done.
            total: how much there is of it.
        """
        self._label, self._total, self._done = label, total, 0
        self._start = self._told = time.monotonic()

    def advance(self, count: int) -> None:
        """Note that `count` more are done."""
        self._done += count
        now = time.monotonic()
        if sys.stderr.isatty() or now - self._told > 60 or self._done == self._total:
            self._told = now
            self._draw(now - self._start)

    def close(self) -> None:
        """End the line."""
        if self._done and sys.stderr.isatty():
            sys.stderr.write("\n")

    def _draw(self, seconds: float) -> None:
        filled = _BAR * self._done // self._total
        left = seconds / self._done * (self._total - self._done)
        end, start = ("", "\r") if sys.stderr.isatty() else ("\n", "")
        bar = "#" * filled + "." * (_BAR - filled)
        sys.stderr.write(f"{start}{self._label} [{bar}] {self._done}/{self._total}, {left:.0f} s left {end}")
        sys.stderr.flush()
