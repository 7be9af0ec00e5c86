"""Questions as they are pasted: search_knowledge answers every legal one, inside the budget and always alike."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.contract import (
    BRIEF_ANSWER_TOKENS,
    QUERY_MAX_CHARACTERS,
    QUERY_MIN_CHARACTERS,
    TOKEN_BUDGET_MAX,
    TOKEN_BUDGET_MIN,
    count_tokens,
    serialise,
)
from app.embedding.onnx import OnnxEmbedder
from app.embedding.query import BoundedQueryEmbedder
from app.errors import InvalidInput
from app.operations import Services, call
from app.runtime import SystemClock

KEYS = "use-stable-keys-for-dynamic-react-lists"
ASKED = "React list rows keep the wrong state after reordering"
FRAME = "    at renderWithHooks (webpack-internal:///./node_modules/react-dom/cjs/react-dom.development.js:{n}:18)\n"
CODE = "function a(b,c){return b?c.map((d,e)=>({k:e,v:d})):null}var f=[],g={h:!0,i:void 0};"

MESSY = {
    "emoji": "\N{GRINNING FACE}" * 2000,
    "emoji apart": "\N{GRINNING FACE} " * 1000,
    "joined emoji": "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER} " * 500,
    "ideographs": "\u7f13\u5b58\u5931\u6548" * 500,
    "syllables": ("\uac01" * 30 + " ") * 64,
    "right to left": "\u05de\u05d3\u05d5\u05e2 \u05d4\u05e8\u05e9 \u0644\u0645\u0627\u0630\u0627 " * 130,
    "right to left marks": "\u202eReact\u202c \u2067list\u2069 \u200fkeys\u200e " * 80,
    "combining marks": ("e" + "\u0323\u0302\u0308" * 5) * 120,
    "long when folded": "\ufb03\u0130\u00df" * 660,
    "punctuation": "?!.,;:" * 333,
    "quotes for SQL": "';--\"\\%_:a $1 {} " * 110,
    "one word": "a" * 2000,
    "one identifier": "getElementByHTTPRequestId_" * 76,
    "base64": base64.b64encode(random.Random(1).randbytes(1500)).decode(),  # noqa: S311 - a sample, not a secret
    "minified code": (CODE * 30)[:2000],
    "colours": "\x1b[31mError:\x1b[0m \x1b[1mfailed\x1b[22m to compile\n" * 40,
    "Windows line ends": "Error: it failed\r\n    at handle (file.js:1:1)\r\n" * 40,
    "tabs": "\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n" * 50,
    "control characters": "".join(map(chr, [*range(1, 32), *range(127, 160)])) * 21 + "x",
    "not characters": "\ufffe\uffff\U0010ffff\ue000 x" * 300,
    "other separators": "a\u2028b\u2029c\x85d\x0be\x0cf\xa0g\u3000h" * 130,
}

LEGAL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=QUERY_MAX_CHARACTERS)


@pytest.fixture(scope="module")
def bounded(model: OnnxEmbedder) -> Iterator[BoundedQueryEmbedder]:
    """Embed as the server does, with time for a machine under test."""
    questions = BoundedQueryEmbedder(model, SystemClock(), timeout_ms=30_000, cache_size=0, fold_case=True)
    yield questions
    questions.close()


@pytest.fixture
def served(services: Services, bounded: BoundedQueryEmbedder) -> Services:
    return replace(services, embedder=bounded)


def check(services: Services, question: str, **arguments: Any) -> dict[str, Any]:
    """Ask twice; the answers are equal, inside the budget, and nothing failed."""
    asked = {"query": question, **arguments}
    answer = call(services, "search_knowledge", asked)
    assert call(services, "search_knowledge", asked) == answer
    assert count_tokens(serialise(answer)) <= arguments.get("token_budget", BRIEF_ANSWER_TOKENS)
    assert answer["retrieval"].get("degraded_reason") in (None, "question_truncated")
    return answer


@settings(deadline=None, max_examples=50, suppress_health_check=list(HealthCheck))
@given(question=LEGAL, budget=st.sampled_from([TOKEN_BUDGET_MIN, 1000, TOKEN_BUDGET_MAX]))
def test_any_text_of_legal_length_is_answered(served: Services, question: str, budget: int) -> None:
    """Or refused as too short or too long once it is cleaned, which the caller is told."""
    try:
        check(served, question, token_budget=budget)
    except InvalidInput:
        cleaned = len(question.strip())
        assert cleaned < QUERY_MIN_CHARACTERS or not question.isascii()


@pytest.mark.parametrize("question", MESSY.values(), ids=MESSY)
def test_what_people_paste_is_answered(served: Services, question: str) -> None:
    """With technologies named and without."""
    assert QUERY_MIN_CHARACTERS <= len(question) <= QUERY_MAX_CHARACTERS
    check(served, question)
    check(served, question, technologies=["React"], versions={"React": "18.2"}, detail="standard", token_budget=2000)


@pytest.mark.parametrize("name", ["ideographs", "emoji apart", "syllables", "punctuation"])
def test_a_question_that_is_not_seen_whole_says_so(served: Services, name: str) -> None:
    """Recall is reduced, and the caller knows why."""
    retrieval = check(served, MESSY[name])["retrieval"]
    assert (retrieval["degraded"], retrieval["degraded_reason"]) == (True, "question_truncated")


@pytest.mark.parametrize("noise", ["frames", "colours", "Windows line ends"])
@pytest.mark.parametrize("place", ["before", "behind"])
def test_a_question_is_found_beside_what_was_pasted(served: Services, noise: str, place: str) -> None:
    """The record that answers it comes first, though most of the text is something else."""
    pasted = "".join(FRAME.format(n=n) for n in range(1000, 1017)) if noise == "frames" else MESSY[noise][:1700]
    question = f"{ASKED}\n\n{pasted}" if place == "before" else f"{pasted}\n\n{ASKED}"
    answer = check(served, question, technologies=["React"])
    assert not answer["retrieval"]["degraded"]
    assert answer["results"][0]["slug"] == KEYS


def test_line_ends_colours_and_tabs_do_not_change_what_is_found(served: Services) -> None:
    """They are no words."""
    plain = f"{ASKED}\nwhy is that\nand what can I do"
    found = [result["slug"] for result in check(served, plain)["results"]]
    for spelt in (plain.replace("\n", "\r\n"), plain.replace("\n", "\n\t")):
        assert [result["slug"] for result in check(served, spelt)["results"]] == found
