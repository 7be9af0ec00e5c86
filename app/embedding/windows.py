"""Questions that are long for a model, computed in windows. Pure.

read_whole(text, tokens, limit, embed) -> vector, truncated
embed_question(embedder, question) -> vector, truncated    the same for any provider, if it can
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from app.embedding.vectors import unit_rows
from app.ports import Embedder, Vector

# A long window costs more than its share, and in a short one what was pasted drowns what was asked. Two of these see
# 600 tokens for less than one text of 512 costs; docs/embedding.md says what else was tried.
WHOLE_TOKENS = 360
WINDOW_TOKENS = 300
MOST_WINDOWS = 2
# Room for the model's two marks, and for a word that is more tokens when it is cut at a window's edge.
_SPARE = 8

Offsets = Sequence[tuple[int, int]]


class QuestionVector(NamedTuple):
    """A question's vector, float32[dims], and whether some of the question was not seen."""

    vector: Vector
    truncated: bool


@runtime_checkable
class ReadsWholeQuestions(Protocol):
    """An embedder that knows its limit and sees past it."""

    def embed_question(self, question: str) -> QuestionVector:
        """Return the question's vector, of unit length. Raises EmbeddingFailure."""


class _Windows(NamedTuple):
    spans: tuple[tuple[int, int], ...]
    truncated: bool


def embed_question(embedder: Embedder, question: str) -> QuestionVector:
    """Return a question's vector as the provider gives it; what one cannot tell is taken for whole."""
    if isinstance(embedder, ReadsWholeQuestions):
        return embedder.embed_question(question)
    rows = unit_rows(embedder.embed([question]), count=1, dims=embedder.model.dims)
    return QuestionVector(rows[0], truncated=False)


def read_whole(text: str, tokens: Offsets, limit: int, embed: Callable[[Sequence[str]], Vector]) -> QuestionVector:
    """Return the vector of a text: its own if it is not long, else the mean of its windows, weighted by their tokens.

    Args:
        tokens: where each token begins and ends in the text, without the model's marks.
        limit: tokens the model sees, its two marks included.
        embed: the provider's `embed`.
    """
    if len(tokens) + 2 <= min(limit, WHOLE_TOKENS):
        return QuestionVector(embed([text])[0], truncated=False)
    spans, truncated = _windows(len(tokens), min(WINDOW_TOKENS, limit - _SPARE))
    rows = embed([text[tokens[start][0] : tokens[stop - 1][1]] for start, stop in spans])
    return QuestionVector(_mean(rows, [stop - start for start, stop in spans]), truncated)


def _windows(count: int, size: int) -> _Windows:
    """Return windows of equal length that overlap by an eighth; of too long a text the first ones and the last."""
    overlap = size // 8
    step = size - overlap
    needed = -(-(count - overlap) // step)
    if needed <= MOST_WINDOWS:
        return _Windows(_equal(count, needed, overlap), truncated=False)
    head = [(place * step, place * step + size) for place in range(MOST_WINDOWS - 1)]
    return _Windows((*head, (count - size, count)), truncated=head[-1][1] < count - size)


def _equal(count: int, windows: int, overlap: int) -> tuple[tuple[int, int], ...]:
    size = -(-(count + (windows - 1) * overlap) // windows)
    starts = (min(place * (size - overlap), count - size) for place in range(windows))
    return tuple((start, start + size) for start in starts)


def _mean(rows: Vector, weights: Sequence[int]) -> Vector:
    mean = np.average(rows.astype(np.float64), axis=0, weights=weights)
    unit: Vector = unit_rows([mean], count=1, dims=len(mean))[0]
    return unit
