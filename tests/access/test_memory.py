"""What was refused a moment ago, remembered for that moment and not longer."""

from __future__ import annotations

from app.access.memory import Refusals


def test_a_fact_is_remembered_until_its_time_is_over():
    memory: Refusals[str] = Refusals()
    memory.add(b"a", 5.0, "no")
    assert memory.get(b"a", 4.9) == "no"
    assert memory.get(b"a", 5.0) is None
    assert memory.get(b"b", 0.0) is None


def test_the_oldest_gives_way():
    memory: Refusals[str] = Refusals(capacity=2)
    for subject in (b"a", b"b", b"c"):
        memory.add(subject, 5.0, "no")
    assert [memory.get(subject, 0.0) for subject in (b"a", b"b", b"c")] == [None, "no", "no"]


def test_what_is_over_is_forgotten_though_nobody_asks_for_it_again():
    """A stranger with a new key for every call fills no memory."""
    memory: Refusals[bool] = Refusals()
    for moment in range(1000):
        subject = str(moment).encode()
        assert memory.get(subject, float(moment)) is None
        memory.add(subject, moment + 5.0, fact=True)
    assert len(memory) < 10


def test_who_is_refused_again_is_not_the_oldest_any_more():
    memory: Refusals[str] = Refusals(capacity=2)
    for subject in (b"a", b"b", b"a", b"c"):
        memory.add(subject, 5.0, "no")
    assert [memory.get(subject, 0.0) for subject in (b"a", b"b", b"c")] == ["no", None, "no"]


def test_without_a_number_ten_thousand_are_remembered():
    """A flood of strangers costs some memory and no more."""
    memory: Refusals[bool] = Refusals()
    for number in range(10_001):
        memory.add(str(number).encode(), 5.0, fact=True)
    assert len(memory) == 10_000


def test_what_is_over_is_forgotten_before_what_was_added_later_and_ends_sooner():
    memory: Refusals[str] = Refusals()
    memory.add(b"long", 9.0, "no")
    memory.add(b"short", 1.0, "no")
    assert memory.get(b"short", 1.0) is None
    assert len(memory) == 1
    assert memory.get(b"long", 1.0) == "no"
