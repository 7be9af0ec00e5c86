"""The product's embedder, with its own limit or a shorter one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from app.embedding import onnx
from app.embedding.onnx import OnnxEmbedder
from app.ports import EmbeddingModel, Vector

# What the model's card says; the published numbers were computed with it. Both ends are marked by a token.
CARD_TOKENS = 256


class ShortEmbedder(OnnxEmbedder):
    """The product's model on the first `limit` tokens of a text, marks included. A model of its own to the store."""

    def __init__(self, limit: int = CARD_TOKENS) -> None:
        """Load nothing yet.

        Args:
            limit: tokens that are seen; less than the product's own limit.
        """
        super().__init__()
        self._limit = limit

    @property
    def model(self) -> EmbeddingModel:
        """The product's model under a revision that tells the limit."""
        own = super().model
        return replace(own, revision=f"{self._limit}-{own.revision}")

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, 384], rows of unit length, in the order of the texts. Raises EmbeddingFailure."""
        return super().embed([self._cut(text) for text in texts])

    def _cut(self, text: str) -> str:
        encoding = self._tokenizer.encode(text)
        return text[: encoding.offsets[self._limit - 2][1]] if len(encoding.ids) > self._limit else text

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # noqa: PLC0415 - slow to import

        tokenizer = Tokenizer.from_file(str(onnx.__file__).replace("onnx.py", "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
