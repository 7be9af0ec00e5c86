"""Whether a stored record is what an owner approved: pure functions over the ledger and the record's row.

A record is served only while its content has the hash that the last decision about it approves, the columns beside the
content say the same as the content, and, where signatures are called for, that decision is signed by somebody allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import rfc8785

from app.ledger import DEMO_SIGNER, Decision, Entry, Ledger
from app.record import canonical_hash, record_id
from app.signatures import Signers

_SAID_TWICE = ("slug", "topic", "title", "applies_to", "task_types")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Flaw(StrEnum):
    """Why a record is withheld."""

    CONTENT = "content_changed"
    COLUMNS = "columns_changed"
    NOT_APPROVED = "not_approved"
    DEMO = "demonstration"
    UNSIGNED = "unsigned"
    SIGNATURE = "bad_signature"


@dataclass(frozen=True)
class Policy:
    """What a decision must carry to count.

    Attributes:
        signers: who may sign; None takes signatures for nothing.
        required: a decision without a valid signature does not count. Needs signers.
        demo: approvals of a demonstration set count.
    """

    signers: Signers | None = None
    required: bool = False
    demo: bool = True

    def flaw(self, entry: Entry, at: datetime) -> Flaw | None:
        """Return why a decision does not count, None when it does. A signature that is there must hold."""
        if entry.by == DEMO_SIGNER and not self.demo:
            return Flaw.DEMO
        if entry.sig is None:
            return Flaw.UNSIGNED if self.required else None
        if self.signers is None:
            return None
        return None if self.signers.accepts(entry, at) else Flaw.SIGNATURE


@dataclass(frozen=True)
class Approval:
    """The last decision about a record, when it is an approval.

    Attributes:
        version: approvals of the record so far; None when the ledger's beginning is missing.
        flaw: why the decision does not count.
    """

    sha256: str
    version: int | None
    at: datetime
    by: str
    flaw: Flaw | None


@dataclass(frozen=True)
class Proofs:
    """What a ledger proves, folded line by line.

    Attributes:
        head: hash of the last line, None while there is none.
        whole: the ledger is known from its first line on.
        latest: the latest time of a decision whose signature holds: a line after it was not taken before it.
    """

    policy: Policy
    whole: bool = True
    head: str | None = None
    latest: datetime = _LONG_AGO
    approvals: Mapping[str, Approval] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def followed_by(self, entries: Iterable[Entry]) -> Proofs:
        """Return what is proved once these decisions follow."""
        approvals, counts = dict(self.approvals), dict(self.counts)
        head, latest = self.head, self.latest
        for entry in entries:
            head = entry.hash
            flaw = self.policy.flaw(entry, max(latest, entry.decided_at))
            # Anybody who can write a line can write any time into it: only a signature vouches for one.
            if entry.sig is not None and flaw is None:
                latest = max(latest, entry.decided_at)
            if entry.decision is Decision.DEPRECATE:
                # Whoever took the decision: in doubt a record is withheld.
                approvals.pop(entry.slug, None)
                continue
            counts[entry.slug] = counts.get(entry.slug, 0) + 1
            version = counts[entry.slug] if self.whole else None
            approvals[entry.slug] = Approval(entry.sha256, version, entry.decided_at, entry.by, flaw)
        return replace(self, head=head, latest=latest, approvals=approvals, counts=counts)


def prove(ledger: Ledger, policy: Policy) -> Proofs:
    """Return what a whole ledger proves."""
    return Proofs(policy).followed_by(ledger.entries)


@dataclass(frozen=True)
class Content:
    """What is said by a record's stored content itself.

    Attributes:
        sha256: hash of its canonical form, as `app.record.content_hash` gave for the record.
    """

    sha256: str
    slug: str
    topic: str
    title: str
    applies_to: Any
    task_types: Any


@dataclass(frozen=True)
class Columns:
    """What the columns of a record's row say beside its content, as far as it decides what callers are told.

    What a search finds by (words, vectors, keys of technologies) is not among them: it decides whether a record is
    found, puts no text into an answer, and depends on the version of the program that wrote it.

    Attributes:
        applies_to, task_types: as JSON values; None when they cannot be read.
    """

    slug: str
    record_id: UUID
    topic: str
    title: str
    applies_to: Any
    task_types: Any
    content_version: int
    content_hash: str
    approved_at: datetime


def content_of(body: Mapping[str, Any]) -> Content:
    """Read a stored body. Raises ValueError, TypeError, KeyError or RecursionError when it is none."""
    return Content(body_hash(body), *(body[name] for name in _SAID_TWICE))


def body_hash(body: Mapping[str, Any]) -> str:
    """Return the content hash of a stored body."""
    return canonical_hash(rfc8785.dumps(dict(body)))


def find_flaw(columns: Columns, content: Content | None, proofs: Proofs) -> Flaw | None:
    """Return why a stored record must not be served, None when it may.

    Args:
        content: None when it cannot even be read.
    """
    if content is None or content.sha256 != columns.content_hash:
        return Flaw.CONTENT
    approval = proofs.approvals.get(columns.slug)
    if approval is None or approval.sha256 != columns.content_hash:
        return Flaw.NOT_APPROVED
    if approval.flaw is not None:
        return approval.flaw
    return None if _agree(columns, content, approval) else Flaw.COLUMNS


def _agree(columns: Columns, content: Content, approval: Approval) -> bool:
    said = all(getattr(columns, name) == getattr(content, name) for name in _SAID_TWICE)
    decided = columns.record_id == record_id(columns.slug) and columns.approved_at == approval.at
    # A view may say anything in place of a number.
    version: Any = columns.content_version
    return said and decided and isinstance(version, int) and approval.version in (None, version)
