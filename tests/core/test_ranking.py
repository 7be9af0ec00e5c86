"""Order, relevance and the wrong version."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.applicability import read_stack
from app.ports import Candidate, CandidatePool, EmbeddingModel, QueryEmbedding
from app.ranking import TAIL, Fate, Need, Ranked, choose_answers, decide_fates, least_margin, rank
from app.record import AppliesTo, Kind, TaskType, Topic
from app.relevance import Calibration, Domain, Gate, coverage
from app.versions import Scheme
from tests.core.records import make_candidate

MODEL = EmbeddingModel("a-model", "test", 2)
# The first number of a vector says how much the question is about software engineering.
CALIBRATION = Calibration(
    MODEL.model_id,
    (MODEL.revision,),
    hybrid=Gate(intercept=-3.0, cosine=5.0, coverage=5.0, domain=1.0, about=0.0, elsewhere=-0.5, rival=-3.0),
    words_only=Gate(intercept=-1.5, cosine=0.0, coverage=7.5, domain=0.0, about=1.0, elsewhere=-1.0, rival=-2.0),
    domain=Domain(0.0, (1.0, 0.0)),
    measured={},
)
INSIDE = QueryEmbedding(np.array([0.8, 0.6], dtype=np.float32), MODEL, "miss")
OUTSIDE = QueryEmbedding(np.array([-0.8, 0.6], dtype=np.float32), MODEL, "miss")
REACT = AppliesTo(kind=Kind.FRAMEWORK, name="React", version_constraint=">=16.8", scheme=Scheme.NPM)
REACT_OLD = AppliesTo(kind=Kind.FRAMEWORK, name="React", version_constraint="<16.8", scheme=Scheme.NPM)


def pool(*candidates: Candidate, frequency: dict[str, int] | None = None) -> CandidatePool:
    return CandidatePool(candidates, 100, frequency or {"key": 3}, ideal_words=10.0)


def judge(found: CandidatePool, need: Need, question: QueryEmbedding | None = INSIDE) -> list[Ranked]:
    return rank(found, need, question=question, calibration=CALIBRATION)


def order(found: CandidatePool, need: Need, question: QueryEmbedding | None = INSIDE) -> list[str]:
    return [entry.candidate.slug for entry in judge(found, need, question)]


def test_record_for_another_version_never_outranks_one_that_applies() -> None:
    """However well it matches, a record that is known not to hold comes last."""
    wrong = make_candidate("wrong", applies_to=(REACT,), cosine=0.99, words=9.0)
    right = make_candidate("right", applies_to=(REACT_OLD,), cosine=0.2, words=0.1)
    assert order(pool(wrong, right), Need(read_stack([], {"React": "15.0"}))) == ["right", "wrong"]


def test_topic_and_task_break_a_tie() -> None:
    """Of two equal records the one with the topic and task asked for comes first."""
    plain = make_candidate("a", topic=Topic.DATA)
    meant = make_candidate("b", topic=Topic.SECURITY, task_types=(TaskType.REVIEW,))
    need = Need(read_stack([], {}), topics=frozenset({Topic.SECURITY}), task_type=TaskType.REVIEW)
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
    assert with_unknown < with_common < alone < 0.5


def test_question_of_one_common_word_is_hardly_covered() -> None:
    """Whatever holds the only word of a question covers little: the question hardly says anything."""
    candidate = make_candidate("a", matched=frozenset({"key", "row", "reorder"}))
    one_word = coverage(candidate, pool(candidate, frequency={"key": 60}))
    three_rare = coverage(candidate, pool(candidate, frequency={"key": 2, "row": 3, "reorder": 1}))
    assert one_word < 0.1
    assert three_rare > 0.5


def test_nearest_of_nothing_is_not_relevant() -> None:
    """The best candidate of a question about something else does not clear the gate."""
    far = make_candidate("far", cosine=0.12, words=0.3, matched=frozenset())
    found = pool(far, frequency={"sourdough": 0, "hydration": 0, "rye": 0})
    assert not judge(found, Need(read_stack([], {})))[0].relevant


def test_words_alone_need_more_of_the_question() -> None:
    """Without a vector a single shared word is not enough, all of them are."""
    frequency = {"key": 3, "row": 4, "reorder": 2, "state": 9}
    one = make_candidate("one", cosine=None, matched=frozenset({"key"}))
    all_of_them = make_candidate("all", cosine=None, matched=frozenset(frequency))
    relevant = {
        entry.candidate.slug
        for entry in judge(pool(one, all_of_them, frequency=frequency), Need(read_stack([], {})), None)
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
    question = INSIDE if with_model else None
    first = order(pool(*candidates), need, question)
    assert sorted(first) == sorted(c.slug for c in candidates)
    assert order(pool(*reversed(candidates)), need, question) == first


def test_records_far_behind_the_surest_are_left_out() -> None:
    """A record that only just passes the gate is not said beside one that clearly answers, unless nothing else is."""
    sure = make_candidate("sure", cosine=0.9, matched=frozenset({"key"}))
    close = make_candidate("close", cosine=0.85, matched=frozenset({"key"}))
    barely = make_candidate("barely", cosine=0.5, matched=frozenset())
    need = Need(read_stack([], {}))
    everyone = judge(pool(sure, close, barely), need)
    assert [entry.candidate.slug for entry in choose_answers(everyone, 5)] == ["sure", "close"]
    assert [entry.candidate.slug for entry in choose_answers(everyone, 1)] == ["sure"]
    assert [entry.candidate.slug for entry in choose_answers(judge(pool(barely), need), 5)] == ["barely"]
    assert choose_answers([], 5) == ()


def test_question_about_something_else_gets_no_answer() -> None:
    """The same similarity to one record means less when the question is not about software engineering."""
    candidate = make_candidate("near", cosine=0.5, matched=frozenset())
    need = Need(read_stack([], {}))
    assert judge(pool(candidate), need, INSIDE)[0].relevant
    assert not judge(pool(candidate), need, OUTSIDE)[0].relevant


def test_record_about_what_the_caller_uses_something_else_for_is_no_answer() -> None:
    """What one does in React says little to someone in Angular; a record about Prometheus only needs a clearer case."""
    react = make_candidate("react", applies_to=(AppliesTo(kind=Kind.LIBRARY, name="React"),), cosine=0.6)
    metrics = make_candidate("metrics", applies_to=(AppliesTo(kind=Kind.TOOL, name="Prometheus"),), cosine=0.6)
    need = Need(read_stack(["Angular"], {}))
    margins = {entry.candidate.slug: entry.margin for entry in judge(pool(react, metrics), need)}
    alone = judge(pool(react), Need(read_stack([], {})))[0].margin
    assert margins["react"] < 0.0 < margins["metrics"] < alone


def test_technology_in_the_text_helps_to_find_and_is_not_judged() -> None:
    """A question that mentions React finds what is about React; of what the caller works with nothing is said."""
    candidates = pool(make_candidate("agnostic"), make_candidate("react", applies_to=(REACT,)))
    ranked = judge(candidates, Need(read_stack([], {}), mentioned=("react",)))
    assert [entry.candidate.slug for entry in ranked] == ["react", "agnostic"]
    assert all(entry.judgement.findings == () for entry in ranked)


def test_another_revision_of_the_model_goes_by_words() -> None:
    """Cosines of weights that were never calibrated have no known scale."""
    candidate = make_candidate("a", cosine=0.99, matched=frozenset())
    stranger = QueryEmbedding(INSIDE.vector, EmbeddingModel("all-MiniLM-L6-v2", "another", 2), "miss")
    entry = rank(pool(candidate), Need(read_stack([], {})), question=stranger)[0]
    assert entry.signals.domain is None
    assert not entry.relevant


def test_score_is_the_sum_of_its_parts() -> None:
    """Each leg's share and each bonus is kept; without a vector the words have the whole share."""
    meant = make_candidate("b", topic=Topic.SECURITY, task_types=(TaskType.REVIEW,), applies_to=(REACT,), phrase=0.5)
    need = Need(read_stack(["React"], {}), topics=frozenset({Topic.SECURITY}), task_type=TaskType.REVIEW)
    for question in (INSIDE, None):
        entry = judge(pool(meant), need, question)[0]
        parts = entry.parts
        assert min(parts.words, parts.technology, parts.topic, parts.task, parts.phrase) > 0
        assert (parts.meaning > 0) == (question is not None)
        legs = parts.words + parts.meaning
        assert abs(legs - 1.0) < 1e-9
        assert abs(entry.score - (legs + parts.technology + parts.topic + parts.task + parts.phrase)) < 1e-9
        assert entry.margin == entry.gate.margin(entry.signals)


