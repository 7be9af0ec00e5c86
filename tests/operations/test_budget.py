"""What answers over the shipped records cost those who read them, by tokenizers that models use."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.contract import TOKEN_BUDGET_MAX, TOKEN_BUDGET_MIN, count_tokens, serialise
from app.embedding.onnx import OnnxEmbedder
from app.operations import OPERATIONS, Services, call
from app.store.catalogue import PostgresCatalogue
from app.transports.mcp import SERVED_VERSIONS
from bench.tokenizers import real_tokenizers
from bench.tokens import tools_list
from tests.core.records import make_record
from tests.databases import DatabaseServer

QUESTIONS = [
    ("React list rows keep the wrong state after reordering", ["React"]),
    ("whatever I wrote into a line of the table ends up beside a different person once I sort it", ["React"]),
    ("the lock is gone although nobody released it, two workers did the same job", ["Redis"]),
    ("every other visitor has to wait while one request talks to a slow library", ["FastAPI"]),
    ("customers are billed twice when their phone loses signal while paying", ["HTTP"]),
    ("add a not null column to a big table without downtime", ["PostgreSQL"]),
    ("docker image is huge because of build tools", ["Docker"]),
    ("pod is OOMKilled although the node has memory left", ["Kubernetes"]),
    ("screen reader does not announce the error under my form field", ["HTML", "ARIA"]),
    ("JWT verified with the wrong algorithm", ["Python"]),
    ("retry a failed HTTP request without hammering the server", ["HTTP"]),
    ("GitHub Actions workflow can be attacked through a pull request title", ["GitHub Actions"]),
    ("react rows state effect keys memo", ["React", "TypeScript", "Node.js"]),
    ("best sourdough hydration for a rye loaf", []),
]
ELSEWHERE = ("best sourdough hydration for a rye loaf", "who won the football match yesterday", "?!")
O200K = real_tokenizers()[0]


def overruns(answer: dict[str, Any], budget: int) -> dict[str, int]:
    """Return the tokenizers that make more of an answer than its budget."""
    text = serialise(answer)
    counts = {"ours": count_tokens(text)} | {real.name: real.count(text) for real in real_tokenizers()}
    return {name: count for name, count in counts.items() if count > budget}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    question=st.sampled_from(QUESTIONS),
    budget=st.integers(TOKEN_BUDGET_MIN, TOKEN_BUDGET_MAX) | st.integers(TOKEN_BUDGET_MIN, 500),
    results=st.integers(1, 10),
    detail=st.sampled_from(["brief", "standard"]),
    version=st.sampled_from([None, "0.1", "99.0", "18.2"]),
)
def test_no_answer_takes_more_real_tokens_than_its_budget(
    services: Services,
    question: tuple[str, list[str]],
    budget: int,
    results: int,
    detail: str,
    version: str | None,
) -> None:
    """Over the shipped records, whatever is asked for, models of two families read no more than was asked for."""
    text, technologies = question
    arguments = {"technologies": technologies, "token_budget": budget, "max_results": results, "detail": detail}
    if version:
        arguments["versions"] = dict.fromkeys(technologies, version)
    answer = call(services, "search_knowledge", {"query": text, **arguments})
    assert overruns(answer, budget) == {}
    assert answer["retrieval"]["tokens_used"] == count_tokens(serialise(answer))


@pytest.fixture(scope="session")
def dense(database_server: DatabaseServer, model: OnnxEmbedder) -> Iterator[PostgresCatalogue]:
    """Lend a knowledge base whose records hold what tokenizers make most of."""
    letters = random.Random(7)  # noqa: S311 - a sample, not a secret
    pieces = {
        "ideographs": "鱻龘麤靐齉爩 ",
        "emoji": "👩‍👩‍👧‍👦🏳️‍🌈🇩🇪 ",
        "base64": base64.b64encode(letters.randbytes(300)).decode(),
        "hashes": letters.randbytes(300).hex(),
        "symbols": "~`!@#$%^&*()_+-={}[]|:;<>?,./ ",
        "identifiers": "getElementByIdOrThrowIfMissingOrAmbiguous org.example.client.RetryTemplateConfiguration ",
        "code": "for(let i=0;i<n;++i){a[i]??=(x=>x**2)(i)|0;}\n",
    }
    with database_server.clone() as lent:
        lent.publish(*[_record(name, piece) for name, piece in pieces.items()], embedder=model)
        yield PostgresCatalogue(lent.server)


def _record(name: str, piece: str) -> Any:
    text = (f"Set the key of each row ({name}): " + piece * 200)[:500].strip()
    bullets = [f"{number} {text}"[:190].strip() for number in range(4)]
    return make_record(
        f"use-stable-keys-{name}",
        title=" ".join(text[:80].split()),
        recommendation=text,
        rationale=text,
        conditions=bullets,
        pitfalls=bullets,
        verification_checks=bullets,
    )


@pytest.mark.parametrize("detail", ["brief", "standard"])
@pytest.mark.parametrize("budget", [200, 230, 300, 450, 700, 1050, 1700, 2500, 5000])
def test_dense_records_keep_to_the_budget_too(
    services: Services, dense: PostgresCatalogue, detail: str, budget: int
) -> None:
    """Ideographs, emoji, base64, hashes, symbols, long identifiers and code, read back from the store."""
    question = {"query": "rows keep the wrong text, unique key prop warning", "technologies": ["React"]}
    arguments = {**question, "max_results": 10, "detail": detail, "token_budget": budget}
    answer = call(replace(services, catalogue=dense), "search_knowledge", arguments)
    assert answer["results"]
    assert overruns(answer, budget) == {}


def test_typical_brief_answer_is_short(ask: Any) -> None:
    """With nothing said about size, an answer takes well under 850 tokens, and most take under 600."""
    costs = sorted(O200K.count(serialise(ask(text, technologies=names))) for text, names in QUESTIONS)
    assert costs[-1] < 850
    assert costs[len(costs) // 2] < 600


@pytest.mark.parametrize("question", ELSEWHERE)
def test_saying_no_is_short(ask: Any, question: str) -> None:
    """Under 90 tokens, and it still says what no match means and what to do."""
    answer = ask(question)
    assert "near_misses" not in answer["retrieval"]
    assert O200K.count(serialise(answer)) < 90
    assert answer["suggestions"][0].startswith("Not in the knowledge base")


def test_brief_answer_names_the_records_it_has_no_room_for(ask: Any) -> None:
    """What a brief answer leaves out can be fetched by name, and more is shown to those who ask for more."""
    query = {"query": "react rows state effect keys memo", "technologies": ["React"]}
    brief, wide = ask(**query), ask(**query, max_results=6)
    shown, named = [card["slug"] for card in brief["results"]], brief["retrieval"]["dropped"]
    assert brief["retrieval"]["truncated"] == bool(named)
    assert shown + named == [card["slug"] for card in wide["results"]][: len(shown + named)]


@pytest.mark.parametrize("version", SERVED_VERSIONS)
def test_list_of_tools_is_short_in_every_era(version: str) -> None:
    """Under 900 tokens in each version of the protocol; a model learns when to use which, and what no_match means."""
    text = tools_list(version)
    assert O200K.count(text) < 900
    for words in ("before you choose", "no_match", "do not invent", "before you act on a brief result"):
        assert words in text
    assert text.count('"inputSchema":') == len(OPERATIONS)
