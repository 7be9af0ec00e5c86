"""Keeps from service what the ledger in the database does not prove."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from threading import Lock
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine

from app.integrity import Columns, Content, Flaw, Policy, Proofs, content_of, find_flaw
from app.ledger import DEMO_SIGNER
from app.record import is_slug
from app.store.engine import connected, sql
from app.store.ledgerlines import Walk, walk_back

PAGE = 200
# Bytes of a record's content: a file is at most half of it, and a row that is more was not written by a publish. What
# is stored may be compressed, a hundred times and more; it is measured before it is unpacked.
LONGEST = 131_072
STORED = 65_536
_NAMED = 12
# Rows that are looked at beyond those that are approved, so that they can be told of.
_UNAPPROVED = 20_000
_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Examination:
    """What a look at every served record found.

    Attributes:
        records: how many there are.
        withheld: those that are not what was approved, by slug.
        demo: one of the others is approved as a demonstration.
    """

    records: int
    withheld: Mapping[str, Flaw]
    demo: bool


class Guard:
    """Holds each record against the ledger's decision about it. Safe to share between threads.

    What is proved once stays proved: a ledger that does not continue the one seen before is not believed until the
    process is started anew, because whoever can write to the database can also write a whole new ledger.

    Attributes:
        withheld: records found wanting, by slug, with the reason.
    """

    def __init__(self, policy: Policy | None = None, now: Callable[[], datetime] = _now) -> None:
        self._proofs = Proofs(policy or Policy())
        self._now = now
        self._refused: str | None = None
        # Hash of the last line known under a former policy, from which everything is judged anew.
        self._anchor: str | None = None
        self._gap = False
        self._records = 0
        self._reading = Lock()
        self._noting = Lock()
        self.withheld: Mapping[str, Flaw] = {}

    @property
    def proofs(self) -> Proofs:
        """What is proved as of the last look at the ledger."""
        return self._proofs

    def serves(self, slug: str) -> bool:
        """Tell whether a record may be named; what it says is held against the ledger when it is fetched."""
        approval = self._proofs.approvals.get(slug)
        return approval is not None and approval.flaw is None and slug not in self.withheld

    def serves_any(self) -> bool:
        """Tell whether the last look at every record left one to serve, or found none at all."""
        return not self.withheld or len(self.withheld) < self._records

    def follow(self, connection: Connection, head: str | None) -> None:
        """Take notice of a publish: read the lines that are new, and look for those that were missing.

        Args:
            head: hash of the ledger's last line, as the publication names it.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._reading:
            self._read_on(connection, head)
            if not self._proofs.whole:
                self._read_again(connection)

    def sound(self, connection: Connection, read: Callable[[], Sequence[Any]]) -> list[Any]:
        """Return those of the rows that are what was approved. Raises Unavailable.

        Args:
            read: reads the rows. They are read twice when one is not in order, because a publish may have come between
                them and what is known of the ledger.
        """
        rows, flaws = self._judged(connection, read)
        self._note(flaws)
        return [row for row in rows if row.slug is not None and flaws[row.slug] is None]

    def examine(self, engine: Engine, policy: Policy | None = None) -> Examination:
        """Look at every served record, a page at a time, and at lines of the ledger that were missing.

        Args:
            policy: what decisions must carry from now on; None for what they had to so far.

        Raises:
            Unavailable: the database does not answer.
        """
        self._prepare(engine, policy or self._proofs.policy)
        found: dict[str, Flaw] = {}
        records, demo = 0, False
        for connection, read in _pages(engine, len(self._proofs.approvals) + _UNAPPROVED):
            _, flaws = self._judged(connection, read)
            self._note(flaws)
            found |= _flawed(flaws)
            demo |= any(_is_demo(self._proofs, slug) for slug in flaws.keys() - found.keys())
            records += len(flaws)
        with self._noting:
            self.withheld, self._records = found, records
        return Examination(records, found, demo)

    def _prepare(self, engine: Engine, policy: Policy) -> None:
        if policy == self._proofs.policy and self._proofs.whole and self._anchor is None:
            return
        with self._reading:
            if policy != self._proofs.policy:
                # At once, and whatever comes of reading: what another policy proved is not proved any more.
                self._anchor = self._proofs.head or self._anchor
                self._proofs = Proofs(policy)
            with connected(engine) as connection:
                self._read_again(connection)

    def _read_on(self, connection: Connection, head: str | None) -> None:
        if self._anchor is not None:
            self._read_again(connection)
        known = self._proofs.head
        if head is None or head in (known, self._refused):
            return
        walk = walk_back(connection, head, known)
        if known is not None and walk.end != "known":
            self._refused = head
            _log.error("the ledger in the database does not continue the one it was: it is not believed")
            return
        base = self._proofs if known else self._nothing(walk)
        self._adopt(base.followed_by(walk.entries))

    def _read_again(self, connection: Connection) -> None:
        """Judge anew all that leads to the last line that is known: the hashes say that it is the same."""
        head = self._proofs.head or self._anchor
        if head is not None:
            walk = walk_back(connection, head, None)
            self._adopt(replace(self._nothing(walk).followed_by(walk.entries), head=head))
            self._anchor = None

    def _nothing(self, walk: Walk) -> Proofs:
        """Return what is proved before a walk: behind a gap, that any key whose life is over now may have been over."""
        if walk.end == "beginning":
            return Proofs(self._proofs.policy)
        return Proofs(self._proofs.policy, whole=False, latest=self._now())

    def _adopt(self, proofs: Proofs) -> None:
        if not proofs.whole and not self._gap:
            _log.error("the ledger in the database has a gap: records approved before it are withheld")
        self._gap = not proofs.whole
        self._proofs = proofs

    def _judged(
        self, connection: Connection, read: Callable[[], Sequence[Any]]
    ) -> tuple[Sequence[Any], dict[str, Flaw | None]]:
        rows = read()
        flaws = _flaws(rows, self._proofs)
        if any(flaws.values()):
            with self._reading:
                self._read_on(connection, connection.scalar(sql("ledger_head")))
            rows = read()
            flaws = _flaws(rows, self._proofs)
        return rows, flaws

    def _note(self, flaws: Mapping[str, Flaw | None]) -> None:
        found = _flawed(flaws)
        with self._noting:
            news = [(slug, flaw) for slug, flaw in found.items() if self.withheld.get(slug) is not flaw]
            cleared = (flaws.keys() - found.keys()) & self.withheld.keys()
            if news or cleared:
                self.withheld = {slug: flaw for slug, flaw in self.withheld.items() if slug not in cleared} | found
        _tell(news)


