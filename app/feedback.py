"""submit_feedback: an anonymous word to the owner, cleaned of what must not be kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from app.contract import FeedbackRequest
from app.ports import FeedbackEntry, Signals
from app.scrub import scrub
from app.technologies import canonical_name, version_under

# No more of a version is kept: four numbers may be an address, many digits may be anybody's number, and a tag may be
# the name of the company that builds the version for itself.
_NUMBER = re.compile(r"(?<![\w.])v?(\d{1,5}(?:\.\d{1,5}){0,2})(?!\d)", re.ASCII)


class FeedbackServices(Protocol):
    """What submit_feedback needs of the services."""

    @property
    def signals(self) -> Signals:
        """Where feedback is kept."""

    @property
    def feedback_hash(self) -> Callable[[str], bytes]:
        """Keyed hash that recognises a repeat."""

    @property
    def feedback_daily_cap(self) -> int:
        """Most entries kept per day."""


def submit_feedback(services: FeedbackServices, request: FeedbackRequest) -> dict[str, Any]:
    """Keep the feedback and return a receipt.

    The record named need not exist: whether it does is not told. A repeat of the same words on the same day is counted,
    and gets a receipt that looks like any other.

    Raises:
        FeedbackClosed: today's allowance is used up.
        Unavailable: the database does not answer in time.
    """
    comment = scrub(request.comment) if request.comment else None
    record = scrub(request.record) if request.record else None
    entry = FeedbackEntry(
        category=request.category,
        record=record.text if record else None,
        source=request.source,
        comment=comment.text if comment else None,
        fingerprint=services.feedback_hash(_identity(request)),
        redactions=dict(comment.redactions) if comment else {},
        outcome=request.outcome,
        versions=kept_versions(request.versions),
    )
    receipt = services.signals.record_feedback(entry, services.feedback_daily_cap)
    return {
        "accepted": True,
        "id": str(receipt),
        "message": "Recorded anonymously. The owner reads it; ranking does not use it.",
    }


def kept_versions(versions: Mapping[str, str]) -> dict[str, str]:
    """Return what may be kept of versions: their numbers, by the canonical names of technologies that we know.

    A name that we do not know may be a customer's, a product's or a person's: it is dropped with its version, and so is
    what has no number.

    >>> kept_versions({"reactjs": "^18.2.0-acme.4", "Acme Portal": "7"})
    {'React': '18.2.0'}
    """
    kept: dict[str, str] = {}
    for given, version in versions.items():
        name = canonical_name(given)
        number = _NUMBER.search(version_under(given, version) or "")
        if name and number:
            kept.setdefault(name, number[1])
    return dict(sorted(kept.items()))


def _identity(request: FeedbackRequest) -> str:
    """Return what makes two pieces of feedback the same: what is said about what, whatever the case and spacing."""
    comment = " ".join((request.comment or "").casefold().split())
    versions = (f"{name} {number}" for name, number in kept_versions(request.versions).items())
    return "\0".join((request.category, request.record or "", comment, request.outcome or "", *versions))
