"""Who is let in and what it costs: keys, guests, days, and a database that is away."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from app.access import Access, Caller, PepperRing
from app.access.admission import new_key
from app.access.quota import GuestQuotas, Quotas
from app.errors import FeedbackClosed, QuotaExhausted, Unauthorized, Unavailable
from app.settings import Environment, Settings
from tests.access.memorystore import MemoryAccessStore, MovableClock
from tests.sentences import is_sentence

OLD, NEW = bytes(32), bytes(range(32))
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
GUEST = Caller("203.0.113.7")


class Desk:
    """An Access with everything around it that a test wants to touch."""

    def __init__(self, now: datetime = NOON, peppers: dict[str, bytes] | None = None, **settings: object) -> None:
        self.clock = MovableClock(now)
        self.store = MemoryAccessStore(self.clock)
        self.settings = Settings(home=Path("unused"), **settings)
        self.peppers = PepperRing(peppers or {"old": OLD})
        self.access = Access(self.store, self.peppers, self.settings, self.clock)

    def with_peppers(self, peppers: dict[str, bytes]) -> Access:
        return Access(self.store, PepperRing(peppers), self.settings, self.clock)

    def new_key(self, **row: int) -> str:
        key = new_key(self.peppers)
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
    text = desk.new_key(daily_quota=7)
    caller = desk.identify(text)
    assert not caller.is_guest
    assert caller == Caller(GUEST.address, text.split("_")[2], 7)


@pytest.mark.parametrize("form", ["Basic {}", "{}", " {}", "Bearer", "Bearer  {}", "Bearer x {}", "Bearer {} x", ""])
def test_a_key_in_another_form_than_a_bearer_token_is_none(form):
    desk = Desk()
    presented = form.format(desk.new_key()).encode()
    with pytest.raises(Unauthorized):
        desk.access.read_key([presented])


def test_a_key_that_is_presented_twice_is_none():
    """Whoever stands before this server may have judged the other one."""
    desk = Desk()
    presented = f"Bearer {desk.new_key()}".encode()
    for twice in ([presented, presented], [presented, b""], [b"", presented]):
        with pytest.raises(Unauthorized):
            desk.access.read_key(twice)


def test_a_refusal_tells_how_to_be_let_in_here():
    """With a key, and as a guest only where guests are served."""
    for guests in (True, False):
        with pytest.raises(Unauthorized, match="bearer token") as refused:
            Desk(guest_access=guests).access.read_key([b"Bearer x"])
        assert ("call as a guest." in refused.value.message) is guests
        assert is_sentence(refused.value.message)


def test_a_new_key_is_one_for_production():
    assert new_key(PepperRing({"old": OLD})).text.startswith("kb_live_")


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
    unknown = new_key(desk.peppers)
    impostor = new_key(desk.peppers)
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
    text = new_key(desk.peppers).text
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
        key = new_key(desk.peppers, "test")
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


def test_a_call_does_not_fail_because_its_day_cannot_be_noted():
    """It is tried again with the next one."""

    class Forgetful(MemoryAccessStore):
        def touch_key(self, key_id: str) -> None:
            if not self.calls["touch_key"]:
                self.calls["touch_key"] += 1
                raise Unavailable("not just now")
            super().touch_key(key_id)

    desk = Desk()
    desk.store = Forgetful(desk.clock)
    desk.access = desk.with_peppers({"old": OLD})
    text = desk.new_key()
    for _ in range(3):
        assert desk.identify(text).key_id == text.split("_")[2]
    assert desk.store.touched == {text.split("_")[2]: 1}


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
    assert is_sentence(refused.value.message)
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
    desk.clock.move(10)
    with pytest.raises(QuotaExhausted, match="00:00 UTC") as refused:
        desk.access.charge(GUEST)
    assert refused.value.details == {"limit": 1, "retry_after_seconds": 12 * 3600 - 10}
    desk.clock.move(21)
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
    assert len({subject for _, subject in desk.store._used}) == 2, "two days of a guest could be told to be of one"


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


def test_a_day_that_cannot_be_settled_is_no_allowance():
    """Nothing is taken in a day that may be over; three midnights in a row are no midnight."""

    class Restless(MemoryAccessStore):
        def daily_salt(self) -> tuple[date, bytes]:
            super().daily_salt()
            return date(2026, 11, 29), OLD

    desk = Desk()
    desk.store = Restless(desk.clock)
    desk.access = desk.with_peppers({"old": OLD})
    with pytest.raises(Unavailable) as refused:
        desk.access.charge(GUEST)
    assert refused.value.details == {"retry_after_seconds": 2}
    assert is_sentence(refused.value.message)
    assert desk.store.calls["daily_salt"] == 3
    assert not any(desk.store._used.values())


def test_an_allowance_that_is_raised_counts_after_half_a_minute():
    desk = Desk(guest_daily_quota=1)
    desk.access.charge(GUEST)
    with pytest.raises(QuotaExhausted):
        desk.access.charge(GUEST)
    quotas = Quotas(desk.store, desk.clock)
    raised = GuestQuotas(quotas, desk.store, PepperRing({"old": OLD}))
    for _ in range(2):
        with pytest.raises(QuotaExhausted):
            raised.take(GUEST.address, "call", 1)
    desk.clock.move(29)
    with pytest.raises(QuotaExhausted):
        raised.take(GUEST.address, "call", 2)
    desk.clock.move(1)
    assert raised.take(GUEST.address, "call", 2).used == 2


def test_in_the_last_second_of_a_day_a_caller_waits_a_whole_one():
    """To come back at once would only be refused again."""
    desk = Desk(now=datetime(2026, 11, 30, 23, 59, 59, 500_000, tzinfo=UTC), guest_daily_quota=0)
    with pytest.raises(QuotaExhausted) as refused:
        desk.access.charge(GUEST)
    assert refused.value.details == {"limit": 0, "retry_after_seconds": 1}
    desk.clock.move(0.5)
    with pytest.raises(QuotaExhausted) as refused:
        desk.access.charge(GUEST)
    assert refused.value.details["retry_after_seconds"] == 86_400


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
    with pytest.raises(FeedbackClosed, match="00:00 UTC") as closed:
        desk.access.charge_feedback(GUEST)
    assert is_sentence(closed.value.message)
    desk.access.charge_feedback(Caller("198.51.100.1"))
    assert desk.access.charge(GUEST).used == 1


def test_what_is_counted_and_compared_stays_the_same():
    """While a release is rolled out, the servers before and after it share allowances, and a month its questions."""
    desk = Desk()
    today = desk.clock.now().date()
    desk.store._salts[today] = NEW
    desk.access.charge(GUEST)
    desk.access.charge_feedback(GUEST)
    desk.access.charge(Caller("x", "ABCDEFGHIJKL"))
    calls, feedback, key = (subject for _, subject in desk.store._used)
    hashes = (calls, feedback, desk.access.query_hash("react keys"), desk.access.feedback_hash("same words"))
    assert [one.hex() for one in hashes] == [
        "d5a5a86f7d1bbc02d313d0f5a673f0f5b1ca1ec176e5dcc734f6593750d61b1c",
        "d3fdac35663154dc948fbbf0e5b4017721820f651b4d61c898f9abae42d7490e",
        "63cf39bcdea5f0d8",
        "776d172f6dc893632b2d13de5b2b1ef6595fba672a52f4dc10955232c5740812",
    ]
    assert key == b"key:ABCDEFGHIJKL"


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
