"""Record rows: which differ from what is approved, and how they are brought in line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from app.errors import LedgerError
from app.ports import Vector
from app.record import Record, canonical_form, content_hash, record_id
from app.store.tables import record, record_applicability, record_source, record_version
from app.technologies import technology_key

_BATCH = 200


@dataclass(frozen=True)
class PublishInput:
    """An approved record as the ledger states it.

    Attributes:
        content_hash: `app.record.content_hash(record, fixtures)`, checked again while publishing.
        content_version: number of approvals of this slug, from 1.
        approved_by: who approved, as the ledger names them.
        fixtures: content of each check file by name.
        vectors: one unit vector (float32[dims]) per part of `app.indexing.embedding_texts(record)`. None: none were
            made this time, and those stored for the same texts are kept.
        verified_on: the day since which all checks of this text have passed, None when it has none or they have not.
    """

    record: Record
    content_hash: str
    content_version: int
    approved_at: datetime
    approved_by: str
    note: str | None = None
    fixtures: Mapping[str, bytes] = field(default_factory=dict)
    vectors: Mapping[str, Vector] | None = None
    verified_on: date | None = None


@dataclass(frozen=True)
class StoredRecord:
    """What the database holds of a record, served or not."""

    record_no: int
    content_hash: str
    content_version: int
    approved_at: datetime
    approved_by: str
    verified_on: date | None
    served: bool

    def equals(self, entry: PublishInput) -> bool:
        """Tell whether the record is served exactly as approved."""
        mine = (self.content_hash, self.content_version, self.approved_at, self.approved_by)
        return self.served and mine == (entry.content_hash, entry.content_version, entry.approved_at, entry.approved_by)


def stored_records(connection: Connection) -> dict[str, StoredRecord]:
    """Return every record in the database by slug."""
    column = record.c
    told = (
        column.record_no, column.content_hash, column.content_version, column.approved_at, column.approved_by,
        column.verified_on,
    )  # fmt: skip
    rows = connection.execute(select(column.slug, *told, column.status))
    return {row.slug: StoredRecord(*row[1:-1], served=row.status == "approved") for row in rows}


def check_inputs(approved: Sequence[PublishInput]) -> None:
    """Refuse what is not what the ledger says.

    Raises:
        LedgerError: a slug comes twice, or an input's hash is not its content's.
    """
    slugs = [entry.record.slug for entry in approved]
    if len(set(slugs)) != len(slugs):
        raise LedgerError("A record is approved twice at the same time: each slug may come once.")
    for entry in approved:
        if content_hash(entry.record, dict(entry.fixtures)) != entry.content_hash:
            raise LedgerError(f"{entry.record.slug}: the content is not what was approved; nothing is published.")


def write_records(connection: Connection, entries: Sequence[PublishInput]) -> Iterator[dict[str, int]]:
    """Write records with what stands in them and their versions, in batches; yield each batch's numbers by slug.

    Raises:
        LedgerError: a version was published before with other content.
    """
    for start in range(0, len(entries), _BATCH):
        batch = entries[start : start + _BATCH]
        numbers = _write_rows(connection, batch)
        _write_parts(connection, batch, numbers)
        _write_versions(connection, batch)
        yield numbers


def deprecate(connection: Connection, slugs: Sequence[str]) -> None:
    """Stop serving records. Their rows and versions stay."""
    if slugs:
        connection.execute(update(record).where(record.c.slug.in_(slugs)).values(status="deprecated"))


def write_proofs(connection: Connection, entries: Sequence[PublishInput]) -> None:
    """Note on which day each record was proved; nothing else of it changes."""
    statement = update(record).where(record.c.slug == bindparam("of")).values(verified_on=bindparam("day"))
    if entries:
        connection.execute(statement, [{"of": entry.record.slug, "day": entry.verified_on} for entry in entries])


def _write_rows(connection: Connection, batch: Sequence[PublishInput]) -> dict[str, int]:
    statement = upsert(record)
    fixed = ("record_id", "slug")
    values = [_row(entry) for entry in batch]
    new = {name: statement.excluded[name] for name in values[0] if name not in fixed}
    written = statement.on_conflict_do_update(index_elements=["slug"], set_=new).returning(
        record.c.slug, record.c.record_no
    )
    return {row.slug: row.record_no for row in connection.execute(written, values)}


def _row(entry: PublishInput) -> dict[str, Any]:
    approved = entry.record
    return {
        "record_id": record_id(approved.slug),
        "slug": approved.slug,
        "topic": approved.topic.value,
        "title": approved.title,
        "content_version": entry.content_version,
        "content_hash": entry.content_hash,
        "body": _body(entry),
        "confidence": approved.confidence.value,
        "updated": approved.updated,
        "approved_at": entry.approved_at,
        "approved_by": entry.approved_by,
        "status": "approved",
        "verified_on": entry.verified_on,
        "technologies": sorted({technology_key(about.name) for about in approved.applies_to}),
    }


def _body(entry: PublishInput) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(canonical_form(entry.record, dict(entry.fixtures)))
    return body


def _write_parts(connection: Connection, batch: Sequence[PublishInput], numbers: Mapping[str, int]) -> None:
    for table, rows in ((record_applicability, _applicability), (record_source, _sources)):
        connection.execute(delete(table).where(table.c.record_no.in_(numbers.values())))
        values = [row for entry in batch for row in rows(entry.record, numbers[entry.record.slug])]
        if values:
            connection.execute(insert(table), values)


def _applicability(approved: Record, number: int) -> Iterator[dict[str, Any]]:
    for position, about in enumerate(approved.applies_to):
        yield {
            "record_no": number, "position": position, "kind": about.kind.value, "name": about.name,
            "technology_key": technology_key(about.name), "version_constraint": about.version_constraint,
            "scheme": about.scheme.value if about.scheme else None,
        }  # fmt: skip


def _sources(approved: Record, number: int) -> Iterator[dict[str, Any]]:
    for position, source in enumerate(approved.sources):
        yield {
            "record_no": number, "position": position, "url": source.url, "title": source.title,
            "publisher": source.publisher, "licence": source.licence, "authority": source.authority.value,
            "relation": source.relation.value, "retrieved": source.retrieved,
        }  # fmt: skip


def _write_versions(connection: Connection, batch: Sequence[PublishInput]) -> None:
    known = _known_versions(connection, [record_id(entry.record.slug) for entry in batch])
    new = []
    for entry in batch:
        identity = record_id(entry.record.slug)
        before = known.get((identity, entry.content_version))
        if before is None:
            new.append(_version(entry, identity))
        elif before != entry.content_hash:
            raise LedgerError(
                f"{entry.record.slug}: version {entry.content_version} was published before with other content. "
                "The ledger is not the one this database was published from: restore it, or publish into an empty "
                "database."
            )
    if new:
        connection.execute(insert(record_version), new)


def _known_versions(connection: Connection, identities: Iterable[UUID]) -> dict[tuple[UUID, int], str]:
    column = record_version.c
    rows = connection.execute(
        select(column.record_id, column.content_version, column.content_hash).where(column.record_id.in_(identities))
    )
    return {(row.record_id, row.content_version): row.content_hash for row in rows}


def _version(entry: PublishInput, identity: UUID) -> dict[str, Any]:
    return {
        "record_id": identity, "content_version": entry.content_version, "content_hash": entry.content_hash,
        "body": _body(entry), "approved_at": entry.approved_at, "approved_by": entry.approved_by, "note": entry.note,
    }  # fmt: skip
