"""All that an owner looks at before deciding about a record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from app.contract import Detail, count_tokens, serialise
from app.record import Record
from app.recordfile import RecordFile
from review.bench import Shelf, Similarity, Verdict
from review.cards import card, without_approval
from review.commands.writing import changes
from review.gates import pair_key
from review.gates.duplicates import word_overlap
from review.ledger import Decision, State
from review.verifications import FILE, proved_on, unproved, verified_on

_NEIGHBOURS = 8


@dataclass(frozen=True)
class Neighbour:
    """Another record that is near.

    Attributes:
        cosine: nearness in meaning, None when no model is at hand.
        overlap: share of words in common.
        relation: `supersedes`, `superseded by`, `conflicts with`, or empty.
        advice: what it recommends, and where that applies.
    """

    slug: str
    title: str
    advice: str
    cosine: float | None
    overlap: float
    relation: str


@dataclass(frozen=True)
class Dossier:
    """A record before a decision.

    Attributes:
        cards: what an agent gets at each detail.
        tokens: what that costs.
        diff: lines against the approved form; empty when it is as approved.
        proofs: results of executed checks on exactly this text.
        unproved: checks that did not pass on it, or not with each set of packages.
    """

    file: RecordFile
    state: State
    version: int
    cards: dict[Detail, dict[str, Any]]
    tokens: dict[Detail, int]
    diff: tuple[str, ...]
    verdict: Verdict
    neighbours: tuple[Neighbour, ...]
    proofs: tuple[dict[str, Any], ...]
    unproved: tuple[str, ...]


def dossier(shelf: Shelf, verdict: Verdict, similarity: Similarity | None) -> Dossier:
    """Gather what there is about a record.

    Raises:
        RecordError: it cannot be read.
        LedgerError: the copy of the approved form is missing or altered.
    """
    file = shelf.file(verdict.slug)
    proofs = verified_on(shelf.folder / FILE, verdict.slug, file.sha256)
    cards = _cards(shelf, file, proved_on(proofs, file))
    return Dossier(
        file=file,
        state=shelf.state(verdict.slug),
        version=shelf.ledger.content_version(verdict.slug),
        cards=cards,
        tokens={detail: count_tokens(serialise(shown)) for detail, shown in cards.items()},
        diff=tuple(changes(shelf, file)),
        verdict=verdict,
        neighbours=neighbours(shelf, file, similarity),
        proofs=tuple(proofs),
        unproved=unproved(proofs, file),
    )


def neighbours(shelf: Shelf, file: RecordFile, similarity: Similarity | None) -> tuple[Neighbour, ...]:
    """Return the records it is related to, then the nearest others, in meaning where that is known."""
    record = file.record
    found = []
    for other in shelf.corpus().values():
        if other.slug != record.slug:
            cosine = None if similarity is None else similarity.get(pair_key(record.slug, other.slug), 0.0)
            overlap = word_overlap(record, other)
            relation = _relation(shelf, record.slug, other.slug)
            found.append(Neighbour(other.slug, other.title, advice_of(other), cosine, overlap, relation))
    found.sort(key=lambda near: (not near.relation, -(near.overlap if near.cosine is None else near.cosine), near.slug))
    related = sum(bool(near.relation) for near in found)
    return tuple(found[: max(related, _NEIGHBOURS)])


def advice_of(record: Record) -> str:
    """Return what a record recommends, and for what."""
    scope = ", ".join(
        entry.name + (f" {entry.version_constraint}" if entry.version_constraint else "") for entry in record.applies_to
    )
    return f"{record.recommendation}\n\n[{scope or 'any technology'}]"


def _cards(shelf: Shelf, file: RecordFile, proved: date | None) -> dict[Detail, dict[str, Any]]:
    slug = file.record.slug
    approvals = [entry for entry in shelf.ledger.history(slug) if entry.decision is Decision.APPROVE]
    version, at = max(1, len(approvals)), approvals[-1].decided_at if approvals else None
    cards = {detail: card(file.record, detail, version, at, proved) for detail in Detail}
    if shelf.state(slug) is State.APPROVED:
        return cards
    return {detail: without_approval(shown) for detail, shown in cards.items()}


def _relation(shelf: Shelf, slug: str, other: str) -> str:
    one, two = shelf.files[slug].record, shelf.files[other].record
    if other in one.supersedes:
        return "supersedes"
    if slug in two.supersedes:
        return "superseded by"
    return "conflicts with" if other in one.conflicts_with or slug in two.conflicts_with else ""
