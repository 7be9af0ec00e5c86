"""The token count, held against tokenizers that models use: no answer costs more than it says."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import random
import string
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.applicability import judge_applicability, read_stack
from app.budget import fit_answer
from app.cards import guidance_card, search_card
from app.contract import TOKEN_BUDGET_MAX, TOKEN_BUDGET_MIN, Detail, count_tokens, serialise
from app.record import SLUG_MAX_CHARACTERS, Record
from app.recordfile import read_record, record_paths
from bench.tokenizers import Tokenizer, real_tokenizers
from tests.core.records import SOURCE, make_published, make_record

ROOT = Path(__file__).resolve().parents[2]
STACK = read_stack(["React", "TypeScript"], {"React": "18.2"})
FRAME = {
    "query_summary": "implementation · React, TypeScript",
    "retrieval": {
        "mode": "hybrid",
        "degraded": True,
        "degraded_reason": "partial_embeddings",
        "embedding_provider": "onnx",
        "embedding_cache": "miss",
        "total_candidates": 100,
        "technology_filter_fallback": True,
    },
    "suggestions": ["Every record found is for other versions than yours: see applicability."],
}
WORDS = [
    "user",
    "session",
    "request",
    "handler",
    "parse",
    "default",
    "idempotency",
    "configuration",
    "a",
    "to",
    "of",
    "id",
]
SNIPPETS = [
    "const rows = items.map((item) => <li key={item.id}>{item.name}</li>);\n",
    "SELECT pg_advisory_xact_lock(hashtext($1)), COUNT(*) FILTER (WHERE n > 0) FROM t;\n",
    "for i, x in enumerate(xs):\n        total += x[i] ** 2 if x else -1  # noqa\n",
    r"^(?:[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9-]+)*)@\[\d{1,3}\]$",
    "x-go-name: \t0x37f00000380, 0b1010, 1e-9, 3.14159;\n",
    '{"a":[1,2,[3,{"b":null}]],"c":"\\u2028\\n"}',
]


def noise(seed: int, size: int) -> bytes:
    """Return bytes as random as those of a hash; what shrinks to zeros would be no key and no address."""
    return hashlib.shake_256(str(seed).encode()).digest(size)


emoji = st.characters(min_codepoint=0x1F300, max_codepoint=0x1FAFF)
ideographs = st.characters(min_codepoint=0x3041, max_codepoint=0x9FFF)
anything_but_letters = st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters=string.ascii_letters)
# Each gives a piece that a field is filled with by repetition.
TEXTS = st.one_of(
    st.permutations(WORDS).map(" ".join),
    st.permutations(WORDS).map("_".join),
    st.permutations(WORDS).map(lambda words: "".join(map(str.capitalize, words))),
    st.permutations(WORDS).map(lambda words: "_".join(words).upper()),
    st.integers().map(lambda seed: base64.b64encode(noise(seed, 300)).decode()),
    st.integers().map(lambda seed: noise(seed, 64).hex()),
    st.integers().map(lambda seed: f"{uuid.UUID(bytes=noise(seed, 16))}, "),
    st.integers(0, 10**18).map(lambda number: f"{number} "),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: f"{number}; "),
    st.integers().map(lambda seed: f"{ipaddress.IPv6Address(noise(seed, 16))} "),
    st.sampled_from(SNIPPETS),
    st.text(emoji, min_size=5, max_size=60),
    st.sampled_from(["👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣"]),
    st.text(ideographs, min_size=5, max_size=60),
    st.text(string.punctuation + " ", min_size=5, max_size=60),
    st.text(anything_but_letters, min_size=5, max_size=60),
)


def filled(piece: str, low: int, high: int) -> str:
    """Return text of a field's length that is all made of a piece."""
    text = (piece * (high // len(piece) + 1))[:high].strip()
    return text if len(text) >= low else text.ljust(low, "+")


def record_of(piece: str, place: int) -> Record:
    """Return a record that is as large as records get and says nothing but this."""
    bullets = [f"{number} {filled(piece, 20, 196)}" for number in range(4)]
    source = SOURCE | {"title": filled(piece, 3, 160), "evidence_excerpt": filled(piece, 20, 300)}
    return make_record(
        f"record-{place}-" + "use-stable-keys-for-dynamic-lists-where-rows-can-move",
        title=" ".join(f"Title {filled(piece, 10, 82)}".split()),
        summary=filled(piece, 40, 300),
        recommendation=filled(piece, 40, 500),
        rationale=filled(piece, 60, 900),
        conditions=bullets,
        exceptions=bullets,
        pitfalls=bullets,
        verification_checks=bullets,
        examples=filled(piece, 40, 1500),
        sources=[source | {"url": f"https://example.org/{number}/{uuid.UUID(int=number)}"} for number in range(5)],
    )


def cards_of(pieces: list[str], detail: Detail) -> list[dict[str, Any]]:
    records = [record_of(piece, place) for place, piece in enumerate(pieces)]
    return [search_card(make_published(r), judge_applicability(r.applies_to, STACK), detail) for r in records]


@pytest.fixture(params=real_tokenizers(), ids=lambda tokenizer: tokenizer.name)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    found: Tokenizer = request.param
    return found


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.integers(TOKEN_BUDGET_MIN, TOKEN_BUDGET_MAX),
    st.lists(TEXTS, min_size=1, max_size=6),
    st.sampled_from([Detail.BRIEF, Detail.STANDARD]),
)
@example(TOKEN_BUDGET_MIN, ["🧑🏽‍🚀"], Detail.BRIEF)
@example(TOKEN_BUDGET_MAX, ["鱻龘 "], Detail.STANDARD)
def test_no_answer_takes_more_real_tokens_than_its_budget(budget: int, pieces: list[str], detail: Detail) -> None:
    """Whatever records hold, models of two families read no more tokens than were asked for."""
    answer = fit_answer(FRAME, cards_of(pieces, detail), budget)
    text = serialise(answer)
    assert count_tokens(text) == answer["retrieval"]["tokens_used"] <= budget
    assert {real.name: real.count(text) for real in real_tokenizers() if real.count(text) > budget} == {}


@settings(deadline=None, max_examples=150, derandomize=True)
@given(TEXTS)
def test_count_holds_for_whole_records_too(piece: str) -> None:
    """get_guidance has no budget, but what a record is said to cost is no less than what it costs."""
    text = serialise(guidance_card(make_published(record_of(piece, 0)), Detail.FULL))
    assert all(count_tokens(text) >= real.count(text) for real in real_tokenizers())


def test_count_holds_for_every_shipped_record(tokenizer: Tokenizer) -> None:
    """At each detail a shipped record costs no more than it is said to, and not much less."""
    for path in record_paths(ROOT / "records"):
        published = make_published(read_record(path).record)
        for detail in Detail:
            text = serialise(guidance_card(published, detail))
            assert 0.6 * count_tokens(text) < tokenizer.count(text) <= count_tokens(text), published.record.slug


@pytest.mark.parametrize("pattern", ["records/*/*.md", "docs/*.md", "*.md", "app/**/*.py", "app/**/*.sql", "*.lock"])
def test_count_holds_for_technical_text(tokenizer: Tokenizer, pattern: str) -> None:
    """English about software, code, SQL and lists of hashes, as they would stand in a record."""
    paths = list(ROOT.glob(pattern))
    assert paths
    for path in paths:
        text = serialise({"text": path.read_text("utf-8")})
        assert tokenizer.count(text) <= count_tokens(text), path


@pytest.mark.parametrize(
    ("alphabet", "most"), [(string.ascii_lowercase, 1.7), (string.ascii_uppercase, 1.3), (string.ascii_letters, 1.2)]
)
def test_only_random_letters_beat_the_count(tokenizer: Tokenizer, alphabet: str, most: float) -> None:
    """What the count's description admits: words that are none, and by how much they beat it."""
    letters = random.Random(7)  # noqa: S311 - a sample, not a secret
    for length in range(4, 40):
        text = json.dumps(" ".join("".join(letters.choices(alphabet, k=length)) for _ in range(80)))
        assert tokenizer.count(text) <= most * count_tokens(text), length


def test_slugs_as_long_as_they_may_be_leave_room_for_a_card() -> None:
    """The longest slug made of words fits the smallest budget with the beginning of its recommendation."""
    slug = record_of("word ", 0).slug
    assert len(slug) in range(SLUG_MAX_CHARACTERS - 2, SLUG_MAX_CHARACTERS + 1)
    answer = fit_answer(FRAME, cards_of(["Set the key of each row. "] * 3, Detail.STANDARD), TOKEN_BUDGET_MIN)
    assert answer["results"][0]["recommendation"].startswith("Set")
