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

from app.errors import LedgerError
from app.ledger import Ledger
from app.ports import EmbeddingModel
from app.store.engine import connected, sql, transaction
from app.store.guard import verify_published
from app.store.ledgerlines import write_lines
from app.store.postings import build_postings, write_postings
from app.store.rows import (
    PublishInput,
    StoredRecord,
    check_inputs,
    deprecate,
    stored_records,
    write_proofs,
    write_records,
)
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
        proved: unchanged records whose checks have passed on another day than is told so far, or do no longer.
        to_embed: records for which the model's vectors are missing or were made from other texts (added ones included).
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    deprecated: tuple[str, ...]
    unchanged: tuple[str, ...]
    to_embed: tuple[str, ...]
    proved: tuple[str, ...] = ()


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
    continues: bool = False,
    facts: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    index_from_rows: int = INDEX_FROM_ROWS,
) -> PublishPlan:
    """Serve exactly the approved records, in one transaction: a failure leaves all as it was, twice changes nothing.

    Args:
        approved: everything that is to be served; what is served now and not in it is deprecated.
        model: the model of the inputs' vectors; None when embeddings are switched off.
        ledger: the decisions that approve them; its lines are kept beside the records, for servers to verify.
        continues: refuse a ledger without the line last published from: another publish may have come first.
        demo, facts: whether they are signed as a demonstration set, and anything else to tell, JSON-serialisable.
        progress: told of each step; an error it raises undoes the publish.
        index_from_rows: embedding rows of the model from which an HNSW index is kept.

    Raises:
        LedgerError: an input's hash is not its content's, a version was published before with other content, or the
            ledger lacks lines that were published from.
        EmbeddingFailure: an input's vectors are not one finite vector of the model's length per text.
        Unavailable: the database does not answer, or another publish is running.
    """
    check_inputs(approved)
    with transaction(engine) as connection:
        steps = _Steps(connection, approved, model, progress or _silence)
        steps.wait_for_others()
        if continues:
            refuse_other_ledger(connection, ledger)
        return steps.take(ledger, {"demo": demo, "facts": dict(facts or {})}, index_from_rows)


def refuse_other_ledger(connection: Connection, ledger: Ledger) -> None:
    """Raise LedgerError when the ledger lacks the line last published from. A chain cannot tell that it was cut off."""
    head = connection.scalar(sql("ledger_head"))
    if head is not None and not ledger.knows(head):
        raise other_ledger()


def other_ledger() -> LedgerError:
    """Return the refusal of a ledger that does not continue the one last published from."""
    return LedgerError(
        "The database was published from a ledger with lines that this one lacks: restore records/ledger.jsonl, or "
        "fetch what another owner decided. The ledger of a new owner goes into an empty database, or with --new-ledger "
        "into one of the same texts."
    )


@dataclass(frozen=True)
class _Steps:
    """The steps of one publish, within its transaction."""

    connection: Connection
    approved: Sequence[PublishInput]
    model: EmbeddingModel | None
    tell: Progress

    def wait_for_others(self) -> None:
        """Let no other publish begin before this one has ended. Raises what means Unavailable after a while."""
        self.connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": PUBLISH_LOCK})

    def take(self, ledger: Ledger, about: Mapping[str, Any], index_from_rows: int) -> PublishPlan:
        """Take all of them and return what was changed."""
        stored = stored_records(self.connection)
        todo = _plan(self.connection, stored, self.approved, self.model)
        numbers = self._records(todo, stored)
        touched = bool(todo.added or todo.changed or todo.deprecated or todo.proved)
        touched |= self._vectors(numbers)
        touched |= self._indexes(index_from_rows)
        average_length, changed = self._words(numbers)
        touched |= changed
        touched |= write_lines(self.connection, ledger)
        said = {"ledger_head": ledger.head, **about}
        _write_publication(self.connection, touched, len(self.approved), average_length, said)
        return todo

    def _records(self, todo: PublishPlan, stored: Mapping[str, StoredRecord]) -> dict[str, int]:
        """Write what differs, and return the number of every record by slug."""
        differing = {*todo.added, *todo.changed}
        entries = sorted((entry for entry in self.approved if entry.record.slug in differing), key=_slug)
        numbers = {slug: row.record_no for slug, row in stored.items()}
        done = 0
        for batch in write_records(self.connection, entries):
            numbers |= batch
            done += len(batch)
            self.tell("records", done, len(entries))
        write_proofs(self.connection, [entry for entry in self.approved if entry.record.slug in set(todo.proved)])
        deprecate(self.connection, todo.deprecated)
        return numbers

    def _vectors(self, numbers: Mapping[str, int]) -> bool:
        inputs = [_vector_input(entry, numbers[entry.record.slug]) for entry in self.approved]
        changed = write_vectors(self.connection, self.model, inputs)
        self.tell("vectors", len(inputs), len(inputs))
        return changed

    def _indexes(self, from_rows: int) -> bool:
        changed = keep_indexes(self.connection, from_rows)
        self.tell("index", 1, 1)
        return changed

    def _words(self, numbers: Mapping[str, int]) -> tuple[float, bool]:
        """Write which words are where; return the average length of a record, and whether anything changed."""
        postings = build_postings({numbers[entry.record.slug]: entry.record for entry in self.approved})
        changed = write_postings(self.connection, postings.by_term)
        self.tell("words", len(postings.by_term), len(postings.by_term))
        return postings.average_length, changed


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
        proved=_sorted(slug for slug in unchanged if stored[slug].verified_on != wanted[slug].verified_on),
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


def _vector_input(entry: PublishInput, number: int) -> VectorInput:
    return VectorInput(entry.record.slug, number, entry.content_version, text_hashes(entry.record), entry.vectors)


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


def _slug(entry: PublishInput) -> str:
    return entry.record.slug


def _sorted(slugs: Any) -> tuple[str, ...]:
    return tuple(sorted(slugs))


def _silence(_step: str, _done: int, _total: int) -> None:
    pass
