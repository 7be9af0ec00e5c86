"""Allowances as they ought to be, in a few lines, and a machine that compares them with the database at every step."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import text

from app.access import Access, Caller, PepperRing
from app.access.quota import REFUSAL_SECONDS
from app.errors import QuotaExhausted
from app.settings import Settings
from app.store.access import KEEP_DAYS, KeyRing, PostgresAccessStore
from tests.acceptance.quota_clock import DatabaseClock, tomorrow
from tests.acceptance.quota_counters import Counters
from tests.access.memorystore import MovableClock
from tests.databases import Database

BEGIN = datetime(2026, 11, 30, 12, tzinfo=UTC)
PEPPERS = PepperRing({"p1": bytes(range(32))})
GUESTS = ("203.0.113.1", "203.0.113.2", "2001:db8::/64")
KEYS = ("first0000000", "second000000")
LIMITS = st.integers(0, 4)


class Allowances(RuleBasedStateMachine):
    """Guests and keys call at two servers, limits change, servers start again, days pass and clocks jump.

    The database's clock stands still between the steps, so that the model knows the day. The servers' own clock counts
    seconds and is moved apart from it: a machine that slept knows nothing of the night.
    """

    database: Database
    database_clock: DatabaseClock
    steps = 0

    @initialize(limit=LIMITS)
    def begin(self, limit: int) -> None:
        """Empty the tables and start two servers."""
        with self.database.owner.begin() as connection:
            connection.execute(text("TRUNCATE quota_use, daily_salt, api_key"))
        for key in KEYS:
            KeyRing(self.database.owner).add(key, bytes(32), "p1", key, 3)
        self.store = PostgresAccessStore(self.database.server)
        self.clock = MovableClock(BEGIN)
        self.used: Counter[tuple[date, str]] = Counter()
        self.salted: set[date] = set()
        self.salts: dict[date, bytes] = {}
        self.key_limits = dict.fromkeys(KEYS, 3)
        self.go_to(BEGIN)
        self.limits, self.servers = [0, 0], [self.server(0)] * 2
        for number in (0, 1):
            self.restart(number, limit)

    @rule(number=st.integers(0, 1), guest=st.sampled_from(GUESTS))
    def guest_calls(self, number: int, guest: str) -> None:
        if self.moment.date() not in self.salted:
            self.salted.add(self.moment.date())
            oldest = self.moment.date() - timedelta(KEEP_DAYS)
            self.used = Counter({(day, who): n for (day, who), n in self.used.items() if day >= oldest})
        self.expect(self.servers[number], Caller(guest), guest, self.limits[number])

    @rule(number=st.integers(0, 1), key=st.sampled_from(KEYS))
    def key_calls(self, number: int, key: str) -> None:
        self.expect(self.servers[number], Caller("", key, self.key_limits[key]), key, self.key_limits[key])

    @rule(number=st.integers(0, 1), limit=LIMITS)
    def restart(self, number: int, limit: int) -> None:
        """Start a server again, with another allowance for guests."""
        self.steps_made()
        self.limits[number], self.servers[number] = limit, self.server(limit)

    @rule(key=st.sampled_from(KEYS), limit=LIMITS)
    def change_a_keys_limit(self, key: str, limit: int) -> None:
        """Raise or lower what a key may do; whoever was refused is refused for a little longer."""
        self.steps_made()
        KeyRing(self.database.owner).set_quota(key, limit)
        self.key_limits[key] = limit
        self.forget_refusals()

    @rule(hours=st.integers(1, 80), awake=st.booleans())
    def time_passes(self, hours: int, awake: bool) -> None:
        self.steps_made()
        self.go_to(self.moment + timedelta(hours=hours))
        self.clock.move(hours * 3600 if awake else 0)
        self.forget_refusals()

    @rule(seconds=st.integers(-3, 3))
    def midnight_is_near(self, seconds: int) -> None:
        """Go on just before or behind midnight; from behind it, a corrected clock may go back before it."""
        self.steps_made()
        self.go_to(tomorrow(self.moment - timedelta(seconds=10)) + timedelta(seconds=seconds))
        self.forget_refusals()

    @rule()
    def clock_is_set_back(self) -> None:
        """Go back by some seconds, over midnight if that was just passed."""
        self.steps_made()
        self.go_to(max(self.moment - timedelta(seconds=6), BEGIN))
        self.forget_refusals()

    @invariant()
    def the_database_counts_what_was_served(self) -> None:
        with self.database.owner.connect() as connection:
            for row in connection.execute(text("SELECT day, salt FROM daily_salt")):
                assert self.salts.setdefault(row.day, bytes(row.salt)) == bytes(row.salt)
            rows = connection.execute(text("SELECT day, subject, used FROM quota_use"))
            counted = {(row.day, bytes(row.subject)): row.used for row in rows}
        counters = Counters(self.database, PEPPERS)
        assert counted == {
            (day, f"key:{who}".encode() if who in KEYS else counters.subject(who, self.salts[day])): used
            for (day, who), used in self.used.items()
        }

    def expect(self, server: Access, caller: Caller, who: str, limit: int) -> None:
        """Call, and compare what comes of it with what ought to."""
        self.steps_made()
        today = (self.moment.date(), who)
        if self.used[today] < limit:
            self.used[today] += 1
            charge = server.charge(caller)
            assert (charge.used, charge.remaining) == (self.used[today], limit - self.used[today])
            return
        if not self.used[today]:
            del self.used[today]
        with pytest.raises(QuotaExhausted) as refused:
            server.charge(caller)
        assert refused.value.details["limit"] == limit
        assert 1 <= int(str(refused.value.details["retry_after_seconds"])) <= 86_400

    def go_to(self, moment: datetime) -> None:
        self.moment = moment
        self.database_clock.freeze(moment)

    def server(self, limit: int) -> Access:
        return Access(self.store, PEPPERS, Settings(home=Path("unused"), guest_daily_quota=limit), self.clock)

    def forget_refusals(self) -> None:
        self.clock.move(REFUSAL_SECONDS + 1)

    def steps_made(self) -> None:
        Allowances.steps += 1


def machine_on(database: Database, clock: DatabaseClock) -> type[Any]:
    """Return the machine for one database."""
    return type("AllowancesOnDatabase", (Allowances,), {"database": database, "database_clock": clock})
