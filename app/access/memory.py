"""A small memory with an end: what was refused a moment ago need not be asked of the database again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Fact = TypeVar("Fact")


class Refusals(Generic[Fact]):
    """Remembers for a while why each subject is refused.

    Bounded: the oldest entry gives way, and what is over is forgotten as others are asked for. Safe to use from many
    threads.
    """

    def __init__(self, capacity: int = 10_000) -> None:
        self._entries: OrderedDict[bytes, tuple[float, Fact]] = OrderedDict()
        self._capacity = capacity
        self._lock = Lock()

    def add(self, subject: bytes, until: float, fact: Fact) -> None:
        """Remember a fact about a subject until a moment of the monotonic clock."""
        with self._lock:
            self._entries[subject] = (until, fact)
            self._entries.move_to_end(subject)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)

    def get(self, subject: bytes, now: float) -> Fact | None:
        """Return what is remembered of a subject, None when its time is over."""
        with self._lock:
            self._forget_oldest(now)
            entry = self._entries.get(subject)
            if entry is None:
                return None
            if entry[0] <= now:
                del self._entries[subject]
                return None
            return entry[1]

    def __len__(self) -> int:
        return len(self._entries)

    def _forget_oldest(self, now: float) -> None:
        # Two, so that there are fewer even if each question adds one.
        for _ in range(2):
            oldest = next(iter(self._entries), None)
            if oldest is None or self._entries[oldest][0] > now:
                return
            del self._entries[oldest]
