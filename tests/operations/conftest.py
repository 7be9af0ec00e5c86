"""The three operations over the shipped records: real model, real PostgreSQL, published once for all tests here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.embedding.onnx import OnnxEmbedder
from app.errors import EmbeddingFailure
from app.operations import Services, call
from app.ports import QueryEmbedding
from app.recordfile import read_record, record_paths
from app.store.catalogue import PostgresCatalogue
from app.store.signals import PostgresSignals
from tests.databases import Database, DatabaseServer

RECORDS = Path(__file__).resolve().parents[2] / "records"


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


@pytest.fixture(scope="session")
def model() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture(scope="session")
def shipped(database_server: DatabaseServer, model: OnnxEmbedder) -> Iterator[Database]:
    """Lend a database with every shipped record published."""
    with database_server.clone() as lent:
        records = [read_record(path).record for path in record_paths(RECORDS)]
        lent.publish(*records, embedder=model)
        yield lent


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
