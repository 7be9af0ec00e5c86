"""Vectors of records: rows by model and part, kept in step with the texts they stand for, and the index over them.

A model change needs no pause: the new model's vectors are published beside the old one's, which stay until an owner
drops them (`app.store.models`). A server asks by the model it has loaded, and each finds its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert

from app.errors import EmbeddingFailure
from app.indexing import embedding_texts
from app.ports import EmbeddingModel, Vector
from app.record import Record
from app.store.tables import SCHEMA, embedding_model, record_embedding

_BATCH = 500


@dataclass(frozen=True)
class VectorInput:
    """What a served record's vectors should be. `vectors` None: none were made this time."""

    slug: str
    record_no: int
    content_version: int
    hashes: Mapping[str, bytes]
    vectors: Mapping[str, Vector] | None


def text_hashes(record: Record) -> dict[str, bytes]:
    """Return the SHA-256 of each text that a record is embedded as, by part: a stored vector stands for one of them."""
    return {part: hashlib.sha256(content.encode("utf-8")).digest() for part, content in embedding_texts(record).items()}


def stored_hashes(connection: Connection, model: EmbeddingModel) -> dict[int, dict[str, bytes]]:
    """Return the text hashes of a model's stored vectors by record number and part."""
    number = connection.scalar(select(embedding_model.c.model_no).where(*_is(model)))
    return _hashes(connection, number) if number is not None else {}


def write_vectors(connection: Connection, model: EmbeddingModel | None, inputs: list[VectorInput]) -> bool:
    """Bring the stored vectors in step with what is served; tell whether anything changed.

    Raises:
        EmbeddingFailure: an input's vectors are not one finite vector of the model's length per part.
    """
    current = None if model is None else _ensure_model(connection, model)
    changed = [_write_model(connection, number, dims, inputs, current) for number, dims in _models(connection)]
    return any(changed)


def keep_indexes(connection: Connection, index_from_rows: int) -> bool:
    """Make or drop each model's HNSW index by the number of its vectors; tell whether anything changed."""
    changed = False
    for number, dims in _models(connection):
        rows = connection.scalar(select(func.count()).where(record_embedding.c.model_no == number)) or 0
        wanted = rows >= index_from_rows
        if wanted != _index_exists(connection, number):
            _make_index(connection, number, dims) if wanted else _drop_index(connection, number)
        changed |= _set(connection, number, indexed=wanted)
    return changed


def _write_model(
    connection: Connection, number: int, dims: int, inputs: list[VectorInput], current: int | None
) -> bool:
    stored = _hashes(connection, number)
    outdated = stored.keys() - {entry.record_no for entry in inputs}
    rows: list[dict[str, Any]] = []
    covered = 0
    for entry in inputs:
        vectors = entry.vectors if number == current else None
        if stored.get(entry.record_no) == entry.hashes:
            covered += 1
        else:
            outdated |= {entry.record_no}
            if vectors is not None:
                rows += _rows(entry, vectors, number, dims)
                covered += 1
    changed = _delete(connection, number, outdated & stored.keys())
    for start in range(0, len(rows), _BATCH):
        connection.execute(insert(record_embedding), rows[start : start + _BATCH])
    _note_versions(connection, number, inputs)
    return _set(connection, number, covered=covered, active=covered > 0) or changed or bool(rows)


def _rows(entry: VectorInput, vectors: Mapping[str, Vector], number: int, dims: int) -> Iterator[dict[str, Any]]:
    if vectors.keys() != entry.hashes.keys():
        raise EmbeddingFailure(
            "embedding_invalid", f"{entry.slug}: there must be one vector for each text of the record"
        )
    for part, vector in vectors.items():
        # halfvec holds nothing above 65504; a unit vector is far from it.
        if vector.shape != (dims,) or not np.isfinite(vector).all() or not np.any(vector):
            raise EmbeddingFailure(
                "embedding_invalid", f"{entry.slug}: the vector of {part} is not {dims} finite numbers"
            )
        yield {
            "record_no": entry.record_no, "model_no": number, "part": part, "dims": dims, "vector": vector,
            "content_version": entry.content_version, "text_hash": entry.hashes[part],
        }  # fmt: skip


