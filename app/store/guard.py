"""Keeps from service what the ledger in the database does not prove."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine

from app.integrity import Columns, Content, Flaw, Policy, Proofs, content_of, find_flaw
from app.ledger import DEMO_SIGNER
from app.record import is_slug
from app.store.engine import connected, sql
from app.store.ledgerlines import walk_back

PAGE = 200
_NAMED = 12
_log = logging.getLogger(__name__)


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

    def __init__(self, policy: Policy | None = None) -> None:
        self._proofs = Proofs(policy or Policy())
        self._refused: str | None = None
        self._lock = Lock()
        self.withheld: Mapping[str, Flaw] = {}

    @property
    def proofs(self) -> Proofs:
        """What is proved as of the last look at the ledger."""
        return self._proofs

    def serves(self, slug: str) -> bool:
        """Tell whether a record may be named; what it says is held against the ledger when it is fetched."""
        return slug in self._proofs.approvals and slug not in self.withheld

    def serves_any(self) -> bool:
        """Tell whether not everything that was found is withheld."""
        return not self.withheld or any(slug not in self.withheld for slug in self._proofs.approvals)

    def refresh(self, connection: Connection, head: str | None) -> None:
        """Read the lines up to the ledger's head that are not known yet. Raises Unavailable."""
        with self._lock:
            known = self._proofs.head
            if head is None or head in (known, self._refused):
                return
            walk = walk_back(connection, head, known)
            if known is not None and walk.end != "known":
                self._refused = head
                _log.error("the ledger in the database does not continue the one it was: it is not believed")
                return
            if walk.end == "gap":
                _log.error("the ledger in the database has a gap: records approved before it are withheld")
            base = self._proofs if known else Proofs(self._proofs.policy, whole=walk.end == "beginning")
            self._proofs = base.followed_by(walk.entries)

    def sound(self, connection: Connection, rows: Sequence[Any]) -> list[Any]:
        """Return those of the fetched rows that are what was approved. Raises Unavailable."""
        flaws = {row.slug: self._flaw(row) for row in rows}
        if any(flaws.values()):
            self.refresh(connection, connection.scalar(sql("ledger_head")))
            flaws = {row.slug: self._flaw(row) for row in rows}
        self._note(flaws)
        return [row for row in rows if flaws[row.slug] is None]

    def examine(self, engine: Engine) -> Examination:
        """Look at every served record, a page at a time. Raises Unavailable."""
        found: dict[str, Flaw] = {}
        records, demo = 0, False
        for connection, rows in _pages(engine):
            sound = {row.slug for row in self.sound(connection, rows)}
            found |= {row.slug: self.withheld[row.slug] for row in rows if row.slug not in sound}
            demo |= any(self._proofs.approvals[slug].by == DEMO_SIGNER for slug in sound)
            records += len(rows)
        self.withheld = found
        return Examination(records, found, demo)

    def _flaw(self, row: Any) -> Flaw | None:
        columns = Columns(
            row.slug, row.record_id, row.topic, row.title, row.content_version, row.content_hash, row.approved_at
        )
        return find_flaw(columns, _content(row.body), self._proofs)

    def _note(self, flaws: Mapping[str, Flaw | None]) -> None:
        found = {slug: flaw for slug, flaw in flaws.items() if flaw is not None}
        _tell([(slug, flaw) for slug, flaw in found.items() if self.withheld.get(slug) is not flaw])
        cleared = {slug for slug, flaw in flaws.items() if flaw is None}
        if found or cleared & self.withheld.keys():
            kept = {slug: flaw for slug, flaw in self.withheld.items() if slug not in cleared}
            self.withheld = kept | found


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


def _pages(engine: Engine) -> Iterator[tuple[Connection, Sequence[Any]]]:
    """Yield the served rows; each page has a connection of its own, so that a long look keeps none from callers."""
    after = ""
    while True:
        with connected(engine) as connection:
            rows = connection.execute(sql("published_bodies"), {"after": after, "page": PAGE}).all()
            if not rows:
                return
            yield connection, rows
            after = rows[-1].slug


@lru_cache(maxsize=2048)
def _content(body: str) -> Content | None:
    try:
        return content_of(json.loads(body))
    except (ValueError, TypeError, KeyError):
        return None
