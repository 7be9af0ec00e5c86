"""What is served now: the publication with its models, and the hashes of its records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine

from app.ports import EmbeddingModel, Publication
from app.store.engine import connected, sql


@dataclass(frozen=True)
class ModelState:
    """A model whose vectors are stored.

    Attributes:
        covered: served records that have its vectors.
        indexed: an HNSW index is kept for it.
    """

    model_no: int
    model: EmbeddingModel
    covered: int
    indexed: bool


@dataclass(frozen=True)
class PublicationState:
    """The publication with what a search needs to know of it. `generation` differs whenever anything else does."""

    generation: int
    publication: Publication
    models: tuple[ModelState, ...]

    def model_state(self, model: EmbeddingModel) -> ModelState | None:
        """Return the state of a model, None when its vectors are not published."""
        return next((state for state in self.models if state.model == model), None)


NOTHING_PUBLISHED = PublicationState(
    0, Publication(records=0, published_at=None, ledger_head=None, demo=False, models=()), ()
)


def publication(engine: Engine) -> Publication:
    """Return what is being served. Works with the server's and the owner's engine. Raises Unavailable."""
    with connected(engine) as connection:
        return read_state(connection).publication


def published_hashes(engine: Engine) -> dict[str, str]:
    """Return the content hash of every served record by slug. Raises Unavailable."""
    with connected(engine) as connection:
        return {row.slug: row.content_hash for row in connection.execute(sql("published_hashes"))}


def read_state(connection: Connection) -> PublicationState:
    """Return the publication and its active models, as one statement sees them."""
    rows = connection.execute(sql("publication_state")).all()
    if not rows:
        return NOTHING_PUBLISHED
    models = tuple(_model_state(row) for row in rows if row.model_no is not None)
    first = rows[0]
    served = Publication(
        records=first.document_count,
        published_at=first.published_at,
        ledger_head=first.ledger_head,
        demo=first.demo,
        models=tuple(state.model for state in models),
        facts=first.facts,
    )
    return PublicationState(first.generation, served, models)


def _model_state(row: Any) -> ModelState:
    model = EmbeddingModel(row.model_id, row.revision, row.dims)
    return ModelState(row.model_no, model, row.covered, row.indexed)
