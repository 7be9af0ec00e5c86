"""The three operations over the shipped records: real model, real PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from app.embedding.onnx import OnnxEmbedder
from app.errors import EmbeddingFailure
from app.operations import Services, call
from app.ports import QueryEmbedding
from app.store.catalogue import PostgresCatalogue
from app.store.signals import PostgresSignals
from tests.databases import Database


class ModelQuestions:
    """Implements `app.ports.QueryEmbedder` with the shipped model and no deadline; can be told to fail."""

    provider = "onnx"

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self._embedder = embedder
        self.failure: str | None = None

    def embed_query(self, query: str) -> QueryEmbedding:
        if self.failure:
            raise EmbeddingFailure(self.failure, "told to fail")
        return QueryEmbedding(self._embedder.embed([query])[0], self._embedder.model, "miss")


@pytest.fixture
def questions(model: OnnxEmbedder) -> ModelQuestions:
    return ModelQuestions(model)


@pytest.fixture
def services(shipped: Database, questions: ModelQuestions) -> Services:
    return Services(
        catalogue=PostgresCatalogue(shipped.server),
        embedder=questions,
        signals=PostgresSignals(shipped.server),
        query_hash=lambda question: question.encode()[:1].ljust(8, b"h"),
        feedback_hash=lambda text: text.encode()[:16].ljust(32, b"f"),
        feedback_daily_cap=50,
    )


@pytest.fixture
def ask(services: Services) -> Any:
    """Return a function that searches and gives the answer."""
    return lambda query, **arguments: call(services, "search_knowledge", {"query": query, **arguments})
