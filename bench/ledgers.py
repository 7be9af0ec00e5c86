"""Ledgers for scratch databases: the decisions that would have led to what is published there."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Engine

from app.ledger import Decision, Entry, Ledger, draft
from app.store.engine import connected, sql
from app.store.ledgerlines import walk_back
from app.store.publishing import PublishInput


def ledger_for(owner: Engine, inputs: Iterable[PublishInput]) -> Ledger:
    """Return the ledger the database was last published from, with the approvals of the inputs that it lacks."""
    with connected(owner) as connection:
        head = connection.scalar(sql("ledger_head"))
        ledger = Ledger(walk_back(connection, head, None).entries) if head else Ledger()
    entries: list[Entry] = []
    counts = {slug: ledger.content_version(slug) for slug in ledger.approved_slugs()}
    for approved in inputs:
        slug = approved.record.slug
        for _ in range(approved.content_version - counts.get(slug, 0)):
            previous = Ledger((entries[-1],)) if entries else ledger
            entry = draft(
                previous,
                slug=slug,
                sha256=approved.content_hash,
                decision=Decision.APPROVE,
                by=approved.approved_by,
                note=approved.note,
                at=approved.approved_at,
            )
            entries.append(entry.sealed())
    return ledger.followed_by(entries)