def _flaws(rows: Sequence[Any], proofs: Proofs) -> dict[str, Flaw | None]:
    """Return the flaw of each record; a name that more than one row has is nobody's."""
    times = Counter(row.slug for row in rows if row.slug is not None)
    return {
        row.slug: _flaw(row, proofs) if times[row.slug] == 1 else Flaw.COLUMNS for row in rows if row.slug is not None
    }


def _flaw(row: Any, proofs: Proofs) -> Flaw | None:
    columns = Columns(
        slug=row.slug,
        record_id=row.record_id,
        topic=row.topic,
        title=row.title,
        applies_to=_value(row.applies_to),
        task_types=_value(row.task_types),
        content_version=row.content_version,
        content_hash=row.content_hash,
        approved_at=row.approved_at,
    )
    return find_flaw(columns, _content(row.body), proofs)


def _flawed(flaws: Mapping[str, Flaw | None]) -> dict[str, Flaw]:
    return {slug: flaw for slug, flaw in flaws.items() if flaw is not None}


def _is_demo(proofs: Proofs, slug: str) -> bool:
    approval = proofs.approvals.get(slug)
    return approval is not None and approval.by == DEMO_SIGNER


def _tell(found: Sequence[tuple[str, Flaw]]) -> None:
    """Log what was found, by name as far as that can be read."""
    lines = [(f"record {slug if is_slug(slug) else 'without a proper name'}", flaw) for slug, flaw in found[:_NAMED]]
    if len(found) > _NAMED:
        lines.append((f"each of {len(found) - _NAMED} more records", found[_NAMED][1]))
    for whose, flaw in lines:
        _log.error("%s is withheld: %s", whose, flaw)


def listed(slugs: Sequence[str]) -> str:
    """Return names for a message: the first twelve, and how many more there are."""
    more = f" and {len(slugs) - _NAMED} more" if len(slugs) > _NAMED else ""
    return ", ".join(slugs[:_NAMED]) + more


def verify_published(engine: Engine, policy: Policy | None = None) -> list[str]:
    """Return the slugs of served records that are not what the ledger approves, in alphabetical order.

    Works with the server's and the owner's engine. Raises Unavailable.
    """
    return sorted(Guard(policy).examine(engine).withheld)


def _pages(engine: Engine, most: int) -> Iterator[tuple[Connection, Callable[[], Sequence[Any]]]]:
    """Yield what reads each page; each has a connection of its own, so that a long look keeps none from callers.

    A view that always has one more does not keep a look from ending: nothing is served that is not among the approvals.
    """
    after = ""
    for _ in range(0, most, PAGE):
        with connected(engine) as connection:
            page = connection.execute(sql("published_page"), {"after": after, "page": PAGE}).scalars().all()
            if not page:
                return
            yield connection, partial(read_rows, connection, page)
            after = page[-1]


def read_rows(connection: Connection, slugs: Sequence[str], ids: Sequence[UUID] = ()) -> Sequence[Any]:
    """Read served records as they are stored, each with what it is held against its approval by."""
    return connection.execute(
        sql("fetch_records"), {"slugs": list(slugs), "ids": list(ids), "longest": LONGEST, "stored": STORED}
    ).all()


def _content(body: str | None) -> Content | None:
    return None if body is None else _parsed(body)


@lru_cache(maxsize=2048)
def _parsed(body: str) -> Content | None:
    try:
        return content_of(json.loads(body))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _value(column: str | None) -> Any:
    """Return a column's JSON value, None when it cannot be read."""
    try:
        return None if column is None else json.loads(column)
    except (ValueError, RecursionError):
        return None
