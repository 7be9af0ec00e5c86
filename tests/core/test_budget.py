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
from app.contract import (
    BRIEF_ANSWER_TOKENS,
    TOKEN_BUDGET_DEFAULT,
    TOKEN_BUDGET_MAX,
    TOKEN_BUDGET_MIN,
    Detail,
    SearchRequest,
    count_tokens,
    serialise,
)
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
    answer = fit_answer(FRAME, cards(2, Detail.STANDARD, "rows "), 1400)
    first, last = answer["results"]
    assert answer["retrieval"]["truncated"]
    assert "omitted" not in first
    assert "summary" not in last
    assert "rationale" not in last
    assert last["omitted"][:2] == ["verification_checks", "pitfalls"]
    assert all(last[field] == [] for field in last["omitted"])
    assert last["conditions"]


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
    near = [{"slug": f"record-{n}-" + "s" * 50, "reason": "r" * 70} for n in range(3)]
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


@pytest.mark.parametrize("budget", [TOKEN_BUDGET_MIN, 330])
def test_verdict_against_a_record_survives_cutting(budget: int) -> None:
    """That a record does not apply is never cut away to make room, however many technologies say so."""
    scope = [
        {"kind": "library", "name": name, "version_constraint": ">=2", "scheme": "npm"}
        for name in ("React", "Vue", "TypeScript", "Node.js", "Express", "ESLint")
    ]
    record = make_record(rationale="r " * 400, recommendation="Set " + "r " * 200, applies_to=scope)
    versions = {entry["name"]: "1.0.0" for entry in scope}
    judgement = judge_applicability(record.applies_to, read_stack([], versions))
    assert judgement.violated
    card = search_card(make_published(record), judgement, Detail.STANDARD)
    answer = fit_answer({**FRAME, "retrieval": PLAIN}, [card], budget)
    assert {finding["verdict"] for finding in answer["results"][0]["applicability"]} == {"does_not_apply"}
    assert count_tokens(serialise(answer)) <= budget


def test_name_that_leaves_no_room_is_said_without_a_card() -> None:
    """A slug that reads like a hash takes most of the smallest budget; it is named, and no promise is broken."""
    slug = "-".join("a1b2c3d4e5f6a7b8" for _ in range(4))[:SLUG_MAX_CHARACTERS].strip("-")
    card = search_card(make_published(make_record(slug)), None, Detail.BRIEF)
    answer = fit_answer(FRAME, [card], TOKEN_BUDGET_MIN)
    assert (answer["results"], answer["retrieval"]["dropped"]) == ([], [slug])
    assert count_tokens(serialise(answer)) == answer["retrieval"]["tokens_used"] <= TOKEN_BUDGET_MIN
    assert fit_answer(FRAME, [card], TOKEN_BUDGET_MIN + 60)["results"]


def test_answer_without_results_says_nothing_of_vectors() -> None:
    """What was done with the question's vector is of no use to a caller who got nothing."""
    retrieval = {**PLAIN, "mode": "no_match", "embedding_provider": "onnx", "embedding_cache": "miss"}
    answer = fit_answer({**FRAME, "retrieval": retrieval}, [], TOKEN_BUDGET_MAX)
    assert not {"embedding_provider", "embedding_cache"} & set(answer["retrieval"])


def test_suggestions_stay_while_a_record_fits_beside_them() -> None:
    """What is said about the results goes only when the first of them would go otherwise."""
    frame = {**FRAME, "suggestions": ["Every record found is for other versions than yours: see applicability."]}
    assert fit_answer(frame, cards(6, Detail.BRIEF), 900)["suggestions"] == frame["suggestions"]
    assert fit_answer(frame, cards(6, Detail.BRIEF), TOKEN_BUDGET_MIN)["suggestions"] == []


def test_technology_a_record_is_not_about_is_named_only_when_it_is_about_none() -> None:
    """Beside a verdict that says something, "not about" is left out; constraints that decided nothing are too."""
    published = make_published(make_record())

    def findings(technologies: list[str], **versions: str) -> Any:
        judgement = judge_applicability(published.record.applies_to, read_stack(technologies, versions))
        return search_card(published, judgement, Detail.BRIEF)["applicability"]

    assert findings(["React", "Redis"]) == [{"technology": "React", "verdict": "version_unknown"}]
    assert findings(["Redis"]) == [{"technology": "Redis", "verdict": "not_about"}]
    assert findings(["Redis"], React="18.2") == [
        {"technology": "React", "version": "18.2", "verdict": "applies", "constraint": ">=16.8"}
    ]


@pytest.mark.parametrize(
    ("arguments", "room"),
    [
        ({}, BRIEF_ANSWER_TOKENS),
        ({"max_results": 3}, BRIEF_ANSWER_TOKENS),
        ({"token_budget": 600}, 600),
        ({"token_budget": TOKEN_BUDGET_DEFAULT}, BRIEF_ANSWER_TOKENS),
        ({"token_budget": TOKEN_BUDGET_DEFAULT + 1}, TOKEN_BUDGET_DEFAULT + 1),
        ({"max_results": 6}, TOKEN_BUDGET_DEFAULT),
        ({"max_results": 6, "token_budget": 700}, 700),
        ({"detail": "standard"}, TOKEN_BUDGET_DEFAULT),
    ],
)
def test_brief_answer_is_short_unless_more_is_asked_for(arguments: dict[str, Any], room: int) -> None:
    """The default is a few records' worth; more results or a larger budget than the default lift that."""
    assert SearchRequest.model_validate({"query": "rows keep the wrong text", **arguments}).room == room
