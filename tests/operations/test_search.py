"""search_knowledge as an agent uses it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from app.answers import SearchResponse
from app.contract import count_tokens, serialise
from app.errors import InvalidInput
from app.operations import Services, call
from tests.databases import Database
from tests.operations.conftest import ModelQuestions

KEYS = "use-stable-keys-for-dynamic-react-lists"


def slugs(answer: dict[str, Any]) -> list[str]:
    return [result["slug"] for result in answer["results"]]


def test_example_of_the_contract_finds_the_react_keys_record_first(ask: Any) -> None:
    """The documented call gives the documented record."""
    answer = ask(
        "React list rows keep the wrong state after reordering",
        technologies=["React"],
        topic="implementation",
        max_results=3,
    )
    assert slugs(answer)[0] == KEYS
    assert answer["query_summary"] == "implementation · React"
    assert answer["retrieval"]["mode"] == "hybrid"
    assert len(answer["results"]) <= 3


@pytest.mark.parametrize(
    ("question", "technologies", "slug"),
    [
        ("what I typed into one row of the table ends up beside a different person once I sort it", ["React"], KEYS),
        (
            "the lock is gone although nobody released it, two workers did the same job",
            ["Redis"],
            "release-redis-locks-only-by-token",
        ),
        (
            "every other visitor has to wait while one request talks to a slow library",
            ["FastAPI"],
            "keep-blocking-calls-out-of-async-fastapi-routes",
        ),
        (
            "customers are billed twice when their phone loses signal while paying",
            [],
            "claim-idempotency-keys-before-doing-the-work",
        ),
    ],
)
def test_sentence_that_shares_few_words_finds_its_record(
    ask: Any, question: str, technologies: list[str], slug: str
) -> None:
    """A question in its asker's own words reaches the record by meaning."""
    assert slug in slugs(ask(question, technologies=technologies))[:3]


@pytest.mark.parametrize(
    "question",
    [
        "best sourdough hydration for a rye loaf",
        "who won the football match yesterday",
        "thanks, that was helpful!",
        "?!",
        "the of and",
    ],
)
def test_question_outside_the_knowledge_base_gets_no_match(ask: Any, question: str) -> None:
    """Nothing is returned for a question that no record answers, and the answer says what to do instead."""
    answer = ask(question)
    assert (answer["results"], answer["retrieval"]["mode"]) == ([], "no_match")
    assert answer["suggestions"]


def test_neighbour_of_a_question_comes_with_a_doubt(ask: Any) -> None:
    """What is near a question that no record answers says so, and what answers it for certain does not."""
    near = ask("where do I put the retry for a flaky cron job in the cluster", technologies=["Kubernetes"])
    assert near["results"]
    assert near["suggestions"] == ["Near the question, perhaps no answer to it: compare conditions before you act."]
    assert ask("React list rows keep the wrong state after reordering")["suggestions"] == []


def test_near_miss_says_what_it_lacked(ask: Any) -> None:
    """A record about what one uses something else for is named with that reason, and not handed out."""
    answer = ask("ngFor tears down the rows and their inputs on every refresh of the list", technologies=["Angular"])
    assert answer["retrieval"]["mode"] == "no_match"
    for miss in answer["retrieval"].get("near_misses", []):
        assert miss["reason"]


def test_records_that_came_close_are_noted_where_there_is_no_answer(ask: Any, shipped: Database) -> None:
    """What the caller is told as near is what the owner's report of gaps counts; an answer notes none."""
    questions = ("git stash what I have, switch to release/2.4 and pull", "sort the keys in en.json alphabetically")
    answers = [ask(question)["retrieval"] for question in questions]
    told = {tuple(miss["slug"] for miss in answer.get("near_misses", ())) for answer in answers}
    ask("React list rows keep the wrong state after reordering")
    with shipped.owner.connect() as connection:
        kept = connection.execute(text("SELECT mode, near FROM retrieval_event")).all()
    assert any(told)
    assert told <= {tuple(row.near) for row in kept}
    assert not [row for row in kept if row.near and row.mode != "no_match"]


