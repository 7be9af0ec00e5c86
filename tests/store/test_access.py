"""Keys and quotas, on a real PostgreSQL."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, text

from app.errors import InvalidInput
from app.store.access import SETTLING_MINUTES, KeyRing, PostgresAccessStore
from app.store.engine import server_engine
from app.store.tables import daily_salt, quota_use
from tests.databases import Database

SUBJECT = b"s" * 32
MAC = b"m" * 32


@pytest.fixture
def store(database: Database) -> PostgresAccessStore:
    return PostgresAccessStore(database.server)


@pytest.fixture
def keys(database: Database) -> KeyRing:
    return KeyRing(database.owner)


def test_quota_admits_exactly_the_limit_under_concurrency(database: Database) -> None:
    """A thousand takes by twenty threads leave exactly the allowance."""
    engine = server_engine(database.app_url, pool_size=20)
    store = PostgresAccessStore(engine)
    with ThreadPoolExecutor(20) as threads:
        taken = list(threads.map(lambda _: store.take(SUBJECT, 250), range(1000)))
    engine.dispose()
    admitted = sorted(take.used for take in taken if take.admitted)
    assert admitted == list(range(1, 251))
    with database.owner.connect() as connection:
        assert connection.scalar(text("SELECT used FROM quota_use")) == 250


def test_quota_of_nothing_admits_nobody(store: PostgresAccessStore) -> None:
    """A limit of zero refuses the first call already."""
    assert not store.take(SUBJECT, 0).admitted


def test_quota_counts_each_subject_on_its_own(store: PostgresAccessStore) -> None:
    """One caller's calls are nobody else's."""
    assert store.take(SUBJECT, 1).admitted
    assert not store.take(SUBJECT, 1).admitted
    assert store.take(b"t" * 32, 1).admitted


def test_quota_says_when_it_is_renewed(store: PostgresAccessStore) -> None:
    """The seconds left reach to the next UTC midnight, and a refused caller gets them too."""
    assert 1 <= store.take(SUBJECT, 1).seconds_left <= 86_400
    refused = store.take(SUBJECT, 1)
    assert (refused.admitted, refused.used) == (False, 1)
    assert 1 <= refused.seconds_left <= 86_400


def test_raised_quota_admits_again(store: PostgresAccessStore) -> None:
    """The owner may raise a quota in the middle of the day."""
    store.take(SUBJECT, 1)
    assert not store.take(SUBJECT, 1).admitted
    assert store.take(SUBJECT, 2).used == 2


def test_salt_is_one_for_all_servers_of_a_day(database: Database) -> None:
    """Servers that ask at the same time for a salt nobody made yet get the same one."""
    engine = server_engine(database.app_url, pool_size=8)
    barrier = threading.Barrier(8)

    def ask(_: int) -> bytes:
        barrier.wait()
        return PostgresAccessStore(engine).daily_salt()[1]

    with ThreadPoolExecutor(8) as threads:
        salts = set(threads.map(ask, range(8)))
    engine.dispose()
    assert len(salts) == 1
    assert len(salts.pop()) == 32


def test_new_salt_deletes_what_is_left_of_old_days(database: Database, store: PostgresAccessStore) -> None:
    """Salts are gone ten minutes after their day is over, counts from the third day on."""
    now = datetime.now(UTC)
    today, salted = now.date(), (now - timedelta(minutes=SETTLING_MINUTES)).date()
    with database.owner.begin() as connection:
        for days in (1, 2, 3, 9):
            connection.execute(insert(daily_salt).values(day=today - timedelta(days), salt=b"s" * 32))
            connection.execute(insert(quota_use).values(day=today - timedelta(days), subject=SUBJECT, used=1))
    store.daily_salt()
    with database.owner.connect() as connection:
        for table, kept in ((daily_salt, list(range((today - salted).days + 1))), (quota_use, [1, 2])):
            left = connection.scalars(select(table.c.day))
            assert sorted((today - day).days for day in left) == kept


def test_key_is_found_by_its_id_with_what_the_owner_set(store: PostgresAccessStore, keys: KeyRing) -> None:
    """What the edge decides by comes from the row as it is now."""
    assert store.find_key("abcdefabcdef") is None
    keys.add("abcdefabcdef", MAC, "p1", "laptop", None)
    keys.set_quota("abcdefabcdef", 7)
    found = store.find_key("abcdefabcdef")
    assert found is not None
    assert (found.mac, found.pepper_id, found.daily_quota, found.revoked_at) == (MAC, "p1", 7, None)


def test_revoked_key_says_so_at_once_and_stays_revoked(store: PostgresAccessStore, keys: KeyRing) -> None:
    """Revoking again does not move the time."""
    keys.add("abcdefabcdef", MAC, "p1", "laptop", None)
    keys.revoke("abcdefabcdef")
    first = store.find_key("abcdefabcdef")
    keys.revoke("abcdefabcdef")
    second = store.find_key("abcdefabcdef")
    assert first is not None
    assert first.revoked_at is not None
    assert first == second


def test_key_moves_to_a_newer_pepper_once(store: PostgresAccessStore, keys: KeyRing) -> None:
    """A server that is late with an older pepper changes nothing."""
    keys.add("abcdefabcdef", MAC, "p1", "laptop", None)
    store.rekey("abcdefabcdef", "p1", b"n" * 32, "p2")
    store.rekey("abcdefabcdef", "p1", b"o" * 32, "p3")
    found = store.find_key("abcdefabcdef")
    assert found is not None
    assert (found.mac, found.pepper_id) == (b"n" * 32, "p2")


def test_touching_a_key_writes_once_a_day_and_waits_for_nobody(
    database: Database, store: PostgresAccessStore, keys: KeyRing
) -> None:
    """A locked row is left for the next call."""
    keys.add("abcdefabcdef", MAC, "p1", "laptop", None)
    with database.owner.begin() as other:
        other.execute(text("SELECT FROM api_key FOR UPDATE"))
        store.touch_key("abcdefabcdef")
    assert keys.all()[0].last_used_on is None
    store.touch_key("abcdefabcdef")
    assert keys.all()[0].last_used_on == store.daily_salt()[0]
    with database.owner.connect() as connection:
        row_version = connection.scalar(text("SELECT xmin FROM api_key"))
        store.touch_key("abcdefabcdef")
        assert connection.scalar(text("SELECT xmin FROM api_key")) == row_version


def test_administration_refuses_an_unknown_key(keys: KeyRing) -> None:
    """A mistyped id is not silently accepted."""
    with pytest.raises(InvalidInput):
        keys.revoke("nobody")
    with pytest.raises(InvalidInput):
        keys.set_quota("nobody", 1)


def test_counts_of_many_callers_are_forgotten_in_short_statements(database: Database) -> None:
    """More than one statement may delete: a day of a hundred thousand callers is no reason to fail."""
    with database.owner.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO quota_use (day, subject, used) SELECT current_date - n % 5, int8send(n), 1 "
                "FROM generate_series(1, 100000) AS n"
            )
        )
    PostgresAccessStore(database.server).forget_days()
    with database.owner.connect() as connection:
        days = connection.scalars(text("SELECT DISTINCT current_date - day FROM quota_use ORDER BY 1")).all()
    assert days == [0, 1, 2]
