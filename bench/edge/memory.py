"""Allowances in memory, exact and without a database, so that the edge alone is measured."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, date, datetime, timedelta

from app.ports import KeyRow, QuotaTake


class MemoryStore:
    """Implements `app.ports.AccessStore`. There are no keys."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: Counter[tuple[date, bytes]] = Counter()

    def find_key(self, key_id: str) -> KeyRow | None:
        """Return None: the key is unknown."""
        del key_id
        return None

    def rekey(self, key_id: str, old_pepper_id: str, mac: bytes, pepper_id: str) -> None:
        """Do nothing."""

    def touch_key(self, key_id: str) -> None:
        """Do nothing."""

    def daily_salt(self) -> tuple[date, bytes]:
        """Return today and a salt that is the same all day."""
        return datetime.now(UTC).date(), bytes(32)

    def forget_days(self) -> None:
        """Do nothing."""

    def take(self, subject: bytes, limit: int, day: date | None = None) -> QuotaTake:
        """Take a unit."""
        now = datetime.now(UTC)
        today = now.date()
        midnight = datetime.combine(today + timedelta(days=1), datetime.min.time(), UTC)
        seconds_left = int((midnight - now).total_seconds())
        with self._lock:
            used = self._used[today, subject]
            if used >= limit or day not in (None, today):
                return QuotaTake(admitted=False, used=used, seconds_left=seconds_left, day=today)
            self._used[today, subject] = used + 1
        return QuotaTake(admitted=True, used=used + 1, seconds_left=seconds_left, day=today)
