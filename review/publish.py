"""Publishing: what the ledger approves becomes what is served, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from app.database import Database, policy_of
from app.errors import EmbeddingFailure, LedgerError
from app.indexing import embedding_texts
from app.integrity import Flaw, Policy, prove
from app.ports import Embedder, EmbeddingModel, Vector
from app.settings import Environment, Settings
from app.store.guard import listed, verify_published
from app.store.publishing import PublishInput, PublishPlan, other_ledger, plan, replace_published
from app.store.served import publication
from review.bench import Shelf, open_shelf
from review.errors import Refused
from review.ledger import DEMO_SIGNER, Ledger, State
from review.screen import counted
from review.verifications import FILE, Results, newest_results, proved_on

# What `app.database` lends. Its type is SQLAlchemy's, and this room does not speak SQL.
OwnerEngine = Any
Progress = Callable[[str, int, int], None]

_BATCH = 8
_GONE = "its file is gone"
_UNPROVED = {
    Flaw.UNSIGNED: "approval is not signed",
    Flaw.SIGNATURE: "approval is not signed by anybody who may",
}
_LISTED = 12


def _silence(step: str, done: int, total: int) -> None:
    """Tell nobody."""


def refuse_withdrawal(lost: Mapping[str, str]) -> None:
    """What counts is a setting, and one that is set by mistake must not empty the knowledge base. Raises Refused."""
    raise Refused(
        f"This would withdraw {told_of(lost)} Approve them again so that it counts (docs/approving.md), or say "
        "--allow-withdrawal. Nothing was published."
    )


def accept_withdrawal(_lost: Mapping[str, str]) -> None:
    """Let them go."""


@dataclass(frozen=True)
class Choices:
    """What an owner may want of a publish besides.

    Attributes:
        dry_run: only say what would change.
        new_ledger: accept a ledger that does not continue the one last published from.
        allow_empty: accept that nothing at all will be served any more.
        on_withdrawal: told of the served records that would go because their approvals do not count (any more), with
            the reason of each; raises Refused unless they may.
    """

    dry_run: bool = False
    new_ledger: bool = False
    allow_empty: bool = False
    on_withdrawal: Callable[[Mapping[str, str]], None] = refuse_withdrawal


ORDINARY = Choices()


@dataclass(frozen=True)
class Selection:
    """What the ledger lets be served of what lies in the folder.

    Attributes:
        withheld: records that were approved and will not be served, with the reason.
        unapproved: records in the folder that were never approved.
        demo: at least one approval is signed as a demonstration.
    """

    approved: tuple[PublishInput, ...]
    withheld: dict[str, str]
    unapproved: tuple[str, ...]
    demo: bool
    ledger: Ledger


@dataclass(frozen=True)
class Published:
    """What a publish did, or with `dry_run` would do."""

    plan: PublishPlan
    selection: Selection
    dry_run: bool

    @property
    def deprecated(self) -> tuple[str, ...]:
        """What is taken out of service by a decision, or because its file is gone."""
        files = self.selection.withheld
        return tuple(slug for slug in self.plan.deprecated if files.get(slug, _GONE) == _GONE)

    @property
    def lost(self) -> dict[str, str]:
        """What is taken out of service because its approval does not count, with the reason; no decision says so."""
        reasons = self.selection.withheld
        return {slug: reasons[slug] for slug in self.plan.deprecated if reasons.get(slug) in _UNPROVED.values()}

    @property
    def withheld(self) -> dict[str, str]:
        """What was approved and is not served, with the reason, less what is said to be deprecated."""
        return {slug: reason for slug, reason in self.selection.withheld.items() if slug not in self.deprecated}


def select(shelf: Shelf, policy: Policy) -> Selection:
    """Choose the records that are approved exactly as their files stand, by decisions that count."""
    approvals = prove(shelf.ledger, policy).approvals
    approved = [slug for slug in sorted(shelf.files) if shelf.state(slug) is State.APPROVED]
    unproved = {slug: _UNPROVED[flaw] for slug in approved if (flaw := approvals[slug].flaw)}
    results = newest_results(shelf.folder / FILE)
    chosen = tuple(_input(shelf, slug, results) for slug in approved if slug not in unproved)
    demo = any(entry.approved_by == DEMO_SIGNER for entry in chosen)
    return Selection(chosen, _withheld(shelf) | unproved, _unapproved(shelf), demo, shelf.ledger)


def publish(
    shelf: Shelf,
    engine: OwnerEngine,
    embedder: Embedder | None,
    settings: Settings,
    choices: Choices = ORDINARY,
    progress: Progress = _silence,
) -> Published:
    """Make the served set equal to the approved one, in one transaction.

    Args:
        progress: told of each step.

    Raises:
        Refused: a demonstration set in production, or one that the choices do not allow.
        LedgerError: the ledger lacks lines that were published from, or served bodies were altered.
        EmbeddingFailure: the model gave no vectors; nothing was changed.
        Unavailable: the database does not answer, or another publish is running; nothing was changed.
    """
    # What a demonstration set is told in production is one refusal, not a reason for each record.
    policy = replace(policy_of(settings), demo=True)
    chosen = select(shelf, policy)
    _refuse_demo(chosen, settings)
    _refuse_other_ledger(shelf, engine, new_ledger=choices.new_ledger)
    planned = Published(plan(engine, chosen.approved, _model_of(embedder)), chosen, choices.dry_run)
    return planned if choices.dry_run else _carried_out(planned, engine, embedder, policy, choices, progress)


def _model_of(embedder: Embedder | None) -> EmbeddingModel | None:
    return embedder.model if embedder else None


def _carried_out(
    planned: Published,
    engine: OwnerEngine,
    embedder: Embedder | None,
    policy: Policy,
    choices: Choices,
    progress: Progress,
) -> Published:
    _refuse_losses(planned, choices)
    chosen = planned.selection
    inputs = _with_vectors(chosen.approved, embedder, frozenset(planned.plan.to_embed), progress)
    done = replace_published(
        engine, inputs, model=_model_of(embedder), ledger=chosen.ledger, demo=chosen.demo, progress=progress,
        continues=not choices.new_ledger,
    )  # fmt: skip
    _refuse_altered(engine, policy)
    return replace(planned, plan=done)


def publish_approved(
    settings: Settings, database: Database, embedder: Embedder | None, progress: Progress = _silence
) -> None:
    """Publish on the way to serving: a model that cannot be loaded costs search by meaning, not the service.

    Served records whose approvals do not count are withdrawn: this server would withhold them all the same.

    Raises:
        Refused, LedgerError, RecordError, Unavailable: as `publish`.
    """
    shelf = open_shelf(settings.records)
    choices = Choices(on_withdrawal=accept_withdrawal)
    try:
        published = publish(shelf, database.owner, embedder, settings, choices, progress)
    except EmbeddingFailure as failure:
        click.echo(f"{failure.code}: {failure.message} Publishing for search by words.", err=True)
        published = publish(shelf, database.owner, None, settings, choices, progress)
    for line in lines_of_unserved(published):
        click.echo(line, err=True)


def _input(shelf: Shelf, slug: str, results: Results) -> PublishInput:
    file, entry = shelf.files[slug], shelf.ledger.last(slug)
    assert entry is not None  # noqa: S101 - its state is approved
    return PublishInput(
        record=file.record,
        content_hash=file.sha256,
        content_version=shelf.ledger.content_version(slug),
        approved_at=entry.decided_at,
        approved_by=entry.by,
        note=entry.note,
        fixtures=file.fixtures,
        verified_on=proved_on(results.get((slug, file.sha256), ()), file),
    )


def _withheld(shelf: Shelf) -> dict[str, str]:
    reasons = {}
    for slug in sorted(shelf.ledger.approved_slugs()):
        if slug in shelf.broken:
            reasons[slug] = "cannot be read"
        elif slug not in shelf.files:
            reasons[slug] = _GONE
        elif shelf.state(slug) is State.CHANGED:
            reasons[slug] = "changed since approval"
    return reasons


def _unapproved(shelf: Shelf) -> tuple[str, ...]:
    return tuple(slug for slug in sorted({*shelf.files, *shelf.broken}) if shelf.ledger.last(slug) is None)


def lines_of_unserved(published: Published) -> list[str]:
    """Return a line for each record in the folder that is not served and that no decision took out of service."""
    unapproved = published.selection.unapproved
    lines = [f"withheld: {slug} ({reason})" for slug, reason in published.withheld.items()]
    lines += [f"not approved: {slug}" for slug in unapproved[:_LISTED]]
    if len(unapproved) > _LISTED:
        lines.append(f"not approved: {len(unapproved) - _LISTED} more")
    return lines


def told_of(lost: Mapping[str, str]) -> str:
    """Return what to say of records whose approvals do not count: how many for which reason, and their names."""
    parts = (_told(reason, [slug for slug in lost if lost[slug] == reason]) for reason in _UNPROVED.values())
    return " ".join(filter(None, parts))


def _told(reason: str, slugs: Sequence[str]) -> str:
    return f"{counted({'served record': len(slugs)})} ({reason}): {listed(slugs)}." if slugs else ""


def _refuse_demo(chosen: Selection, settings: Settings) -> None:
    if chosen.demo and settings.env is Environment.PRODUCTION and not settings.allow_demo_records:
        signed = [entry.record.slug for entry in chosen.approved if entry.approved_by == DEMO_SIGNER]
        raise Refused(
            f"CHATCTX_ENV is production, and {counted({'record': len(signed)})} would make it a demonstration set: "
            f"{listed(signed)}. Approve in your own name what you answer for and deprecate the rest, or set "
            "CHATCTX_ALLOW_DEMO_RECORDS=true."
        )


def _refuse_other_ledger(shelf: Shelf, engine: OwnerEngine, *, new_ledger: bool) -> None:
    """A chain cannot tell that its last lines were cut off; the database remembers where it ended."""
    head = publication(engine).ledger_head
    if head is not None and not new_ledger and not shelf.ledger.knows(head):
        raise other_ledger()


def _refuse_losses(planned: Published, choices: Choices) -> None:
    """Refuse what would take records out of service that no decision took out, or all of them."""
    gone = planned.plan.deprecated
    if gone and not planned.selection.approved:
        if not choices.allow_empty:
            raise Refused(
                f"No record has an approval that counts; this would withdraw all {len(gone)}: {listed(gone)}. "
                "Say --allow-empty if nothing is to be served any more."
            )
    elif planned.lost:
        choices.on_withdrawal(planned.lost)


def _refuse_altered(engine: OwnerEngine, policy: Policy) -> None:
    altered = verify_published(engine, policy)
    if altered:
        raise LedgerError(
            f"Served records are not what was approved, and are withheld: {listed(altered)}. Restore the database."
        )


def _with_vectors(
    approved: Sequence[PublishInput], embedder: Embedder | None, wanted: frozenset[str], progress: Progress
) -> tuple[PublishInput, ...]:
    """Give the named records their vectors; the others keep those that are stored."""
    if embedder is None:
        return tuple(approved)
    done = 0
    inputs = []
    for entry in approved:
        if entry.record.slug in wanted:
            inputs.append(replace(entry, vectors=_vectors(embedder, embedding_texts(entry.record))))
            done += 1
            progress("embedding", done, len(wanted))
        else:
            inputs.append(entry)
    return tuple(inputs)


def _vectors(embedder: Embedder, texts: dict[str, str]) -> dict[str, Vector]:
    names = list(texts)
    vectors: dict[str, Vector] = {}
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        vectors |= dict(zip(batch, embedder.embed([texts[name] for name in batch]), strict=True))
    return vectors
