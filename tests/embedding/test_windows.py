"""Questions longer than the model's window."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from app.contract import QUERY_MAX_CHARACTERS
from app.embedding.onnx import MAX_TOKENS, OnnxEmbedder
from app.embedding.query import BoundedQueryEmbedder
from app.embedding.sentencetransformer import SentenceTransformersEmbedder
from app.embedding.thinning import LONG_CHARACTERS, thin
from app.embedding.windows import MOST_WINDOWS, WHOLE_TOKENS, WINDOW_TOKENS, _windows, read_whole
from app.indexing import embedding_texts
from app.ports import QueryEmbedding, Vector
from app.recordfile import read_record, record_paths
from tests.embedding.faulty import FakeClock, ScriptedEmbedder

RECORDS = Path(__file__).resolve().parents[2] / "records"
ASKED = "Why do rows of my React list keep the wrong state after I sort them?"
NOISE = "The quarterly report of the sales department was printed on paper again. "
SHORT = "word " * (WHOLE_TOKENS - 2)
FULL = "word " * (MAX_TOKENS - 2)
LONGER = SHORT + "word"

# The legal questions that are most tokens: ideographs, syllables that are three tokens each, symbols.
COSTLIEST = {
    "ideographs": "的" * 2000,
    "syllables": ("각" * 30 + " ") * 64,
    "emoji": "\N{GRINNING FACE} " * 1000,
    "punctuation": "!" * 2000,
}


def ask(embedder: OnnxEmbedder, question: str) -> QueryEmbedding:
    """Embed as the server does, without its deadline."""
    queries = BoundedQueryEmbedder(embedder, FakeClock(), timeout_ms=60_000, cache_size=10, fold_case=True)
    try:
        return queries.embed_query(question)
    finally:
        queries.close()


def test_no_text_of_a_shipped_record_is_longer_than_the_window(onnx: OnnxEmbedder) -> None:
    """So that records are never computed in windows and keep the vectors they have."""
    texts = [text for path in record_paths(RECORDS) for text in embedding_texts(read_record(path).record).values()]
    assert not any(onnx.tokens_cut(texts))


@pytest.mark.parametrize("text", ["x", ASKED, SHORT], ids=["a letter", "a sentence", "not yet long"])
def test_a_question_that_is_not_long_has_the_vector_of_the_text(onnx: OnnxEmbedder, text: str) -> None:
    """Bit for bit."""
    vector, truncated = onnx.embed_question(text)
    assert np.array_equal(vector, onnx.embed([text])[0])
    assert not truncated


def test_what_is_asked_behind_the_window_is_seen(onnx: OnnxEmbedder) -> None:
    """Of 580 tokens the last are the question: cut at 512 it is not there at all."""
    text = NOISE * 43 + ASKED
    assert len(text) > LONG_CHARACTERS
    assert onnx.tokens_cut([text])[0] >= len(ASKED.split())
    asked = onnx.embed([ASKED])[0]
    vector, truncated = onnx.embed_question(text)
    assert not truncated
    assert vector @ asked > onnx.embed([text])[0] @ asked + 0.05


def test_a_vector_of_windows_is_of_unit_length_and_always_the_same(onnx: OnnxEmbedder) -> None:
    """As any other."""
    first, again = onnx.embed_question(LONGER), onnx.embed_question(LONGER)
    assert np.linalg.norm(first.vector) == pytest.approx(1.0, abs=1e-6)
    assert first.vector.dtype == np.float32
    assert np.array_equal(first.vector, again.vector)


@pytest.mark.parametrize("size", [WINDOW_TOKENS, 120, 24, 1])
def test_windows_cover_every_token_until_there_are_too_many(size: int) -> None:
    """They overlap, none is longer than the model sees, and it is said when tokens are left out."""
    for count in range(size + 1, MOST_WINDOWS * size * 2):
        spans, truncated = _windows(count, size)
        seen = {token for start, stop in spans for token in range(start, stop)}
        assert len(spans) <= MOST_WINDOWS
        assert all(0 <= start < stop <= count and stop - start <= size for start, stop in spans)
        assert truncated == (len(seen) < count)
        assert {0, count - 1} <= seen


def test_windows_weigh_as_much_as_they_hold() -> None:
    """Two of equal length count alike, and each is a piece of the text that begins in the one before."""
    pieces: list[str] = []

    def embed(texts: Sequence[str]) -> Vector:
        pieces.extend(texts)
        return np.eye(2, dtype=np.float32)[: len(texts)]

    text = "".join(chr(97 + place % 26) for place in range(50))
    vector, truncated = read_whole(text, [(place, place + 1) for place in range(50)], limit=40, embed=embed)
    assert pieces == [text[:27], text[23:]]
    assert vector.tolist() == pytest.approx([0.5**0.5, 0.5**0.5])
    assert not truncated


@pytest.mark.parametrize("text", COSTLIEST.values(), ids=COSTLIEST)
def test_the_costliest_question_is_bounded_and_says_that_it_was_cut(onnx: OnnxEmbedder, text: str) -> None:
    """It takes no more than a text that fills the window; measured against that, because machines differ."""
    assert len(text) <= QUERY_MAX_CHARACTERS
    assert ask(onnx, text).truncated
    assert cpu_seconds(onnx.embed_question, text) < 1.3 * cpu_seconds(lambda full: onnx.embed([full]), FULL)


def cpu_seconds(embed: Callable[[str], object], text: str) -> float:
    """Return the least CPU time of three, which a busy machine disturbs least."""
    times = []
    for _ in range(3):
        start = time.thread_time()
        embed(text)
        times.append(time.thread_time() - start)
    return min(times)


def test_a_cut_question_is_still_cut_when_it_is_asked_again(onnx: OnnxEmbedder) -> None:
    """The cache knows."""
    queries = BoundedQueryEmbedder(onnx, FakeClock(), timeout_ms=60_000, cache_size=10, fold_case=True)
    found = [queries.embed_query(COSTLIEST["punctuation"]) for _ in range(2)]
    queries.close()
    assert [(one.cache, one.truncated) for one in found] == [("miss", True), ("hit", True)]


def test_a_provider_that_cannot_tell_is_taken_to_see_everything() -> None:
    """A service does not say what it cut."""
    queries = BoundedQueryEmbedder(ScriptedEmbedder(), FakeClock(), timeout_ms=60_000, cache_size=0, fold_case=True)
    assert not queries.embed_query("word " * 400).truncated
    queries.close()


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra (docs/embedding.md)")
@pytest.mark.parametrize("text", [ASKED, ASKED * 20, COSTLIEST["syllables"]], ids=["short", "long", "cut"])
def test_both_local_providers_read_a_question_alike(onnx: OnnxEmbedder, text: str) -> None:
    """In the same windows of the same tokens."""
    ours, reference = onnx.embed_question(text), SentenceTransformersEmbedder().embed_question(text)
    assert ours.vector @ reference.vector > 0.997
    assert ours.truncated == reference.truncated == (text == COSTLIEST["syllables"])


# What repeats


def test_a_long_trace_keeps_its_message_and_the_first_and_last_frame() -> None:
    """Frames differ in names and numbers only."""
    frames = [f"    at com.example.Layer{n}.handle(Layer{n}.java:{n}0)" for n in range(40)]
    message = "Caused by: java.net.ConnectException: Connection refused (Connection refused)"
    thinned = thin("\n".join(["why does this happen?", message, *frames])).splitlines()
    assert thinned == ["why does this happen?", message, frames[0], frames[-1]]


def test_a_question_that_is_not_long_is_left_as_it_is() -> None:
    """Nothing is gained by thinning it."""
    text = "a line of text that repeats itself\n" * 20
    assert thin(text) == text


def test_prose_and_short_lines_are_kept() -> None:
    """A sentence has hardly the shape of another; brackets and blank lines cost nothing."""
    text = "\n".join([NOISE * 9, "}", "", "}", "and this, I think, is another one.", NOISE * 7])
    assert thin(text) == text


def test_a_repetitive_question_is_embedded_without_its_repetitions(onnx: OnnxEmbedder) -> None:
    """So that a short question above a long log is found."""
    log = "".join(f"2026-01-01T00:00:{n} INFO worker-{n} request completed status=200 path=/\n" for n in range(10, 35))
    asked = onnx.embed([ASKED])[0]
    assert ask(onnx, f"{ASKED}\n{log}").vector @ asked > onnx.embed([f"{ASKED}\n{log}"])[0] @ asked + 0.1
