"""Vectors of questions already embedded, under keys that do not tell the question."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict

from app.ports import EmbeddingModel, QueryEmbedding


class VectorCache:
    """The most recently used vectors, in memory only: a vector gives back much of its text.

    The key is an HMAC under a secret of this process, so that a dump of the keys cannot be searched
    for guessed questions. Not thread-safe: its owner holds the lock.

    Args:
        capacity: vectors kept; 0 keeps none.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._secret = secrets.token_bytes(32)
        self._vectors: OrderedDict[bytes, QueryEmbedding] = OrderedDict()

    def key(self, text: str, model: EmbeddingModel | None) -> bytes:
        """Return the 32-byte key of a text under a model; None stands for a model not known yet."""
        who = f"{model.model_id}\0{model.revision}\0{model.dims}" if model else ""
        message = f"{who}\0\0{text}".encode("utf-8", "surrogatepass")
        return hmac.new(self._secret, message, hashlib.sha256).digest()

    def get(self, key: bytes) -> QueryEmbedding | None:
        """Return the vector and count it as used, or None."""
        vector = self._vectors.get(key)
        if vector is not None:
            self._vectors.move_to_end(key)
        return vector

    def put(self, key: bytes, vector: QueryEmbedding) -> None:
        """Keep a vector, dropping the one that was not used for longest."""
        self._vectors[key] = vector
        self._vectors.move_to_end(key)
        if len(self._vectors) > self._capacity:
            self._vectors.popitem(last=False)

    def __len__(self) -> int:
        """How many vectors are kept."""
        return len(self._vectors)
