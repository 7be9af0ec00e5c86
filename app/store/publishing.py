"""Publishing: make the served set equal to what the ledger approves, in one transaction.

publication(engine) -> Publication                   what is served now
published_hashes(engine) -> dict[slug, content_hash]  of served records
plan(engine, approved, model) -> PublishPlan          what replace_published would do
replace_published(engine, approved, ...) -> PublishPlan  does it, and returns what was done
verify_published(engine) -> list[slug]                served records that are not what the ledger approves
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.dialects.postgresql import insert

from app.ledger import Ledger
from app.ports import EmbeddingModel
from app.store.engine import connected, transaction
from app.store.guard import verify_published
from app.store.ledgerlines import write_lines
from app.store.postings import build_postings, write_postings
from app.store.rows import PublishInput, StoredRecord, check_inputs, deprecate, stored_records, write_records
from app.store.served import publication, published_hashes
from app.store.tables import publication as publication_table
from app.store.vectors import VectorInput, keep_indexes, stored_hashes, text_hashes, write_vectors

__all__ = [
    "INDEX_FROM_ROWS", "Progress", "PublishInput", "PublishPlan", "plan", "publication", "published_hashes",
    "replace_published", "verify_published",
]  # fmt: skip

# Embedding rows of one model from which an HNSW index is worth its price; below, comparing all takes 8 ms at most.
INDEX_FROM_ROWS = 20_000
# Held by whoever changes what is served, until the end of the transaction.
PUBLISH_LOCK = 0x7075626C697368

Progress = Callable[[str, int, int], None]
"""Told of each step: its name ("records", "vectors", "index", "words"), how much is done and how much there is."""


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


def plan(engine: Engine, approved: Sequence[PublishInput], model: EmbeddingModel | None) -> PublishPlan:
    """Return what `replace_published` would change, without changing anything.

    Args:
        engine: the owner's engine.
        approved: everything that is to be served; `vectors` are not looked at.
        model: the model whose vectors are wanted; None leaves `to_embed` empty.

    Raises:
        LedgerError: an input's hash is not its content's.
        Unavailable: the database does not answer.
    """
    check_inputs(approved)
    with connected(engine) as connection:
        return _plan(connection, stored_records(connection), approved, model)


def replace_published(
    engine: Engine,
    approved: Sequence[PublishInput],
    *,
    model: EmbeddingModel | None,
    ledger: Ledger,
    demo: bool,
    facts: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    index_from_rows: int = INDEX_FROM_ROWS,
) -> PublishPlan:
    """Serve exactly the approved records, in one transaction: a failure leaves all as it was, twice changes nothing.

    Args:
        engine: the owner's engine.
        approved: everything that is to be served; what is served now and not in it is deprecated.
        model: the model of the inputs' vectors; None when embeddings are switched off.
        ledger: the decisions that approve them; its lines are kept beside the records, for servers to verify.
        demo: the records are signed as a demonstration set.
        facts: anything else to tell of this publication, JSON-serialisable.
        progress: told of each step; an error it raises undoes the publish.
        index_from_rows: embedding rows of the model from which an HNSW index is kept.

    Raises:
        LedgerError: an input's hash is not its content's, or a version was published before with other content.
        EmbeddingFailure: an input's vectors are not one finite vector of the model's length per text.
        Unavailable: the database does not answer, or another publish is running.
    """
    check_inputs(approved)
    tell = progress or _silence
    with transaction(engine) as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": PUBLISH_LOCK})
        stored = stored_records(connection)
        todo = _plan(connection, stored, approved, model)
        numbers = _write_records(connection, todo, stored, approved, tell)
        touched = bool(todo.added or todo.changed or todo.deprecated)
        touched |= _write_vectors(connection, approved, numbers, model, tell)
        touched |= keep_indexes(connection, index_from_rows)
        tell("index", 1, 1)
        postings = build_postings({numbers[entry.record.slug]: entry.record for entry in approved})
        touched |= write_postings(connection, postings.by_term)
        tell("words", len(postings.by_term), len(postings.by_term))
        touched |= write_lines(connection, ledger)
        about = {"ledger_head": ledger.head, "demo": demo, "facts": dict(facts or {})}
        _write_publication(connection, touched, len(approved), postings.average_length, about)
    return todo


def _plan(
    connection: Connection,
    stored: Mapping[str, StoredRecord],
    approved: Sequence[PublishInput],
    model: EmbeddingModel | None,
) -> PublishPlan:
    wanted = {entry.record.slug: entry for entry in approved}
    served = {slug for slug, row in stored.items() if row.served}
    unchanged = {slug for slug, entry in wanted.items() if slug in stored and stored[slug].equals(entry)}
    return PublishPlan(
        added=_sorted(wanted.keys() - served),
        changed=_sorted((wanted.keys() & served) - unchanged),
        deprecated=_sorted(served - wanted.keys()),
        unchanged=_sorted(unchanged),
        to_embed=_to_embed(connection, stored, wanted, model),
    )


def _to_embed(
    connection: Connection,
    stored: Mapping[str, StoredRecord],
    wanted: Mapping[str, PublishInput],
    model: EmbeddingModel | None,
) -> tuple[str, ...]:
    if model is None:
        return ()
    hashes = stored_hashes(connection, model)
    return _sorted(
        slug
        for slug, entry in wanted.items()
        if slug not in stored or hashes.get(stored[slug].record_no) != text_hashes(entry.record)
    )


def _write_records(
    connection: Connection,
    todo: PublishPlan,
    stored: Mapping[str, StoredRecord],
    approved: Sequence[PublishInput],
    tell: Progress,
) -> dict[str, int]:
    """Write what differs, and return the number of every record by slug."""
    differing = {*todo.added, *todo.changed}
    entries = sorted(
        (entry for entry in approved if entry.record.slug in differing), key=lambda entry: entry.record.slug
    )
    numbers = {slug: row.record_no for slug, row in stored.items()}
    done = 0
    for batch in write_records(connection, entries):
        numbers |= batch
        done += len(batch)
        tell("records", done, len(entries))
    deprecate(connection, todo.deprecated)
    return numbers


def _write_vectors(
    connection: Connection,
    approved: Sequence[PublishInput],
    numbers: Mapping[str, int],
    model: EmbeddingModel | None,
    tell: Progress,
) -> bool:
    inputs = [
        VectorInput(
            entry.record.slug,
            numbers[entry.record.slug],
            entry.content_version,
            text_hashes(entry.record),
            entry.vectors,
        )
        for entry in approved
    ]
    changed = write_vectors(connection, model, inputs)
    tell("vectors", len(inputs), len(inputs))
    return changed


def _write_publication(
    connection: Connection, touched: bool, records: int, average_length: float, about: Mapping[str, Any]
) -> None:
    """Note the publish, if it changed anything that is served or said of it."""
    column = publication_table.c
    before = connection.execute(select(column.ledger_head, column.demo, column.facts, column.generation)).one_or_none()
    said = (about["ledger_head"], about["demo"], about["facts"])
    if before is not None and not touched and tuple(before[:3]) == said:
        return
    values = {
        **about,
        "generation": (before.generation if before else 0) + 1,
        "published_at": func.now(),
        "document_count": records,
        "average_length": average_length,
    }
    connection.execute(
        insert(publication_table).values(values).on_conflict_do_update(index_elements=["single"], set_=values)
    )
    # Plans for the new sizes, from the first search on.
    connection.execute(text("ANALYZE record, record_embedding, term_posting"))


def _sorted(slugs: Any) -> tuple[str, ...]:
    return tuple(sorted(slugs))


def _silence(_step: str, _done: int, _total: int) -> None:
    pass