def test_every_candidate_has_a_fate_and_the_chosen_are_the_answers() -> None:
    """What is said about why a record is not answered is what decided it."""
    metrics = AppliesTo(kind=Kind.TOOL, name="Prometheus")
    candidates = [
        make_candidate("a-sure", cosine=0.9, applies_to=(REACT,), words=4.0),
        make_candidate("b-as-sure", cosine=0.88, applies_to=(REACT,), words=3.0),
        make_candidate("c-elsewhere", cosine=0.89, applies_to=(metrics,), words=2.0),
        make_candidate("d-behind", cosine=0.6, applies_to=(REACT,), words=1.0),
        make_candidate("e-below", cosine=0.1, matched=frozenset(), words=0.5),
    ]
    ranked = judge(pool(*candidates), Need(read_stack(["React"], {"React": "18"})))
    fates = {entry.candidate.slug: fate for entry, fate in zip(ranked, decide_fates(ranked, 1), strict=True)}
    assert fates == {
        "a-sure": Fate.CHOSEN,
        "b-as-sure": Fate.BEYOND_MAX_RESULTS,
        "c-elsewhere": Fate.OTHER_TECHNOLOGIES,
        "d-behind": Fate.BEHIND_SUREST,
        "e-below": Fate.BELOW_GATE,
    }
    assert [entry.candidate.slug for entry in choose_answers(ranked, 1)] == ["a-sure"]
    assert least_margin(ranked) == max(entry.margin for entry in ranked) - TAIL
    assert decide_fates([], 5) == []
