"""The circuit breaker as a pure value."""

from __future__ import annotations

from app.embedding.breaker import FAILURES_TO_OPEN, OPEN_SECONDS, Breaker


def opened(at: float = 0.0) -> Breaker:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN):
        breaker = breaker.failed(at)
    return breaker


def test_a_new_breaker_lets_calls_through() -> None:
    """Closed is where it starts."""
    assert Breaker().state(0.0) == "closed"
    assert Breaker().admit(0.0) == Breaker()


def test_it_opens_at_the_fifth_failure_in_a_row() -> None:
    """Four failures are not enough."""
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN - 1):
        breaker = breaker.failed(0.0)
    assert breaker.state(0.0) == "closed"
    assert breaker.failed(0.0).state(0.0) == "open"


def test_a_success_forgets_earlier_failures() -> None:
    """Only failures in a row count."""
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN - 1):
        breaker = breaker.failed(0.0)
    breaker = breaker.succeeded().failed(0.0)
    assert breaker.state(0.0) == "closed"


def test_an_open_breaker_refuses_until_its_time_is_over() -> None:
    """Nothing is tried for 15 seconds."""
    breaker = opened(at=100.0)
    assert breaker.admit(100.0 + OPEN_SECONDS - 0.001) is None
    assert breaker.state(100.0 + OPEN_SECONDS) == "half_open"


def test_a_half_open_breaker_lets_one_trial_through() -> None:
    """Everyone else is still refused while the trial runs."""
    now = OPEN_SECONDS
    probing = opened().admit(now)
    assert probing is not None
    assert probing.admit(now) is None


def test_a_successful_trial_closes_it() -> None:
    """After the cure everything is as at the start."""
    probing = opened().admit(OPEN_SECONDS)
    assert probing is not None
    assert probing.succeeded() == Breaker()


def test_a_failed_trial_opens_it_for_another_full_time() -> None:
    """One failure is enough when half open."""
    now = OPEN_SECONDS
    probing = opened().admit(now)
    assert probing is not None
    reopened = probing.failed(now)
    assert reopened.state(now + OPEN_SECONDS - 0.001) == "open"
    assert reopened.state(now + OPEN_SECONDS) == "half_open"


def test_late_failures_do_not_lengthen_the_open_time() -> None:
    """A call let through before it opened may still fail afterwards."""
    assert opened(at=0.0).failed(10.0).state(OPEN_SECONDS) == "half_open"


def test_a_trial_without_an_outcome_does_not_block_the_next_for_ever() -> None:
    """The caller of a trial may have died."""
    probing = opened().admit(OPEN_SECONDS)
    assert probing is not None
    assert probing.admit(2 * OPEN_SECONDS) is not None
