"""Real, small implementations of ports for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from app.lexical import analyse
from app.ports import EmbeddingModel, QueryEmbedding, Vector


class HashingEmbedder:
    """Implements `app.ports.Embedder` without a model: a vector counts the text's words, each hashed to a place.

    Texts that share words are close, the same text always has the same vector, nothing has to be loaded. It knows no
    meaning: use it where vectors have to be right, not good.
    """

    def __init__(self, dims: int = 64, revision: str = "1") -> None:
        self._model = EmbeddingModel("hashing", revision, dims)

    @property
    def provider(self) -> str:
        """Name shown to callers."""
        return "hashing"

    @property
    def model(self) -> EmbeddingModel:
        """The model the vectors come from: each number of dimensions and each revision is one."""
        return self._model

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, dims], rows of unit length, in the order of the texts."""
        rows = np.array([self._counts(text) for text in texts], dtype=np.float32).reshape(len(texts), self._model.dims)
        unit: Vector = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def question(self, text: str) -> QueryEmbedding:
        """Return the vector of a question as a search hands it to the store."""
        return QueryEmbedding(self.embed([text])[0], self._model, "miss")

    def _counts(self, text: str) -> list[float]:
        counts = [0.0] * self._model.dims
        # No text is without direction.
        counts[0] = 0.01
        for word in analyse(text):
            place = hashlib.sha256(f"{self._model.revision} {word}".encode()).digest()
            counts[int.from_bytes(place[:4], "big") % self._model.dims] += 1.0
        return counts
