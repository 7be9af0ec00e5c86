"""Who is let in and what it costs: keys, guests, days, and a database that is away."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.access import Access, Caller, PepperRing
from app.errors import FeedbackClosed, QuotaExhausted, Unauthorized, Unavailable
from app.settings import Environment, Settings
from tests.access.memorystore import MemoryAccessStore, MovableClock

OLD, NEW = bytes(32), bytes(range(32))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
GUEST = Caller("203.0.113.7")


class Desk:
    """An Access with everything around it that a test wants to touch."""

    def __init__(self, now: datetime = NOON, peppers: dict[str, bytes] | None = None, **settings: object) -> None:
        self.clock = MovableClock(now)
        self.store = MemoryAccessStore(self.clock)
        self.settings = Settings(home=Path("unused"), **settings)
        self.access = self.with_peppers(peppers or {"old": OLD})

    def with_peppers(self, peppers: dict[str, bytes]) -> Access:
        return Access(self.store, PepperRing(peppers), self.settings, self.clock)

    def new_key(self, **row: int) -> str:
        key = self.access.mint()
        self.store.add_key(key, **row)
        return key.text

    def identify(self, text: str, access: Access | None = None) -> Caller:
        access = access or self.access
        key = access.read_key([f"Bearer {text}".encode()])
        assert key is not None
        return access.identify(key, GUEST.address)


def test_no_credentials_make_a_guest():
    assert Desk().access.read_key([]) is None


def test_no_credentials_are_refused_where_guests_are_not_served():
    with pytest.raises(Unauthorized):
        Desk(guest_access=False).access.read_key([])


def test_a_key_is_known_by_its_id_and_quota():
    desk = Desk()
    caller = desk.identify(desk.new_key(daily_quota=7))
    assert not caller.is_guest
    assert caller.daily_quota == 7


def test_a_bad_checksum_costs_no_question_to_the_database():
    desk = Desk()
    text = desk.new_key()
    with pytest.raises(Unauthorized):
        desk.access.read_key([f"Bearer {text[:-1]}{'0' if text[-1] != '0' else '1'}".encode()])
    assert not desk.store.calls


def test_unknown_wrong_and_revoked_keys_are_refused_in_the_same_words():
    desk = Desk()
    revoked = desk.new_key()
    desk.store.revoke(revoked.split("_")[2])
    unknown = desk.access.mint()
    impostor = desk.access.mint()
    desk.store.add_key(impostor)
    desk.store.keys[impostor.key_id] = desk.store.keys[revoked.split("_")[2]]
    refusals = set()
    for text in (revoked, unknown.text, impostor.text):
        with pytest.raises(Unauthorized) as refused:
            desk.identify(text)
        refusals.add(str(refused.value.envelope()))
    assert len(refusals) == 1


def test_a_refused_key_is_not_asked_for_again_at_once():
    desk = Desk()
    text = desk.access.mint().text
    for _ in range(10):
        with pytest.raises(Unauthorized):
            desk.identify(text)
    assert desk.store.calls["find_key"] == 1
    desk.clock.move(6)
    with pytest.raises(Unauthorized):
        desk.identify(text)
    assert desk.store.calls["find_key"] == 2


def test_a_revocation_holds_from_the_next_call():
    desk = Desk()
    text = desk.new_key()
    desk.identify(text)
    desk.store.revoke(text.split("_")[2])
    with pytest.raises(Unauthorized):
        desk.identify(text)


def test_test_keys_are_for_everywhere_but_production():
    for env, accepted in ((Environment.DEVELOPMENT, True), (Environment.PRODUCTION, False)):
        desk = Desk(env=env)
        key = desk.access.mint("test")
        desk.store.add_key(key)
        if accepted:
            assert desk.identify(key.text).key_id == key.key_id
        else:
            with pytest.raises(Unauthorized):
                desk.identify(key.text)
            assert not desk.store.calls


def test_a_new_pepper_takes_over_key_by_key():
    """Both work while both are there; a used key survives the old one's end, an unused one does not."""
    desk = Desk()
    used, unused = desk.new_key(), desk.new_key()
    rotated = desk.with_peppers({"new": NEW, "old": OLD})
    desk.identify(used, rotated)
    assert desk.store.keys[used.split("_")[2]].pepper_id == "new"
    finished = desk.with_peppers({"new": NEW})
    assert desk.identify(used, finished).key_id == used.split("_")[2]
    with pytest.raises(Unauthorized):
        desk.identify(unused, finished)


def test_the_day_of_use_is_written_once_a_day():
    desk = Desk()
    text = desk.new_key()
    for _ in range(5):
        desk.identify(text)
    assert desk.store.calls["touch_key"] == 1
    desk.clock.move(86_400)
    desk.identify(text)
    assert desk.store.calls["touch_key"] == 2


def test_a_database_that_is_away_is_no_reason_to_call_a_key_bad():
    desk = Desk()
    text = desk.new_key()
    desk.store.down = True
    with pytest.raises(Unavailable):
        desk.identify(text)
    with pytest.raises(Unavailable):
        desk.access.charge(GUEST)


