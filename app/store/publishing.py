"""Publishing: make the served set equal to what the ledger approves, in one transaction.

publication(connection) -> Publication | ...        what is served now
published_hashes(engine) -> dict[slug, content_hash] of served records
plan(engine, approved, model) -> PublishPlan         what replace_published would do
replace_published(engine, approved, ...) -> PublishPlan   does it; returns what was done
verify_published(engine) -> list[slug]               served records whose body is not what was approved
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from app.ports import EmbeddingModel, Publication, Vector
from app.record import Record

# Embedding rows of one model from which an HNSW index is worth its price; below, every vector is compared.
INDEX_FROM_ROWS = 10_000


@dataclass(frozen=True)
class PublishInput:
    """An approved record as the ledger states it.

    Attributes:
        content_hash: `app.record.content_hash(record, fixtures)`, checked again while publishing.
        content_version: number of approvals of this slug, from 1.
        approved_by: who approved, as the ledger names them.
        fixtures: content of each check file by name.
        vectors: one unit vector (float32[dims]) per part of `app.indexing.embedding_texts(record)`. None: no vectors were made
            this time, and those stored for the same texts are kept.
    """

    record: Record
    content_hash: str
    content_version: int
    approved_at: datetime
    approved_by: str
    note: str | None = None
    fixtures: Mapping[str, bytes] = field(default_factory=dict)
    vectors: Mapping[str, Vector] | None = None


@dataclass(frozen=True)
class PublishPlan:
    """What publishing changes, as slugs in alphabetical order.

    Attributes:
        to_embed: records for which the model's vectors are missing or were made from other texts (added ones included).
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    deprecated: tuple[str, ...]
    unchanged: tuple[str, ...]
    to_embed: tuple[str, ...]


Progress = Callable[[str, int, int], None]
"""Told of each step: its name ("records", "vectors", "words", "index"), how much is done and how much there is."""


def publication(engine: Engine) -> Publication:
    """Return what is being served. Works with the server's and the owner's engine. Raises Unavailable."""
    raise NotImplementedError


def published_hashes(engine: Engine) -> dict[str, str]:
    """Return the content hash of every served record by slug. Raises Unavailable."""
    raise NotImplementedError


def plan(engine: Engine, approved: Sequence[PublishInput], model: EmbeddingModel | None) -> PublishPlan:
    """Return what `replace_published` would change, without changing anything.

    Args:
        approved: everything that is to be served; `vectors` are not looked at.
        model: the model whose vectors are wanted; None leaves `to_embed` empty.
    """
    raise NotImplementedError


def replace_published(
    engine: Engine,
    approved: Sequence[PublishInput],
    *,
    model: EmbeddingModel | None,
    ledger_head: str | None,
    demo: bool,
    facts: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    index_from_rows: int = INDEX_FROM_ROWS,
) -> PublishPlan:
    """Serve exactly the approved records. One transaction: a failure leaves the served set as it was; twice changes nothing.

    Args:
        engine: the owner's engine.
        approved: everything that is to be served; what is served now and not in it is deprecated.
        model: the model of the inputs' vectors; None when embeddings are switched off.
        ledger_head: hash of the ledger's last line.
        demo: the records are signed as a demonstration set.
        facts: anything else to tell of this publication, JSON-serialisable.
        index_from_rows: embedding rows of the model from which an HNSW index is kept.

    Raises:
        LedgerError: an input's hash is not its content's, or a version was published before with other content.
        Unavailable: the database does not answer, or another publish is running.
    """
    raise NotImplementedError


def verify_published(engine: Engine) -> list[str]:
    """Return the slugs of served records whose stored body does not have the approved hash, in alphabetical order."""
    raise NotImplementedError