def _note_versions(connection: Connection, number: int, inputs: list[VectorInput]) -> None:
    """Vectors of a text that a new version left as it was are kept, and belong to the new version."""
    column = record_embedding.c
    versions = {entry.record_no: entry.content_version for entry in inputs}
    stored = connection.execute(
        select(column.record_no, column.content_version).where(column.model_no == number).distinct()
    ).all()
    for record_no in {record_no for record_no, version in stored if versions.get(record_no, version) != version}:
        connection.execute(
            update(record_embedding)
            .where(column.model_no == number, column.record_no == record_no)
            .values(content_version=versions[record_no])
        )


def _ensure_model(connection: Connection, model: EmbeddingModel) -> int:
    found = connection.scalar(select(embedding_model.c.model_no).where(*_is(model)))
    if found is not None:
        return int(found)
    values = {"model_id": model.model_id, "revision": model.revision, "dims": model.dims, "active": False}
    return int(
        connection.execute(upsert(embedding_model).values(values).returning(embedding_model.c.model_no)).scalar_one()
    )


def _is(model: EmbeddingModel) -> tuple[Any, ...]:
    column = embedding_model.c
    return column.model_id == model.model_id, column.revision == model.revision, column.dims == model.dims


def _models(connection: Connection) -> list[tuple[int, int]]:
    rows = connection.execute(
        select(embedding_model.c.model_no, embedding_model.c.dims).order_by(embedding_model.c.model_no)
    )
    return [(row.model_no, row.dims) for row in rows]


def _hashes(connection: Connection, number: int) -> dict[int, dict[str, bytes]]:
    column = record_embedding.c
    found: dict[int, dict[str, bytes]] = {}
    for record_no, part, digest in connection.execute(
        select(column.record_no, column.part, column.text_hash).where(column.model_no == number)
    ):
        found.setdefault(record_no, {})[part] = bytes(digest)
    return found


def _delete(connection: Connection, number: int, records: set[int]) -> bool:
    column = record_embedding.c
    if records:
        connection.execute(delete(record_embedding).where(column.model_no == number, column.record_no.in_(records)))
    return bool(records)


def _set(connection: Connection, number: int, **values: Any) -> bool:
    """Set columns of a model's row unless they are so already; tell whether they were not."""
    column = embedding_model.c
    differs = [column[name].is_distinct_from(value) for name, value in values.items()]
    statement = update(embedding_model).where(
        column.model_no == number, differs[0] if len(differs) == 1 else differs[0] | differs[1]
    )
    return connection.execute(statement.values(values)).rowcount > 0


def _index_exists(connection: Connection, number: int) -> bool:
    name = f"{SCHEMA}.{index_name(number)}"
    return connection.scalar(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": name}) is True


def _make_index(connection: Connection, number: int, dims: int) -> None:
    # Workers share memory through /dev/shm, which in a container is smaller than the graph.
    connection.execute(text("SET LOCAL max_parallel_maintenance_workers = 0"))
    connection.execute(text("SET LOCAL maintenance_work_mem = '256MB'"))
    connection.execute(
        text(
            f"CREATE INDEX {index_name(number)} ON {SCHEMA}.record_embedding "
            f"USING hnsw (CAST(vector AS halfvec({dims})) halfvec_cosine_ops) WHERE model_no = {number}"
        )
    )


def _drop_index(connection: Connection, number: int) -> None:
    connection.execute(text(f"DROP INDEX IF EXISTS {SCHEMA}.{index_name(number)}"))


def index_name(number: int) -> str:
    """Return the name of a model's HNSW index, whether or not there is one."""
    return f"hnsw_record_embedding_{number:d}"
