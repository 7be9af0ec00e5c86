"""Order, relevance and the wrong version."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.applicability import read_stack
from app.ports import Candidate, CandidatePool, EmbeddingModel
from app.ranking import Need, choose_answers, rank
from app.record import AppliesTo, Kind, TaskType, Topic
from app.relevance import coverage
from app.versions import Scheme
from tests.core.records import make_candidate

MODEL = EmbeddingModel("all-MiniLM-L6-v2", "test", 384)
REACT = AppliesTo(kind=Kind.FRAMEWORK, name="React", version_constraint=">=16.8", scheme=Scheme.NPM)
REACT_OLD = AppliesTo(kind=Kind.FRAMEWORK, name="React", version_constraint="<16.8", scheme=Scheme.NPM)


def pool(*candidates: Candidate, frequency: dict[str, int] | None = None) -> CandidatePool:
    return CandidatePool(candidates, 100, frequency or {"key": 3}, ideal_words=10.0, background=0.15)


def order(found: CandidatePool, need: Need, model: EmbeddingModel | None = MODEL) -> list[str]:
    return [entry.candidate.slug for entry in rank(found, need, model=model)]


def test_record_for_another_version_never_outranks_one_that_applies() -> None:
    """However well it matches, a record that is known not to hold comes last."""
    wrong = make_candidate("wrong", applies_to=(REACT,), cosine=0.99, words=9.0)
    right = make_candidate("right", applies_to=(REACT_OLD,), cosine=0.2, words=0.1)
    assert order(pool(wrong, right), Need(read_stack([], {"React": "15.0"}))) == ["right", "wrong"]


def test_topic_and_task_break_a_tie() -> None:
    """Of two equal records the one with the topic and task asked for comes first."""
    plain = make_candidate("a", topic=Topic.DATA)
    meant = make_candidate("b", topic=Topic.SECURITY, task_types=(TaskType.REVIEW,))
    need = Need(read_stack([], {}), frozenset({Topic.SECURITY}), TaskType.REVIEW)
    assert order(pool(plain, meant), need) == ["b", "a"]


def test_named_technology_outranks_an_agnostic_record() -> None:
    """A record about the caller's technology comes before an equally similar one about none."""
    candidates = pool(make_candidate("agnostic"), make_candidate("react", applies_to=(REACT,)))
    assert order(candidates, Need(read_stack(["React"], {"React": "18"}))) == ["react", "agnostic"]


def test_unknown_words_count_against_a_record_in_full() -> None:
    """A word no record holds lowers coverage more than a common word that is missing."""
    candidate = make_candidate("a", matched=frozenset({"key"}))
    alone = coverage(candidate, pool(candidate, frequency={"key": 3}))
    with_unknown = coverage(candidate, pool(candidate, frequency={"key": 3, "sourdough": 0}))
    with_common = coverage(candidate, pool(candidate, frequency={"key": 3, "list": 60}))
    assert alone == 1.0
    assert with_unknown < 0.5 < with_common


def test_nearest_of_nothing_is_not_relevant() -> None:
    """The best candidate of a question about something else does not clear the gate."""
    far = make_candidate("far", cosine=0.12, words=0.3, matched=frozenset())
    entry = rank(
        pool(far, frequency={"sourdough": 0, "hydration": 0, "rye": 0}), Need(read_stack([], {})), model=MODEL
    )[0]
    assert not entry.relevant


def test_words_alone_need_more_of_the_question() -> None:
    """Without a vector a single shared word is not enough, all of them are."""
    frequency = {"key": 3, "row": 4, "reorder": 2, "state": 9}
    one = make_candidate("one", cosine=None, matched=frozenset({"key"}))
    all_of_them = make_candidate("all", cosine=None, matched=frozenset(frequency))
    relevant = {
        entry.candidate.slug
        for entry in rank(pool(one, all_of_them, frequency=frequency), Need(read_stack([], {})), model=None)
        if entry.relevant
    }
    assert relevant == {"all"}


signals = st.tuples(st.none() | st.floats(0, 20), st.none() | st.floats(-1, 1))


@given(st.lists(signals, max_size=12), st.booleans())
def test_ranking_is_total_and_repeatable(values: list[tuple[float | None, float | None]], with_model: bool) -> None:
    """Any signals give every candidate one place, the same each time and whatever order they came in."""
    candidates = [
        make_candidate(f"s{place}", words=words, cosine=cosine) for place, (words, cosine) in enumerate(values)
    ]
    need = Need(read_stack(["React"], {}))
    model = MODEL if with_model else None
    first = order(pool(*candidates), need, model)
    assert sorted(first) == sorted(c.slug for c in candidates)
    assert order(pool(*reversed(candidates)), need, model) == first


def test_records_far_behind_the_surest_are_left_out() -> None:
    """A record that only just passes the gate is not said beside one that clearly answers, unless nothing else is."""
    sure = make_candidate("sure", cosine=0.9, matched=frozenset({"key"}))
    close = make_candidate("close", cosine=0.85, matched=frozenset({"key"}))
    barely = make_candidate("barely", cosine=0.62, matched=frozenset())
    need = Need(read_stack([], {}))
    everyone = rank(pool(sure, close, barely), need, model=MODEL)
    assert [entry.candidate.slug for entry in choose_answers(everyone, 5)] == ["sure", "close"]
    assert [entry.candidate.slug for entry in choose_answers(everyone, 1)] == ["sure"]
    assert [entry.candidate.slug for entry in choose_answers(rank(pool(barely), need, model=MODEL), 5)] == ["barely"]
    assert choose_answers([], 5) == ()


def test_question_far_from_the_whole_subject_gets_no_answer() -> None:
    """The same similarity to one record means less when the question is far from all of them."""
    candidate = make_candidate("near", cosine=0.42, matched=frozenset())
    need = Need(read_stack([], {}))
    inside = replace(pool(candidate), background=0.16)
    outside = replace(pool(candidate), background=0.02)
    assert rank(inside, need, model=MODEL)[0].relevant
    assert not rank(outside, need, model=MODEL)[0].relevant


def test_record_about_another_technology_needs_a_clearer_case() -> None:
    """Where none about the caller's technologies answers, another must pass by more than a hair."""
    only_just = make_candidate("foreign", cosine=0.28, matched=frozenset())
    ranked = rank(pool(only_just), Need(read_stack([], {})), model=MODEL)
    assert 0 < ranked[0].margin < 0.8
    assert choose_answers(ranked, 5)
    assert not choose_answers(ranked, 5, least=0.8)
