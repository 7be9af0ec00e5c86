"""Daily allowances: one committed write per admitted call, none for a caller who has used his up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from app.access.memory import Refusals
from app.access.pepper import PepperRing, keyed_hash
from app.errors import QuotaExhausted, Unavailable
from app.ports import AccessStore, Clock

# An owner may raise an allowance at any time; a refusal is not remembered for longer than this.
REFUSAL_SECONDS = 30
# Midnight may pass between reading a salt and using it, but not again and again.
_MOST_MIDNIGHTS = 3
_RETRY_SECONDS = 2


class DayIsOver(Exception):
    """A unit was to be counted in another day than the database's; nothing was taken."""


@dataclass(frozen=True)
class Charge:
    """A unit that was taken.

    Attributes:
        used: units taken today, this one included.
    """

    limit: int
    used: int

    @property
    def remaining(self) -> int:
        """Units left today."""
        return max(self.limit - self.used, 0)


class Quotas:
    """Takes units of daily allowances. The database's clock decides what a day is."""

    def __init__(self, store: AccessStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._renewals: Refusals[float] = Refusals()

    def take(self, subject: bytes, limit: int, day: date | None = None) -> Charge:
        """Take a unit; where a day is given, in that day only.

        Raises:
            DayIsOver: it is another day.
            QuotaExhausted: today's allowance is used up; `details` say when the next begins.
            Unavailable: the database does not answer in time.
        """
        now = self._clock.monotonic()
        renewal = self._renewals.get(subject, now)
        if renewal is not None:
            raise _exhausted(limit, renewal - now)
        taken = self._store.take(subject, limit, day)
        if day not in (None, taken.day):
            raise DayIsOver
        if not taken.admitted:
            now = self._clock.monotonic()
            self._renewals.add(subject, now + min(REFUSAL_SECONDS, taken.seconds_left), now + taken.seconds_left)
            raise _exhausted(limit, taken.seconds_left)
        return Charge(limit, taken.used)


class GuestQuotas:
    """Takes units for guests, who are known by a keyed hash of their address whose key dies with the day's salt."""

    def __init__(self, quotas: Quotas, store: AccessStore, peppers: PepperRing) -> None:
        self._quotas = quotas
        self._store = store
        self._peppers = peppers
        self._salt: tuple[date, bytes] | None = None

    def take(self, address: str, purpose: str, limit: int) -> Charge:
        """Take a unit of one purpose for an address. Raises as Quotas.take does, except that every day will do."""
        for _ in range(_MOST_MIDNIGHTS):
            # How old a salt is says nothing: this machine may have slept since, and the database's clock decides.
            day, salt = self._salt or self._read_salt()
            try:
                return self._quotas.take(self._subject(address, purpose, salt), limit, day)
            except DayIsOver:
                self._salt = None
        raise Unavailable("The day could not be settled.", details={"retry_after_seconds": _RETRY_SECONDS})

    def _subject(self, address: str, purpose: str, salt: bytes) -> bytes:
        return keyed_hash(self._peppers.subkey("address", salt=salt), f"{purpose}\0{address}")

    def _read_salt(self) -> tuple[date, bytes]:
        self._salt = read = self._store.daily_salt()
        return read


def _exhausted(limit: int, seconds_left: float) -> QuotaExhausted:
    return QuotaExhausted(
        "Today's allowance of tool calls is used up. It is renewed at 00:00 UTC.",
        details={"limit": limit, "retry_after_seconds": max(int(seconds_left), 1)},
    )
