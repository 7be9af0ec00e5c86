"""A collection in a scratch database, published by the product's own code."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine

from app.ports import Embedder
from app.store.catalogue import PostgresCatalogue
from app.store.engine import connected
from app.store.publishing import INDEX_FROM_ROWS, replace_published
from app.store.served import read_state
from bench.ledgers import ledger_for
from bench.retrieval.collection import Collection
from bench.retrieval.parts import Parts
from bench.retrieval.records import publish_input, slug_of


@dataclass(frozen=True)
class Library:
    """A published collection, to be searched.

    Attributes:
        ids: document id by slug.
        vectors: rows in the table of embeddings.
        indexed: they are searched through an HNSW index; else all are compared.
    """

    owner: Engine
    catalogue: PostgresCatalogue
    embedder: Embedder
    ids: dict[str, str]
    vectors: int
    indexed: bool


def publish(
    engines: tuple[Engine, Engine],
    collection: Collection,
    parts: Parts,
    embedder: Embedder,
    *,
    index_from_rows: int = INDEX_FROM_ROWS,
) -> Library:
    """Serve exactly the documents of a collection.

    Args:
        engines: the owner's and the server's.
        collection: its documents are published.
        parts: which texts of a document are embedded.
        embedder: turns them into vectors.
        index_from_rows: vectors from which they are searched through an index, as in `replace_published`.

    Raises:
        EmbeddingFailure: the model cannot be loaded or fails.
        Unavailable: the database does not answer.
    """
    owner, server = engines
    texts = [parts(document) for document in collection.documents]
    # At once, so that the cache is written in large files; what follows only reads it.
    embedder.embed([*(text for one in texts for text in one), *(query.text for query in collection.queries)])
    inputs = [publish_input(*pair, embedder) for pair in zip(collection.documents, texts, strict=True)]
    ledger = ledger_for(owner, inputs)
    replace_published(owner, inputs, model=embedder.model, ledger=ledger, demo=True, index_from_rows=index_from_rows)
    ids = {slug_of(document.id): document.id for document in collection.documents}
    vectors = sum(len(entry.vectors or ()) for entry in inputs)
    return Library(owner, PostgresCatalogue(server), embedder, ids, vectors, _indexed(server))


def _indexed(server: Engine) -> bool:
    with connected(server) as connection:
        return any(model.indexed for model in read_state(connection).models)
