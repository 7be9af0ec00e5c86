"""BM25 as rows: for each term the records that hold it, by falling impact. Made while publishing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert

from app.indexing import impact, record_terms
from app.record import Record
from app.store.tables import term_posting


@dataclass(frozen=True)
class Posting:
    """Where a term occurs: record numbers, and the impact in each, highest first; equal ones by number."""

    records: tuple[int, ...]
    impacts: NDArray[np.float32]


@dataclass(frozen=True)
class Postings:
    """All terms of all served records. `average_length` is 0.0 when there is none."""

    by_term: dict[str, Posting]
    average_length: float


def build_postings(records: Mapping[int, Record]) -> Postings:
    """Return the postings of records by their number."""
    terms = {number: record_terms(record) for number, record in records.items()}
    lengths = {number: sum(weights.values()) for number, weights in terms.items()}
    average = sum(lengths.values()) / len(lengths) if lengths else 0.0
    found: defaultdict[str, list[tuple[np.float32, int]]] = defaultdict(list)
    for number, weights in terms.items():
        for term, frequency in weights.items():
            found[term].append((np.float32(impact(frequency, lengths[number], average)), number))
    return Postings({term: _posting(entries) for term, entries in found.items()}, average)


def write_postings(connection: Connection, wanted: Mapping[str, Posting]) -> bool:
    """Make the stored postings equal to the wanted ones, touching only the terms that differ; tell whether any did."""
    stored = _stored(connection)
    differing = [term for term, posting in wanted.items() if not _same(stored.get(term), posting)]
    gone = stored.keys() - wanted.keys()
    if gone:
        connection.execute(delete(term_posting).where(term_posting.c.term.in_(gone)))
    if differing:
        statement = insert(term_posting)
        new = {column.name: column for column in statement.excluded if column.name != "term"}
        connection.execute(
            statement.on_conflict_do_update(index_elements=["term"], set_=new),
            [_row(term, wanted[term]) for term in sorted(differing)],
        )
    return bool(gone or differing)


def _posting(entries: list[tuple[np.float32, int]]) -> Posting:
    ordered = sorted(entries, key=lambda entry: (-entry[0], entry[1]))
    return Posting(tuple(number for _, number in ordered), np.array([value for value, _ in ordered], dtype=np.float32))


def _stored(connection: Connection) -> dict[str, Posting]:
    rows = connection.execute(select(term_posting.c.term, term_posting.c.records, term_posting.c.impacts))
    return {term: Posting(tuple(records), np.array(impacts, dtype=np.float32)) for term, records, impacts in rows}


def _same(one: Posting | None, other: Posting) -> bool:
    return one is not None and one.records == other.records and np.array_equal(one.impacts, other.impacts)


def _row(term: str, posting: Posting) -> dict[str, Any]:
    return {
        "term": term,
        "document_frequency": len(posting.records),
        "records": list(posting.records),
        "impacts": [float(value) for value in posting.impacts],
    }
