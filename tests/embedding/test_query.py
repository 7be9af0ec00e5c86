"""Questions embedded in bounded time, whatever the model does.

Where a model hangs the deadline is 200 ms; an answer within 2.5 s proves that nobody waited for the model.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from app.contract import DegradedReason
from app.embedding.breaker import FAILURES_TO_OPEN, OPEN_SECONDS
from app.embedding.query import WAITING_QUESTIONS, BoundedQueryEmbedder, DisabledQueryEmbedder
from app.errors import EmbeddingFailure
from tests.embedding.faulty import DIMS, GOOD, MODEL, FakeClock, HangingEmbedder, ScriptedEmbedder

if TYPE_CHECKING:
    from app.ports import Embedder

HANG_MS = 200
PATIENT_MS = 20_000
BOUND_SECONDS = 2.5

Make = Callable[..., BoundedQueryEmbedder]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def make(clock: FakeClock) -> Iterator[Make]:
    """Build query embedders that are closed afterwards."""
    made: list[BoundedQueryEmbedder] = []

    def build(embedder: Embedder, **options: Any) -> BoundedQueryEmbedder:
        chosen = {"timeout_ms": PATIENT_MS, "cache_size": 100, "fold_case": True} | options
        made.append(BoundedQueryEmbedder(embedder, clock, **chosen))
        return made[-1]

    yield build
    for queries in made:
        queries.close()


@pytest.fixture
def hanging() -> Iterator[HangingEmbedder]:
    embedder = HangingEmbedder()
    yield embedder
    embedder.cure()


@contextmanager
def in_bounded_time() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < BOUND_SECONDS


def reason_of(queries: BoundedQueryEmbedder, question: str) -> str:
    """Ask, and return why there was no vector, or `fine`."""
    with in_bounded_time():
        try:
            queries.embed_query(question)
        except EmbeddingFailure as failure:
            return failure.reason
    return "fine"


def raising(error: BaseException) -> Callable[[Sequence[str]], Any]:
    def answer(_: Sequence[str]) -> Any:
        raise error

    return answer


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


# What a healthy model gives


def test_a_question_gets_a_unit_vector_and_its_model(make: Make) -> None:
    """The first time it is computed."""
    answer = make(ScriptedEmbedder()).embed_query("why?")
    assert answer.vector.tolist() == pytest.approx([0.6, 0.0, 0.8, 0.0])
    assert answer.vector.dtype == np.float32
    assert (answer.model, answer.cache) == (MODEL, "miss")


def test_the_vector_is_that_of_the_real_model(make: Make, embedder: Embedder) -> None:
    """End to end with the default provider."""
    question = "why does my list lose focus"
    answer = make(embedder).embed_query(question)
    assert np.allclose(answer.vector, embedder.embed([question])[0], atol=1e-6)


def test_a_vector_cannot_be_changed_by_who_gets_it(make: Make) -> None:
    """It is shared with everyone who asks the same."""
    answer = make(ScriptedEmbedder()).embed_query("why?")
    with pytest.raises(ValueError, match="read-only"):
        answer.vector[0] = 9.0


def test_warming_up_loads_the_model_without_waiting(make: Make, hanging: HangingEmbedder) -> None:
    """The server need not wait to start."""
    queries = make(hanging)
    with in_bounded_time():
        queries.warm_up()
    assert hanging.entered.wait(BOUND_SECONDS)


def test_without_an_embedder_every_question_is_refused_as_disabled() -> None:
    """Words alone is a choice, not a failure."""
    queries = DisabledQueryEmbedder()
    with pytest.raises(EmbeddingFailure) as caught:
        queries.embed_query("why?")
    assert (queries.provider, caught.value.reason) == ("none", DegradedReason.EMBEDDING_DISABLED)


# The cache


def test_a_question_asked_again_is_not_computed_again(make: Make) -> None:
    """Spelling with other case, spaces or Unicode form is the same question."""
    embedder = ScriptedEmbedder()
    queries = make(embedder)
    first = queries.embed_query("Caf\u00e9 or  tea?")
    second = queries.embed_query(" cafe\u0301\tOR tea?\n")
    assert second.cache == "hit"
    assert second.vector is first.vector
    assert embedder.calls == ["caf\u00e9 or tea?"]


def test_case_counts_when_the_model_sees_it(make: Make) -> None:
    """Polish is not polish."""
    embedder = ScriptedEmbedder()
    queries = make(embedder, fold_case=False)
    queries.embed_query("Polish")
    assert queries.embed_query("polish").cache == "miss"
    assert embedder.calls == ["Polish", "polish"]


def test_the_least_recently_asked_question_is_forgotten_first(make: Make) -> None:
    """The cache is bounded."""
    queries = make(ScriptedEmbedder(), cache_size=2)
    for question in ("a", "b", "a", "c"):
        queries.embed_query(question)
    assert queries.embed_query("a").cache == "hit"
    assert queries.embed_query("b").cache == "miss"


def test_a_cache_of_size_zero_keeps_nothing(make: Make) -> None:
    """It can be switched off."""
    queries = make(ScriptedEmbedder(), cache_size=0)
    queries.embed_query("a")
    assert queries.embed_query("a").cache == "miss"


def test_a_vector_of_another_model_is_never_a_hit(make: Make) -> None:
    """When the model changes, so do the keys."""
    embedder = ScriptedEmbedder()
    queries = make(embedder)
    queries.embed_query("a")
    embedder.model = type(MODEL)("scripted", "r2", DIMS)
    queries.embed_query("b")
    answer = queries.embed_query("a")
    assert (answer.cache, answer.model.revision) == ("miss", "r2")


def test_cached_questions_cannot_be_read_or_guessed_from_the_keys(make: Make) -> None:
    """Two processes have different keys for the same question."""
    one, other = make(ScriptedEmbedder()), make(ScriptedEmbedder())
    assert one._cache.key("canary", MODEL) != other._cache.key("canary", MODEL)
    assert len(one._cache.key("canary", MODEL)) == 32


def test_people_who_ask_the_same_at_once_share_one_computation(make: Make, hanging: HangingEmbedder) -> None:
    """All get the vector, the model is asked once."""
    queries = make(hanging)
    with ThreadPoolExecutor(20) as people:
        answers = [people.submit(queries.embed_query, "same") for _ in range(20)]
        wait_until(lambda: any(shared.waiters == 20 for shared in queries._pending.values()))
        hanging.cure()
        assert {answer.result().vector.tobytes() for answer in answers} == {
            queries.embed_query("same").vector.tobytes()
        }
    assert hanging.calls == ["same"]


# What a broken model does not do


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(raising(RuntimeError("canary")), "embedding_error", id="raises"),
        pytest.param(raising(TimeoutError("canary")), "embedding_error", id="own timeout"),
        pytest.param(raising(SystemExit("canary")), "embedding_error", id="no Exception"),
        pytest.param(
            raising(EmbeddingFailure(DegradedReason.EMBEDDING_TIMEOUT, "endpoint is late")),
            "embedding_timeout",
            id="says why",
        ),
        pytest.param(lambda _: [GOOD[:-1]], "embedding_invalid", id="wrong length"),
        pytest.param(lambda _: [GOOD, GOOD], "embedding_invalid", id="too many"),
        pytest.param(lambda _: [[float("nan"), 0, 0, 1]], "embedding_invalid", id="NaN"),
        pytest.param(lambda _: [[float("inf"), 0, 0, 1]], "embedding_invalid", id="infinite"),
        pytest.param(lambda _: [[0.0] * DIMS], "embedding_invalid", id="zero"),
        pytest.param(lambda _: None, "embedding_invalid", id="nothing"),
    ],
)
def test_a_fault_is_answered_at_once_with_its_public_reason(
    make: Make, answer: Callable[[Sequence[str]], Any], reason: str
) -> None:
    """And with no text of the library, which may repeat the question."""
    queries = make(ScriptedEmbedder(answer))
    with in_bounded_time(), pytest.raises(EmbeddingFailure) as caught:
        queries.embed_query("canary")
    assert caught.value.reason == reason
    assert "canary" not in caught.value.message
    assert caught.value.__cause__ is None


def test_a_fault_is_not_cached(make: Make) -> None:
    """The next question has its own chance."""
    embedder = ScriptedEmbedder(raising(RuntimeError()))
    queries = make(embedder)
    assert reason_of(queries, "a") == "embedding_error"
    embedder.answer = lambda _: [GOOD]
    assert reason_of(queries, "a") == "fine"


def test_a_hung_model_keeps_nobody_beyond_the_deadline_and_makes_no_threads(
    make: Make, hanging: HangingEmbedder
) -> None:
    """One thread hangs; it stays the only one."""
    queries = make(hanging, timeout_ms=HANG_MS)
    before = threading.active_count()
    reasons = [reason_of(queries, f"question {number}") for number in range(8)]
    assert reasons[:FAILURES_TO_OPEN] == ["embedding_timeout"] * FAILURES_TO_OPEN
    assert set(reasons[FAILURES_TO_OPEN:]) == {"embedding_circuit_open"}
    assert threading.active_count() == before
    assert hanging.calls == ["question 0"]


def test_the_same_question_asked_of_a_hung_model_opens_the_breaker_too(make: Make, hanging: HangingEmbedder) -> None:
    """Nobody joins a computation that has already been given up."""
    queries = make(hanging, timeout_ms=HANG_MS)
    reasons = [reason_of(queries, "same") for _ in range(FAILURES_TO_OPEN + 1)]
    assert reasons == ["embedding_timeout"] * FAILURES_TO_OPEN + ["embedding_circuit_open"]


def test_a_hundred_people_at_once_are_all_answered_in_time_by_a_hung_model(
    make: Make, hanging: HangingEmbedder
) -> None:
    """Some wait until the deadline, the rest are refused at once."""
    queries = make(hanging, timeout_ms=HANG_MS)
    with in_bounded_time(), ThreadPoolExecutor(100) as people:
        reasons = list(people.map(lambda n: reason_of(queries, f"question {n}"), range(100)))
    assert set(reasons) <= {"embedding_timeout", "embedding_busy", "embedding_circuit_open"}
    assert reasons.count("embedding_timeout") <= WAITING_QUESTIONS + 1
    assert len(hanging.calls) == 1


def test_a_hundred_people_at_once_are_all_answered_by_a_healthy_model(make: Make, embedder: Embedder) -> None:
    """Who is refused is refused as busy, and who is not gets the right vector."""
    queries = make(embedder)
    questions = [f"how do I retry request number {number}?" for number in range(10)]
    with ThreadPoolExecutor(100) as people:
        reasons = list(people.map(lambda n: reason_of(queries, questions[n % 10]), range(100)))
    assert set(reasons) <= {"fine", "embedding_busy"}
    assert "fine" in reasons
    for question in questions:
        expected = embedder.embed([question])[0]
        assert np.allclose(queries.embed_query(question).vector, expected, atol=1e-6)


def test_the_ninth_who_would_wait_is_refused_as_busy(make: Make, hanging: HangingEmbedder) -> None:
    """One runs, eight wait, and being refused says nothing about the model."""
    queries = make(hanging)
    with ThreadPoolExecutor(WAITING_QUESTIONS + 1) as people:
        first = people.submit(queries.embed_query, "running")
        assert hanging.entered.wait(BOUND_SECONDS)
        rest = [people.submit(queries.embed_query, f"{n}") for n in range(WAITING_QUESTIONS)]
        wait_until(lambda: len(queries._pending) == WAITING_QUESTIONS + 1)
        assert reason_of(queries, "one too many") == "embedding_busy"
        assert queries.circuit() == "closed"
        hanging.cure()
        assert all(answer.result().model == MODEL for answer in (first, *rest))


def test_who_gives_up_waiting_leaves_the_line(make: Make, hanging: HangingEmbedder) -> None:
    """A cured model need not work through questions that nobody waits for."""
    queries = make(hanging, timeout_ms=HANG_MS)
    assert [reason_of(queries, f"{n}") for n in range(3)] == ["embedding_timeout"] * 3
    hanging.cure()
    wait_until(lambda: reason_of(queries, "next") == "fine")
    assert hanging.calls == ["0", "next"]


def test_a_vector_that_comes_too_late_is_kept_for_the_next_time(make: Make, hanging: HangingEmbedder) -> None:
    """The work is done; only its caller is gone."""
    queries = make(hanging, timeout_ms=HANG_MS)
    assert reason_of(queries, "slow") == "embedding_timeout"
    hanging.cure()
    wait_until(lambda: len(queries._cache) == 1)
    assert queries.embed_query("slow").cache == "hit"


def test_a_model_slow_half_the_time_answers_everyone_in_time_and_recovers(make: Make, clock: FakeClock) -> None:
    """Slow calls, and those behind them, time out; nothing else goes wrong."""
    pauses = itertools.cycle([0.0, 1.0])

    def answer(_: Sequence[str]) -> Any:
        time.sleep(next(pauses))
        return [GOOD]

    embedder = ScriptedEmbedder(answer)
    queries = make(embedder, timeout_ms=2 * HANG_MS)
    reasons = [reason_of(queries, f"question {number}") for number in range(20)]
    assert {"fine", "embedding_timeout"} <= set(reasons)
    assert set(reasons) <= {"fine", "embedding_timeout", "embedding_circuit_open"}

    def recovered() -> bool:
        clock.seconds += OPEN_SECONDS
        return reason_of(queries, "after the cure") == "fine"

    embedder.answer = lambda _: [GOOD]
    wait_until(recovered)
    assert queries.circuit() == "closed"


# The breaker at work


def test_five_failures_in_a_row_spare_the_model_until_a_trial_succeeds(make: Make, clock: FakeClock) -> None:
    """Open for 15 seconds, then one trial closes it."""
    embedder = ScriptedEmbedder(raising(RuntimeError()))
    queries = make(embedder)
    for number in range(FAILURES_TO_OPEN):
        assert reason_of(queries, f"{number}") == "embedding_error"
    assert reason_of(queries, "open") == "embedding_circuit_open"
    assert len(embedder.calls) == FAILURES_TO_OPEN
    embedder.answer = lambda _: [GOOD]
    assert reason_of(queries, "still open") == "embedding_circuit_open"
    clock.seconds += OPEN_SECONDS
    assert queries.circuit() == "half_open"
    assert reason_of(queries, "trial") == "fine"
    assert queries.circuit() == "closed"


def test_a_failed_trial_leaves_it_open(make: Make, clock: FakeClock) -> None:
    """One question pays for the trial, the others do not."""
    embedder = ScriptedEmbedder(raising(RuntimeError()))
    queries = make(embedder)
    for number in range(FAILURES_TO_OPEN):
        reason_of(queries, f"{number}")
    clock.seconds += OPEN_SECONDS
    assert reason_of(queries, "trial") == "embedding_error"
    assert reason_of(queries, "next") == "embedding_circuit_open"


def test_invalid_vectors_open_it_like_errors(make: Make) -> None:
    """A model that talks nonsense is as broken as one that does not talk."""
    queries = make(ScriptedEmbedder(lambda _: [[0.0] * DIMS]))
    for number in range(FAILURES_TO_OPEN):
        assert reason_of(queries, f"{number}") == "embedding_invalid"
    assert reason_of(queries, "open") == "embedding_circuit_open"


def test_an_open_breaker_still_answers_what_is_known(make: Make) -> None:
    """The cache does not need the model."""
    embedder = ScriptedEmbedder()
    queries = make(embedder)
    queries.embed_query("known")
    embedder.answer = raising(RuntimeError())
    for number in range(FAILURES_TO_OPEN):
        reason_of(queries, f"{number}")
    assert queries.circuit() == "open"
    assert queries.embed_query("known").cache == "hit"


# The end


def test_closing_answers_those_who_wait_and_those_who_come_later(make: Make, hanging: HangingEmbedder) -> None:
    """Nobody is left waiting; closing twice does no harm."""
    queries = make(hanging)
    with ThreadPoolExecutor(2) as people:
        people.submit(reason_of, queries, "running")
        assert hanging.entered.wait(BOUND_SECONDS)
        waiting = people.submit(queries.embed_query, "waiting")
        wait_until(lambda: len(queries._pending) == 2)
        queries.close()
        assert isinstance(waiting.exception(), EmbeddingFailure)
        hanging.cure()
    queries.close()
    assert reason_of(queries, "later") == "embedding_error"


def test_a_hung_model_does_not_keep_the_process_from_ending() -> None:
    """Its thread is given up with the process."""
    script = (
        "from tests.embedding.faulty import FakeClock, HangingEmbedder\n"
        "from app.embedding.query import BoundedQueryEmbedder\n"
        "from app.errors import EmbeddingFailure\n"
        "queries = BoundedQueryEmbedder(\n"
        "    HangingEmbedder(), FakeClock(), timeout_ms=50, cache_size=0, fold_case=True)\n"
        "try:\n    queries.embed_query('x')\n"
        "except EmbeddingFailure as failure:\n    print(failure.reason)\n"
        "queries.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "embedding_timeout"
