"""Models whose vectors are kept: one that servers use, one that is being built, one to go back to.

kept_models(engine) -> list[KeptModel]   all of them, oldest first
drop_model(engine, revision)             the last step of a model change
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, select, text, update

from app.errors import InvalidInput
from app.ports import EmbeddingModel
from app.store.engine import available, connected, transaction
from app.store.publishing import PUBLISH_LOCK
from app.store.tables import SCHEMA, embedding_model, publication, record_embedding
from app.store.vectors import index_name


@dataclass(frozen=True)
class KeptModel:
    """A model with stored vectors.

    Attributes:
        records: served records that have its vectors; the others are found by words.
        served: how many records are served.
        vectors: how many vectors it has.
    """

    model: EmbeddingModel
    records: int
    served: int
    vectors: int

    @property
    def is_complete(self) -> bool:
        """Tell whether every served record has its vectors."""
        return self.records >= self.served


def kept_models(engine: Engine) -> list[KeptModel]:
    """Return every model with stored vectors, the one published first first. Raises Unavailable."""
    with connected(engine) as connection:
        return [_kept(row) for row in _rows(connection)]


def drop_model(engine: Engine, revision: str) -> KeptModel:
    """Remove a model with its vectors and its index; return what it had. Begun again after an interruption, it ends.

    Servers that still use it search by words from then on and say `embedding_model_not_published`. Nobody waits:
    they are told first, the index goes without a lock that searches would wait for, and the rows last.

    Args:
        engine: the owner's engine.
        revision: of the model, as `kept_models` tells it.

    Raises:
        InvalidInput: not one model has this revision, or it is the only one that all served records have vectors of.
        Unavailable: the database does not answer, or a publish is running.
    """
    with _without_publishes(engine) as alone:
        with transaction(engine) as connection:
            number, dropped = _droppable(connection, revision)
            connection.execute(update(embedding_model).where(embedding_model.c.model_no == number).values(active=False))
            connection.execute(update(publication).values(generation=publication.c.generation + 1))
        alone.execute(text(f"DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA}.{index_name(number)}"))
        with transaction(engine) as connection:
            connection.execute(delete(embedding_model).where(embedding_model.c.model_no == number))
    return dropped


@contextmanager
def _without_publishes(engine: Engine) -> Iterator[Connection]:
    """Keep publishes waiting from the first step to the last: one between them could bring the model back into use."""
    with available(), engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": PUBLISH_LOCK})
        try:
            yield connection
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": PUBLISH_LOCK})


def _droppable(connection: Connection, revision: str) -> tuple[int, KeptModel]:
    """Return number and state of the model, if searches by meaning can do without it."""
    rows = _rows(connection)
    meant = [row for row in rows if row.revision == revision]
    if len(meant) != 1:
        raise InvalidInput("Not one model with stored vectors has this revision: see chatctx review models.")
    others = (_kept(row) for row in rows if row.revision != revision)
    dropped = _kept(meant[0])
    if dropped.is_complete and not any(other.is_complete for other in others):
        raise InvalidInput("No other model has vectors of every served record: publish with another model first.")
    return meant[0].model_no, dropped


def _rows(connection: Connection) -> list[Any]:
    column = embedding_model.c
    vectors = select(func.count()).where(record_embedding.c.model_no == column.model_no).scalar_subquery()
    served = func.coalesce(select(publication.c.document_count).scalar_subquery(), 0)
    statement = select(
        column.model_no, column.model_id, column.revision, column.dims, column.covered,
        served.label("served"), vectors.label("vectors"),
    )  # fmt: skip
    return list(connection.execute(statement.order_by(column.model_no)))


def _kept(row: Any) -> KeptModel:
    return KeptModel(EmbeddingModel(row.model_id, row.revision, row.dims), row.covered, row.served, row.vectors)
