"""The shipped records in a scratch database, published and searched by the product's own code."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine

from app.cluster import scratch_cluster
from app.cluster.address import APP
from app.embedding.factory import create_embedder
from app.embedding.query import normal_form
from app.embedding.windows import embed_question
from app.errors import SettingsError
from app.indexing import embedding_texts
from app.ports import Embedder, QueryEmbedding
from app.recordfile import RecordFile, read_record, record_paths
from app.settings import read_settings
from app.store.catalogue import PostgresCatalogue
from app.store.engine import owner_engine, server_engine
from app.store.migrating import upgrade
from app.store.publishing import PublishInput, replace_published
from bench.ledgers import ledger_for

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Corpus:
    """What a measurement searches."""

    catalogue: PostgresCatalogue
    embedder: Embedder
    records: tuple[RecordFile, ...]

    def embed(self, question: str) -> QueryEmbedding:
        """Return the question's vector as the server computes it, without its deadline and its cache."""
        vector, truncated = embed_question(self.embedder, normal_form(question, fold_case=True))
        return QueryEmbedding(vector, self.embedder.model, "miss", truncated)


@contextmanager
def scratch_engines() -> Iterator[tuple[Engine, Engine]]:
    """Lend the owner's and the server's engine of a migrated, empty database that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder, scratch_cluster(Path(folder)) as cluster:
        owner, server = owner_engine(cluster.address.owner_url), server_engine(cluster.address.app_url)
        try:
            upgrade(owner, server_login=APP)
            yield owner, server
        finally:
            server.dispose()
            owner.dispose()


@contextmanager
def shipped_corpus() -> Iterator[Corpus]:
    """Publish every record file into a fresh database and lend it, embedded as `CHATCTX_EMBEDDER` says.

    Raises:
        SettingsError: the environment asks for an embedder that cannot be had, or for none.
        EmbeddingFailure: the embedder fails.
    """
    embedder = create_embedder(read_settings(os.environ, base=ROOT))
    if embedder is None:
        raise SettingsError("Measuring needs an embedder: unset CHATCTX_EMBEDDER, or choose another than none.")
    records = tuple(read_record(path) for path in record_paths(ROOT / "records"))
    with scratch_engines() as (owner, server):
        inputs = [_input(file, embedder) for file in records]
        replace_published(owner, inputs, model=embedder.model, ledger=ledger_for(owner, inputs), demo=True)
        yield Corpus(PostgresCatalogue(server), embedder, records)


def _input(file: RecordFile, embedder: Embedder) -> PublishInput:
    texts = embedding_texts(file.record)
    return PublishInput(
        record=file.record,
        content_hash=file.sha256,
        content_version=1,
        approved_at=datetime.now(UTC).replace(microsecond=0),
        approved_by="bench",
        fixtures=file.fixtures,
        vectors=dict(zip(texts, embedder.embed(list(texts.values())), strict=True)),
    )