def test_no_match_is_short(ask: Any) -> None:
    """Saying no costs little."""
    assert ask("best sourdough hydration for a rye loaf")["retrieval"]["tokens_used"] <= 220


def test_record_for_a_newer_version_never_outranks_one_that_applies(ask: Any) -> None:
    """React 15 is outside `>=16.8`: such records come last, and each says which constraint decided."""
    answer = ask("list rows keep the wrong state after reordering", versions={"React": "15.0"}, max_results=10)
    outside = [
        any(finding["verdict"] == "does_not_apply" for finding in result["applicability"])
        for result in answer["results"]
    ]
    assert outside == sorted(outside)
    keys = next(result for result in answer["results"] if result["slug"] == KEYS)
    assert {"technology": "React", "version": "15.0", "verdict": "does_not_apply", "constraint": ">=16.8"} in keys[
        "applicability"
    ]


def test_unknown_technology_is_searched_without_the_filter(ask: Any) -> None:
    """A filter that leaves nothing relevant is dropped, and that is said."""
    answer = ask("list rows keep the wrong state after reordering in React", technologies=["COBOL"])
    assert answer["retrieval"]["technology_filter_fallback"]


def test_technology_filter_leaves_other_technologies_out(ask: Any) -> None:
    """The words of the question fit a record about SQL as well: it is not said to somebody in React."""
    question = "text typed into a row shows up in another row once the table is sorted"
    assert {"SQL", "React"} <= {entry["name"] for result in ask(question)["results"] for entry in result["applies_to"]}
    answer = ask(question, technologies=["React"], max_results=10)
    assert not answer["retrieval"]["technology_filter_fallback"]
    for result in answer["results"]:
        verdicts = {finding["verdict"] for finding in result["applicability"]}
        assert verdicts & {"applies", "version_unknown", "built_on", "technology_agnostic"}


def test_same_question_gets_the_same_answer(ask: Any) -> None:
    """Nothing in an answer depends on when or how often it was asked."""
    first = ask("react effect runs twice in development", technologies=["React"], detail="standard")
    assert ask("react effect runs twice in development", technologies=["React"], detail="standard") == first


@pytest.mark.parametrize(
    "reason", ["embedding_timeout", "embedding_error", "embedding_circuit_open", "embedding_invalid"]
)
def test_lost_embedding_is_said_and_words_still_find(ask: Any, questions: ModelQuestions, reason: str) -> None:
    """Without a vector the answer is degraded, says why, and finds by words."""
    questions.failure = reason
    answer = ask("React list rows keep the wrong state after reordering", technologies=["React"])
    retrieval = answer["retrieval"]
    assert (retrieval["mode"], retrieval["degraded"], retrieval["degraded_reason"]) == (
        "keyword_fallback",
        True,
        reason,
    )
    assert slugs(answer)[0] == KEYS
    assert "embedding_provider" not in retrieval


def test_words_alone_can_say_no_too(ask: Any, questions: ModelQuestions) -> None:
    """The fallback does not call anything relevant."""
    questions.failure = "embedding_timeout"
    assert ask("best sourdough hydration for a rye loaf")["retrieval"]["mode"] == "no_match"


@pytest.mark.parametrize("detail", ["brief", "standard"])
@pytest.mark.parametrize("budget", [200, 260, 400, 700, 1200, 2500, 5000])
def test_answer_keeps_to_its_budget(ask: Any, detail: str, budget: int) -> None:
    """On real records too, from the smallest budget to the largest, with the best record always there."""
    answer = ask(
        "react rows state effect keys memo", technologies=["React"], max_results=10, detail=detail, token_budget=budget
    )
    assert count_tokens(serialise(answer)) == answer["retrieval"]["tokens_used"] <= budget
    assert answer["results"]
    SearchResponse.model_validate(answer)


def test_brief_card_carries_what_is_needed_before_acting(ask: Any) -> None:
    """Recommendation, scope, conditions and one source; the rest is named as left out."""
    card = ask("React list rows keep the wrong state after reordering", technologies=["React"])["results"][0]
    assert card["recommendation"]
    assert card["conditions"]
    assert len(card["sources"]) == 1
    assert card["omitted"] == ["exceptions", "pitfalls", "verification_checks"]
    assert "rationale" not in card