def test_a_guest_gets_exactly_what_is_allowed():
    desk = Desk(guest_daily_quota=3)
    assert [desk.access.charge(GUEST).remaining for _ in range(3)] == [2, 1, 0]
    with pytest.raises(QuotaExhausted) as refused:
        desk.access.charge(GUEST)
    assert refused.value.details == {"limit": 3, "retry_after_seconds": 12 * 3600}
    assert desk.access.charge(Caller("198.51.100.1")).used == 1


def test_nothing_allowed_is_nothing_served():
    with pytest.raises(QuotaExhausted):
        Desk(guest_daily_quota=0).access.charge(GUEST)


def test_a_used_up_allowance_is_not_written_to_again_for_a_while():
    desk = Desk(guest_daily_quota=1)
    desk.access.charge(GUEST)
    for _ in range(100):
        with pytest.raises(QuotaExhausted):
            desk.access.charge(GUEST)
    assert desk.store.calls["take"] == 2
    desk.clock.move(31)
    with pytest.raises(QuotaExhausted) as refused:
        desk.access.charge(GUEST)
    assert desk.store.calls["take"] == 3
    assert refused.value.details["retry_after_seconds"] == 12 * 3600 - 31


def test_each_day_has_its_own_allowance_under_its_own_salt():
    """The first call after midnight still carries yesterday's salt; it must not open a second allowance."""
    desk = Desk(now=datetime(2026, 11, 30, 23, 59, 58, tzinfo=UTC), guest_daily_quota=5)
    for _ in range(5):
        desk.access.charge(GUEST)
    with pytest.raises(QuotaExhausted):
        desk.access.charge(GUEST)
    desk.clock.move(4)
    assert [desk.access.charge(GUEST).used for _ in range(5)] == [1, 2, 3, 4, 5]
    with pytest.raises(QuotaExhausted):
        desk.access.charge(GUEST)
    assert sorted(desk.store._used.values()) == [5, 5]


def test_a_day_that_begins_hours_after_the_last_call_is_noticed():
    desk = Desk(now=datetime(2026, 11, 30, 20, tzinfo=UTC), guest_daily_quota=2)
    desk.access.charge(GUEST)
    desk.clock.move(30 * 3600)
    assert [desk.access.charge(GUEST).used for _ in range(2)] == [1, 2]
    with pytest.raises(QuotaExhausted):
        desk.access.charge(GUEST)


def test_a_day_that_begins_while_the_machine_sleeps_is_noticed():
    """Its own seconds stand still then; only the database knows."""
    desk = Desk(now=datetime(2026, 11, 30, 23, tzinfo=UTC), guest_daily_quota=2)
    desk.access.charge(GUEST)
    awake = desk.clock.monotonic()
    desk.clock.move(9 * 3600)
    desk.clock._monotonic = awake
    assert [desk.access.charge(GUEST).used for _ in range(2)] == [1, 2]
    assert desk.store.calls["daily_salt"] == 2


def test_within_a_day_the_salt_is_read_once():
    desk = Desk(now=datetime(2026, 11, 30, 1, tzinfo=UTC))
    for _ in range(50):
        desk.access.charge(GUEST)
        desk.clock.move(60)
    assert desk.store.calls["daily_salt"] == 1


def test_a_key_has_its_own_quota_or_the_servers():
    desk = Desk(key_daily_quota=2)
    standard, small = desk.identify(desk.new_key()), desk.identify(desk.new_key(daily_quota=1))
    assert [desk.access.charge(standard).remaining for _ in range(2)] == [1, 0]
    assert desk.access.charge(small).remaining == 0
    for caller in (standard, small):
        with pytest.raises(QuotaExhausted):
            desk.access.charge(caller)


def test_feedback_has_an_allowance_of_its_own():
    desk = Desk(feedback_guest_quota=1)
    desk.access.charge_feedback(GUEST)
    with pytest.raises(FeedbackClosed):
        desk.access.charge_feedback(GUEST)
    assert desk.access.charge(GUEST).used == 1


def test_no_address_and_no_key_is_in_what_the_store_is_told():
    desk = Desk()
    desk.access.charge(GUEST)
    subjects = [subject for _, subject in desk.store._used]
    assert all(len(subject) == 32 and b"203.0" not in subject for subject in subjects)


def test_hashes_of_questions_compare_within_a_month_only():
    desk = Desk()
    first = desk.access.query_hash("react keys")
    assert len(first) == 8
    assert first == desk.access.query_hash("react keys") != desk.access.query_hash("react key")
    desk.clock.move(86_400)
    assert first != desk.access.query_hash("react keys")
    assert Desk(peppers={"other": NEW}).access.query_hash("react keys") != first


def test_hashes_of_feedback_compare_within_a_day_only():
    desk = Desk()
    first = desk.access.feedback_hash("same words")
    assert first == desk.access.feedback_hash("same words")
    desk.clock.move(86_400)
    assert first != desk.access.feedback_hash("same words")
