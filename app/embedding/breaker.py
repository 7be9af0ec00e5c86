"""A circuit breaker as a value: every event returns the next state. No clock, no lock, no thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

FAILURES_TO_OPEN = 5
OPEN_SECONDS = 15.0


@dataclass(frozen=True)
class Breaker:
    """Whether a failing thing may be tried. The caller passes monotonic seconds and keeps the returned state.

    Attributes:
        failures: failures since the last success.
        opened_at: when it opened, None while it is closed.
        probe_at: when the one trial of a half-open breaker was let through, None without one.
    """

    failures: int = 0
    opened_at: float | None = None
    probe_at: float | None = None

    def state(self, now: float) -> Literal["closed", "open", "half_open"]:
        """Return `closed` (try), `open` (do not try) or `half_open` (one trial)."""
        if self.opened_at is None:
            return "closed"
        return "open" if now - self.opened_at < OPEN_SECONDS else "half_open"

    def admit(self, now: float) -> Breaker | None:
        """Return the state after letting one call through, or None when it must not be tried."""
        state = self.state(now)
        if state == "closed":
            return self
        if state == "open" or self._is_probing(now):
            return None
        return replace(self, probe_at=now)

    def succeeded(self) -> Breaker:
        """Return the state after a success: closed, with nothing held against it."""
        return Breaker()

    def failed(self, now: float) -> Breaker:
        """Return the state after a failure: open after the fifth in a row, and again after a failed trial."""
        failures = self.failures + 1
        if self.opened_at is not None:
            return self if self.probe_at is None else Breaker(failures, opened_at=now)
        return Breaker(failures, opened_at=now if failures >= FAILURES_TO_OPEN else None)

    def _is_probing(self, now: float) -> bool:
        # A trial whose outcome never came must not keep the breaker open for ever.
        return self.probe_at is not None and now - self.probe_at < OPEN_SECONDS