def test_statistics_keep_no_word_of_the_question(ask: Any, shipped: Database) -> None:
    """What is kept of a search names topic, technologies and outcome only."""
    ask("xylophone canary in a React list", technologies=["React", "xylophonecanary"], topic=["ux"])
    with shipped.owner.connect() as connection:
        rows = connection.execute(text("SELECT to_jsonb(retrieval_event) FROM retrieval_event")).scalars().all()
    assert rows
    assert "xylophone" not in json.dumps(rows)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "query"),
        ({"query": "x"}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": 5}, "query"),
        ({"query": ["list"]}, "query"),
        ({"query": None}, "query"),
        ({"query": " x "}, "query"),
        ({"query": " " * 2000 + "xx"}, "query"),
        ({"query": "nul\0byte"}, "query"),
        ({"query": "lone \ud800 surrogate"}, "query"),
        ({"query": "fine", "technologies": ["a"] * 11}, "technologies"),
        ({"query": "fine", "technologies": ["a" * 81]}, "technologies[0]"),
        ({"query": "fine", "technologies": [""]}, "technologies[0]"),
        ({"query": "fine", "technologies": ["a" + " " * 80]}, "technologies[0]"),
        ({"query": "fine", "technologies": [None]}, "technologies[0]"),
        ({"query": "fine", "technologies": {"a": 1}}, "technologies"),
        ({"query": "fine", "versions": {str(n): "1" for n in range(21)}}, "versions"),
        ({"query": "fine", "versions": {"React": 18}}, "versions"),
        ({"query": "fine", "versions": "18"}, "versions"),
        ({"query": "fine", "topic": "cooking"}, "topic[0]"),
        ({"query": "fine", "topic": ["ux", "data", "testing", "tooling"]}, "topic"),
        ({"query": "fine", "task_type": "cook"}, "task_type"),
        ({"query": "fine", "max_results": 0}, "max_results"),
        ({"query": "fine", "max_results": 11}, "max_results"),
        ({"query": "fine", "max_results": 10**30}, "max_results"),
        ({"query": "fine", "max_results": "3"}, "max_results"),
        ({"query": "fine", "max_results": True}, "max_results"),
        ({"query": "fine", "max_results": 2.5}, "max_results"),
        ({"query": "fine", "detail": "full"}, "detail"),
        ({"query": "fine", "token_budget": 199}, "token_budget"),
        ({"query": "fine", "token_budget": 5001}, "token_budget"),
        ({"query": "fine", "limit": 3}, "limit"),
    ],
)
def test_bad_argument_is_refused_by_name_and_never_repeated(
    services: Services, arguments: dict[str, Any], field: str
) -> None:
    """Each refusal names the field and its rule; nothing that was sent comes back."""
    with pytest.raises(InvalidInput) as refused:
        call(services, "search_knowledge", arguments)
    fields = refused.value.details["fields"]
    assert isinstance(fields, list)
    assert [entry["field"] for entry in fields] == [field]
    said = json.dumps(refused.value.envelope())
    assert not any(value in said for value in ("aaaa", "xxxx", "cook", "ud800", "fine"))


def test_tolerated_spellings_of_arguments_mean_the_same(ask: Any) -> None:
    """Arrays and objects that a client sends as JSON text are read as what they are."""
    plain = ask("rows keep state", technologies=["React"], versions={"React": "18.2"}, topic=["implementation"])
    sloppy = ask("rows keep state", technologies='["React"]', versions='{"React": "18.2"}', topic="implementation")
    assert sloppy == plain


def test_null_means_that_an_optional_argument_is_absent(ask: Any) -> None:
    """Clients that write every member of a form send null for what was left empty."""
    names = ("technologies", "versions", "topic", "task_type", "max_results", "detail", "token_budget")
    assert ask("rows keep state", **dict.fromkeys(names)) == ask("rows keep state")
