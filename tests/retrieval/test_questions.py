"""The labelled questions are sound: what they name exists, the halves share no need, and nothing was copied."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

import pytest

from app.contract import SearchRequest
from app.recordfile import read_record, record_paths
from bench.corpus import ROOT
from bench.questions import (
    ANSWERED,
    COMMANDS,
    ELSEWHERE,
    KINDS,
    MESSY,
    NEAR,
    OLD_VERSION,
    SPLITS,
    Split,
    read_questions,
)

RECORDS = {(record := read_record(path).record).slug: record for path in record_paths(ROOT / "records")}
QUESTIONS = {split: read_questions(split) for split in SPLITS}
EVERY = [question for questions in QUESTIONS.values() for question in questions]
ASKED = {question.id: question.text for question in EVERY}
# Two texts that share more of their groups of three letters than this say the same in nearly the same words.
ALIKE = 0.5


def test_there_are_enough_of_every_kind() -> None:
    """Four hundred at least, and of each kind some in both halves."""
    assert len(EVERY) >= 400
    for questions in QUESTIONS.values():
        assert {question.kind for question in questions} == set(KINDS)


def test_every_question_is_one_that_the_service_takes() -> None:
    """Ids are unique, texts are within the contract's limits, and so are technologies and versions."""
    assert [question_id for question_id, count in Counter(q.id for q in EVERY).items() if count > 1] == []
    for question in EVERY:
        SearchRequest(query=question.text, technologies=list(question.technologies), versions=dict(question.versions))


def test_labels_name_shipped_records() -> None:
    """A record that is gone is no answer any more."""
    named = {slug for question in EVERY for slug in (*question.answers, *question.also, *question.refuse)}
    assert named - RECORDS.keys() == set()


@pytest.mark.parametrize("split", SPLITS)
def test_every_kind_is_labelled_as_it_says(split: Split) -> None:
    """Kinds with an answer have one, the others have none, and an old version names what must not be handed out."""
    for question in QUESTIONS[split]:
        assert bool(question.answers) == (question.kind in (*ANSWERED, *MESSY)) or question.kind == OLD_VERSION
        assert question.kind not in (*NEAR, *COMMANDS, *ELSEWHERE) or not question.also
        assert (question.kind == OLD_VERSION) == bool(question.refuse)


def test_no_need_is_in_both_halves() -> None:
    """What is tuned on one half cannot have seen an answer of the other."""
    answers = {
        split: {slug for q in questions for slug in (*q.answers, *q.refuse)} for split, questions in QUESTIONS.items()
    }
    assert answers["dev"] & answers["test"] == set()
    assert answers["dev"] | answers["test"] == RECORDS.keys()


def test_no_question_is_a_symptom_of_its_record() -> None:
    """A record may not be found by its own words."""
    symptoms = {f"{slug}: {text}": text for slug, record in RECORDS.items() for text in record.symptoms}
    assert _alike(ASKED, symptoms) == []


def test_no_two_questions_are_nearly_the_same() -> None:
    """Each counts once."""
    assert [pair for pair in _alike(ASKED, ASKED) if pair[0] != pair[1]] == []


def test_no_question_is_in_the_banks_of_the_domain() -> None:
    """What the gate's domain model was fitted on is not what it is measured with; who says nothing says the same."""
    lines = [line for path in (ROOT / "bench/domain").glob("*.txt") for line in path.read_text("utf-8").splitlines()]
    asked = {question: text for question, text in ASKED.items() if len(text.split()) > 4}
    assert _alike(asked, dict(zip(lines, lines, strict=True))) == []


def _alike(asked: Mapping[str, str], texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names of the pairs whose groups of three letters overlap by more than ALIKE (Jaccard)."""
    grams = {name: _trigrams(text) for name, text in texts.items()}
    holders = defaultdict(list)
    for name, found in grams.items():
        for gram in found:
            holders[gram].append(name)
    pairs = []
    for question, text in asked.items():
        own = _trigrams(text)
        shared = Counter(name for gram in own for name in holders[gram])
        pairs += [(question, n) for n, both in shared.items() if both > ALIKE * (len(own) + len(grams[n]) - both)]
    return pairs


def _trigrams(text: str) -> frozenset[str]:
    plain = " ".join(re.findall(r"\w+", text.casefold()))
    return frozenset(plain[place : place + 3] for place in range(len(plain) - 2))
