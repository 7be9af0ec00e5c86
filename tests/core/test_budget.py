"""The token budget."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.answers import SearchResponse
from app.applicability import judge_applicability, read_stack
from app.budget import fit_answer
from app.cards import search_card
from app.contract import TOKEN_BUDGET_MAX, TOKEN_BUDGET_MIN, Detail, count_tokens, serialise
from app.record import SLUG_MAX_CHARACTERS
from tests.core.records import make_published, make_record

FRAME = {
    "query_summary": "implementation · React",
    "retrieval": {
        "mode": "keyword_fallback",
        "degraded": True,
        "degraded_reason": "embedding_model_not_published",
        "total_candidates": 100,
        "technology_filter_fallback": False,
    },
    "suggestions": [],
}
PLAIN = {"mode": "hybrid", "degraded": False, "total_candidates": 20, "technology_filter_fallback": False}
STACK = read_stack(["React", "TypeScript"], {"React": "18.2"})


def cards(count: int, detail: Detail, text: str = "x") -> list[dict[str, Any]]:
    records = [
        make_record(
            f"record-number-{place}-".ljust(SLUG_MAX_CHARACTERS, "x"),
            title=f"Title {place} " + (text * 80)[:75],
            rationale=(f"Because {place} " + text * 900)[:900].ljust(60, "."),
            recommendation=(f"Set {place} " + text * 500)[:500].ljust(40, "."),
        )
        for place in range(count)
    ]
    return [search_card(make_published(r), judge_applicability(r.applies_to, STACK), detail) for r in records]


@settings(deadline=None, max_examples=60)
@given(
    st.integers(TOKEN_BUDGET_MIN, TOKEN_BUDGET_MAX),
    st.integers(0, 10),
    st.sampled_from([Detail.BRIEF, Detail.STANDARD]),
    st.sampled_from(["x", "é", "界", '"', "\\", "🙂"]),
)
def test_answer_never_costs_more_than_its_budget(budget: int, count: int, detail: Detail, text: str) -> None:
    """Whatever the records hold, the serialised answer keeps to the budget, says its cost and keeps its shape."""
    answer = fit_answer(FRAME, cards(count, detail, text), budget)
    assert count_tokens(serialise(answer)) == answer["retrieval"]["tokens_used"] <= budget
    assert bool(answer["results"]) == bool(count)
    SearchResponse.model_validate(answer)


def test_generous_budget_leaves_the_answer_whole() -> None:
    """Nothing is cut, dropped or said to be when everything fits."""
    whole = cards(2, Detail.BRIEF)
    answer = fit_answer(FRAME, whole, TOKEN_BUDGET_MAX)
    assert answer["results"] == whole
    assert (answer["retrieval"]["truncated"], answer["retrieval"]["dropped"]) == (False, [])


def test_record_gives_up_fields_before_it_is_dropped() -> None:
    """Between all and nothing a record loses its least needed fields, and names them."""
    answer = fit_answer(FRAME, cards(2, Detail.STANDARD), 1500)
    last = answer["results"][-1]
    assert answer["retrieval"]["truncated"]
    assert set(last["omitted"]) >= {"summary", "rationale"}
    assert all(last.get(field, []) == [] for field in ("rationale", *[f for f in last["omitted"] if f != "summary"]))


def test_dropped_records_are_named_in_rank_order() -> None:
    """What the budget left out can be fetched by name."""
    offered = cards(6, Detail.BRIEF)
    answer = fit_answer(FRAME, offered, 900)
    kept = [card["slug"] for card in answer["results"]]
    assert kept + answer["retrieval"]["dropped"] == [card["slug"] for card in offered]
    assert answer["retrieval"]["truncated"]


@pytest.mark.parametrize("detail", [Detail.BRIEF, Detail.STANDARD])
def test_smallest_budget_still_says_the_best_record(detail: Detail) -> None:
    """At the lowest budget the first record is there with the start of its recommendation."""
    answer = fit_answer(FRAME, cards(3, detail), TOKEN_BUDGET_MIN)
    assert [card["slug"] for card in answer["results"]] == [cards(1, detail)[0]["slug"]]
    assert answer["results"][0]["recommendation"]
    assert answer["results"][0]["omitted"] == ["all"]
    assert answer["retrieval"]["dropped"] == []


def test_readable_recommendation_is_worth_more_than_names_of_dropped_records() -> None:
    """When room is short, what to do is said at some length before other records are named."""
    answer = fit_answer({**FRAME, "retrieval": PLAIN}, cards(6, Detail.BRIEF), 320)
    assert len(answer["results"][0]["recommendation"]) >= 160


@pytest.mark.parametrize("budget", range(TOKEN_BUDGET_MIN, 700, 20))
def test_no_match_keeps_its_suggestions_in_any_budget(budget: int) -> None:
    """Near misses are given up one by one; what the caller can do is said to the end, and nothing counts as cut."""
    near = [{"slug": f"record-{n}", "title": "t" * 90, "reason": "r" * 70} for n in range(3)]
    hints = [
        "Not in the knowledge base: proceed from primary documentation and do not invent guidance.",
        "Report the gap.",
    ]
    frame = {
        "query_summary": "s" * 120,
        "retrieval": {**PLAIN, "mode": "no_match", "near_misses": near},
        "suggestions": hints,
    }
    answer = fit_answer(frame, [], budget)
    assert answer["suggestions"] == hints
    assert not answer["retrieval"]["truncated"]
    assert count_tokens(serialise(answer)) == answer["retrieval"]["tokens_used"] <= budget


def test_verdict_against_a_record_survives_cutting() -> None:
    """That a record does not apply is never cut away to make room."""
    record = make_record(rationale="r" * 900, recommendation="Set " + "r" * 490)
    judgement = judge_applicability(record.applies_to, read_stack(["Vue"], {"React": "15"}))
    card = search_card(make_published(record), judgement, Detail.STANDARD)
    answer = fit_answer(FRAME, [card], 330)
    assert [finding["verdict"] for finding in answer["results"][0]["applicability"]] == ["does_not_apply"]
