"""Daily allowances: one committed write per admitted call, none for a caller who has used his up."""

from __future__ import annotations

from dataclasses import dataclass

from app.access.memory import Refusals
from app.access.pepper import PepperRing, keyed_hash
from app.errors import QuotaExhausted
from app.ports import AccessStore, Clock

DAY_SECONDS = 86_400
# An owner may raise an allowance at any time; a refusal is not remembered for longer than this.
REFUSAL_SECONDS = 30
# How far the answer's whole seconds and the way to the database may blur which side of midnight a moment was on.
MIDNIGHT_SLACK = 2.0


@dataclass(frozen=True)
class Charge:
    """A unit that was taken.

    Attributes:
        used: units taken today, this one included.
        day_age: seconds since the day that the unit was counted in began, by the database's clock.
    """

    limit: int
    used: int
    day_age: float

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

    def take(self, subject: bytes, limit: int) -> Charge:
        """Take a unit.

        Raises:
            QuotaExhausted: today's allowance is used up; `details` say when the next begins.
            Unavailable: the database does not answer in time.
        """
        now = self._clock.monotonic()
        renewal = self._renewals.get(subject, now)
        if renewal is not None:
            raise _exhausted(limit, renewal - now)
        taken = self._store.take(subject, limit)
        if not taken.admitted:
            now = self._clock.monotonic()
            self._renewals.add(subject, now + min(REFUSAL_SECONDS, taken.seconds_left), now + taken.seconds_left)
            raise _exhausted(limit, taken.seconds_left)
        return Charge(limit, taken.used, DAY_SECONDS - taken.seconds_left)


class GuestQuotas:
    """Takes units for guests, who are known by a keyed hash of their address whose key dies with the day's salt."""

    def __init__(self, quotas: Quotas, store: AccessStore, peppers: PepperRing, clock: Clock) -> None:
        self._quotas = quotas
        self._store = store
        self._peppers = peppers
        self._clock = clock
        self._salt: tuple[bytes, float] | None = None

    def take(self, address: str, purpose: str, limit: int) -> Charge:
        """Take a unit of one purpose for an address. Raises as Quotas.take does."""
        salt, read_at = self._salt or self._read_salt()
        charge = self._quotas.take(self._subject(address, purpose, salt), limit)
        # A salt read before the day began is yesterday's: the unit went to nobody's name of today. Take it again.
        if self._clock.monotonic() - read_at + MIDNIGHT_SLACK >= charge.day_age:
            today, _ = self._read_salt()
            if today != salt:
                charge = self._quotas.take(self._subject(address, purpose, today), limit)
        return charge

    def _subject(self, address: str, purpose: str, salt: bytes) -> bytes:
        return keyed_hash(self._peppers.subkey("address", salt=salt), f"{purpose}\0{address}")

    def _read_salt(self) -> tuple[bytes, float]:
        read_at = self._clock.monotonic()
        _, salt = self._store.daily_salt()
        self._salt = (salt, read_at)
        return self._salt


def _exhausted(limit: int, seconds_left: float) -> QuotaExhausted:
    return QuotaExhausted(
        "Today's allowance of tool calls is used up. It is renewed at 00:00 UTC.",
        details={"limit": limit, "retry_after_seconds": max(int(seconds_left), 1)},
    )
