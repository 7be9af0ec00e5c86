"""Retrieval does not get worse: what became of each labelled question is held against what is committed."""

from __future__ import annotations

import json
import re

import pytest

from app.relevance import calibration_of
from bench.baseline import ASKED, Comparison, compare, fates, name, read
from bench.blocks import DOCUMENT
from bench.errors import measure
from bench.evaluation import Condition, Evaluation
from bench.questions import OLD_VERSION, SPLITS, Split, read_questions

RENEW = "if that is meant: python -m bench.calibrate --write && python -m bench.baseline --write"


@pytest.mark.parametrize("condition", ASKED)
@pytest.mark.parametrize("split", SPLITS)
def test_no_measure_falls_by_more_than_noise(evaluation: Evaluation, split: Split, condition: Condition) -> None:
    """Of the questions whose fate changed, not more turned bad than a fair coin would have it."""
    key = name(split, condition)
    worse = [str(entry) for entry in compare(key, read()[key], fates(evaluation, split, condition)) if entry.is_worse]
    assert not worse, f"{worse}; {RENEW}"


def test_committed_fates_are_of_the_committed_questions() -> None:
    """A question that was added or changed has a fate of its own."""
    committed = read()
    for split in SPLITS:
        asked = {question.id for question in read_questions(split)}
        assert all(committed[name(split, condition)].keys() == asked for condition in ASKED)


@pytest.mark.parametrize("split", SPLITS)
def test_no_answer_is_for_another_version_without_saying_so(evaluation: Evaluation, split: Split) -> None:
    """Asked with a version that a record does not hold for, it is left out or says does_not_apply."""
    questions = [question for question in read_questions(split) if question.kind == OLD_VERSION]
    assert questions
    outcomes = evaluation.ask(questions, "named")
    assert {outcome.question.id: outcome.wrong_versions for outcome in outcomes if outcome.wrong_versions} == {}
    for outcome in outcomes:
        violated = [entry.judgement.violated for entry in outcome.answers]
        assert violated == sorted(violated)


def test_calibration_is_of_the_shipped_model(evaluation: Evaluation) -> None:
    """Another model, or the same one used otherwise, would leave every search to the gate for words."""
    assert calibration_of(evaluation.model) is not None


def test_published_error_rates_are_what_is_measured(evaluation: Evaluation) -> None:
    """What the server says of itself is what its questions say: every rate, in every way of asking, in both halves."""
    calibration = calibration_of(evaluation.model)
    assert calibration
    for split in SPLITS:
        assert measure(split, evaluation, read_questions(split), calibration).rates() == calibration.measured[split]


def test_document_holds_the_measured_rates() -> None:
    """No block is empty, and the table of the test half is made of the published rates."""
    document = DOCUMENT.read_text("utf-8")
    blocks = re.findall(r"<!-- retrieval:([\w-]+) -->(.*?)<!-- /retrieval:\1 -->", document, re.DOTALL)
    assert blocks
    assert [name for name, content in blocks if "|" not in content] == []
    measured = json.loads((DOCUMENT.parents[1] / "app/calibration.json").read_text("utf-8"))["calibrations"][0][
        "measured"
    ]
    table = dict(blocks)["gate"].partition("Test questions")[2].partition("\n\nQuestions from")[0]
    for rate, share in measured["test"]["named"].items():
        row = next(line for line in table.splitlines() if line.startswith(f"| {rate.replace('_', ' ')} |"))
        assert f"{share:.3f} (" in row


@pytest.mark.parametrize(
    ("lost", "gained", "worse"), [(4, 0, False), (5, 0, True), (6, 3, False), (12, 3, True), (0, 9, False)]
)
def test_a_loss_within_noise_is_let_pass(lost: int, gained: int, worse: bool) -> None:
    """Four questions may turn by chance, five of five do not."""
    names = tuple("abcdefghijkl")
    assert Comparison("x", gained=names[:gained], lost=names[:lost]).is_worse == worse
