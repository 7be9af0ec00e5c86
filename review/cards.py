"""A record as an agent will get it, before it is published."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from app.cards import guidance_card, search_card
from app.contract import Detail
from app.ports import PublishedRecord
from app.record import Record, record_id

_OF_APPROVAL = ("status", "content_version", "approved_at")


def card(
    record: Record,
    detail: Detail,
    version: int = 1,
    approved_at: datetime | None = None,
    verified_on: date | None = None,
) -> dict[str, Any]:
    """Return what the service would answer with at this detail.

    Args:
        version: the content version it has, or would get.
        approved_at: when it was approved; for a record that is not, the day of its last change stands in.
        verified_on: the day since which all its checks have passed on this text.
    """
    stand_in = datetime.combine(record.updated, time(), UTC)
    published = PublishedRecord(record, record_id(record.slug), version, "", approved_at or stand_in, verified_on)
    return guidance_card(published, detail) if detail is Detail.FULL else search_card(published, None, detail)


def without_approval(shown: dict[str, Any]) -> dict[str, Any]:
    """Return a card less what only an approved record has."""
    return {key: value for key, value in shown.items() if key not in _OF_APPROVAL}
