"""get_guidance: whole records by slug or id."""

from __future__ import annotations

from typing import Any, Protocol

from app.cards import guidance_card
from app.contract import GetRequest
from app.ports import Catalogue


class GuidanceServices(Protocol):
    """What get_guidance needs of the services."""

    @property
    def catalogue(self) -> Catalogue:
        """The published records."""


def get_guidance(services: GuidanceServices, request: GetRequest) -> dict[str, Any]:
    """Return the records asked for, each once and in the order asked, and the identifiers that name none.

    Unknown, deprecated and unapproved identifiers look the same: they are in `missing`.
    """
    asked = list(dict.fromkeys(request.ids))
    found = services.catalogue.fetch(asked)
    records = {found[name].record_id: found[name] for name in asked if name in found}
    return {
        "results": [guidance_card(record, request.detail) for record in records.values()],
        "missing": [name for name in asked if name not in found],
    }
