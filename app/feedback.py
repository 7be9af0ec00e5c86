"""submit_feedback: an anonymous word to the owner, cleaned of what must not be kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from app.contract import FeedbackRequest
from app.ports import FeedbackEntry, Signals
from app.scrub import scrub


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
    )
    receipt = services.signals.record_feedback(entry, services.feedback_daily_cap)
    return {
        "accepted": True,
        "id": str(receipt),
        "message": "Recorded anonymously. The owner reads it; ranking does not use it.",
    }


def _identity(request: FeedbackRequest) -> str:
    """Return what makes two pieces of feedback the same: what is said about what, whatever the case and spacing."""
    comment = " ".join((request.comment or "").casefold().split())
    return "\0".join((request.category, request.record or "", comment))
