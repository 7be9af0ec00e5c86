"""An embedder that sees less of a text than the product's does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from typing import Any

from app.ports import Embedder, EmbeddingModel, Vector

# What the model's card says; the published numbers were computed with it. Both ends are marked by a token.
CARD_TOKENS = 256
_MARKS = 2


class ShortEmbedder:
    """Implements `app.ports.Embedder` on the first tokens of a text only: another model to the store."""

    def __init__(self, embedder: Embedder, limit: int = CARD_TOKENS) -> None:
        """Load nothing yet.

        Args:
            embedder: the product's, which reads further.
            limit: tokens that are seen, both marks included.
        """
        self._embedder, self._limit = embedder, limit

    @property
    def provider(self) -> str:
        """Name of what makes the vectors."""
        return self._embedder.provider

    @property
    def model(self) -> EmbeddingModel:
        """The embedder's model, under a revision that tells the limit."""
        own = self._embedder.model
        return replace(own, revision=f"{self._limit}-{own.revision}")

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, dims], rows of unit length, in the order of the texts. Raises EmbeddingFailure."""
        return self._embedder.embed([self._cut(text) for text in texts])

    def _cut(self, text: str) -> str:
        encoding = self._tokenizer.encode(text)
        if len(encoding.ids) <= self._limit:
            return text
        return text[: encoding.offsets[self._limit - _MARKS][1]]

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # noqa: PLC0415 - slow to import

        tokenizer = Tokenizer.from_str(files("app.embedding").joinpath("tokenizer.json").read_text("utf-8"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
