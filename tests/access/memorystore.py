"""The access store's promises kept in memory: exact under threads, with a clock that a test can move."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta

from app.access import NewKey
from app.errors import Unavailable
from app.ports import KeyRow, QuotaTake


class RealClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._monotonic = 1000.0

    def monotonic(self) -> float:
        return self._monotonic

    def now(self) -> datetime:
        return self._now

    def move(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds


class MemoryAccessStore:
    """An AccessStore. `down` makes every method raise Unavailable; `calls` counts what was asked."""

    def __init__(self, clock: MovableClock | RealClock | None = None) -> None:
        self._clock = clock or RealClock()
        self._lock = threading.Lock()
        self._used: Counter[tuple[date, bytes]] = Counter()
        self._salts: dict[date, bytes] = {}
        self.keys: dict[str, KeyRow] = {}
        self.touched: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.down = False

    def add_key(self, key: NewKey, daily_quota: int | None = None) -> None:
        self.keys[key.key_id] = KeyRow(key.key_id, key.mac, key.pepper_id, daily_quota, None)

    def revoke(self, key_id: str) -> None:
        row = self.keys[key_id]
        self.keys[key_id] = KeyRow(row.key_id, row.mac, row.pepper_id, row.daily_quota, self._clock.now())

    def find_key(self, key_id: str) -> KeyRow | None:
        self._count("find_key")
        return self.keys.get(key_id)

    def rekey(self, key_id: str, old_pepper_id: str, mac: bytes, pepper_id: str) -> None:
        self._count("rekey")
        row = self.keys[key_id]
        if row.pepper_id == old_pepper_id:
            self.keys[key_id] = KeyRow(key_id, mac, pepper_id, row.daily_quota, row.revoked_at)

    def touch_key(self, key_id: str) -> None:
        self._count("touch_key")
        self.touched[key_id] += 1

    def daily_salt(self) -> tuple[date, bytes]:
        self._count("daily_salt")
        with self._lock:
            today = self._clock.now().date()
            return today, self._salts.setdefault(today, secrets.token_bytes(32))

    def forget_days(self) -> None:
        self._count("forget_days")

    def take(self, subject: bytes, limit: int, day: date | None = None) -> QuotaTake:
        self._count("take")
        now = self._clock.now()
        today = now.date()
        midnight = datetime.combine(today + timedelta(days=1), datetime.min.time(), UTC)
        left = int((midnight - now).total_seconds())
        with self._lock:
            used = self._used[(today, subject)]
            if used < limit and day in (None, today):
                self._used[(today, subject)] = used = used + 1
                return QuotaTake(admitted=True, used=used, seconds_left=left, day=today)
        return QuotaTake(admitted=False, used=used, seconds_left=left, day=today)

    def _count(self, method: str) -> None:
        self.calls[method] += 1
        if self.down:
            raise Unavailable("The database cannot be reached just now. Try again.")
