"""Taking decisions: who may, with which signature, for which reason. Commands and the desk decide through here.

approve(settings, file, ...) -> Entry     append an approval of exactly this text
deprecate(settings, slug, ...) -> Entry   take a record out of service
"""

from __future__ import annotations

import getpass

from app.database import policy_of
from app.integrity import Policy
from app.recordfile import RecordFile
from app.settings import Settings
from review.bench import Verdict
from review.errors import Refused, wrong_usage
from review.gates import Level
from review.ledger import Decision, Entry, Sign, append, read_ledger
from review.screen import now
from review.signing import signer_with
from review.snapshots import keep_snapshot

LEDGER = "ledger.jsonl"
# Characters of a reason: it is kept in the ledger.
NOTE_CHARACTERS = (3, 500)
_NAME_CHARACTERS = 80


def approve(settings: Settings, file: RecordFile, *, by: str | None, note: str | None) -> Entry:
    """Append an approval of a record exactly as its file stood when it was read, and keep a copy of that text.

    Raises:
        LedgerError: the ledger is broken, or the same person approved the same text before.
        Refused, SettingsError: it cannot be signed as it must.
    """
    keep_snapshot(settings.records, file)
    return _append(settings, Decision.APPROVE, file.record.slug, file.sha256, by=by, note=note)


def deprecate(settings: Settings, slug: str, *, by: str | None, reason: str) -> Entry:
    """Take a record out of service from the next publish on.

    Raises:
        Refused: it was never approved, or the decision cannot be signed as it must.
        LedgerError: the ledger is broken, or the record is out of service already.
    """
    last = read_ledger(settings.records / LEDGER).last(slug)
    if last is None:
        raise Refused(f"{slug} has never been approved, so there is nothing to deprecate.")
    return _append(settings, Decision.DEPRECATE, slug, last.sha256, by=by, note=reason)


def refuse_errors(verdict: Verdict) -> None:
    """Raise Refused when a gate finds an error."""
    errors = verdict.findings(Level.ERROR)
    if errors:
        named = "; ".join(f"{gate}: {finding.message}" for gate, finding in errors)
        raise Refused(f"{verdict.slug} has {len(errors)} finding(s) that refuse approval. {named}")


def warned(verdict: Verdict) -> tuple[str, ...]:
    """Return the gates that ask for a reason, each once."""
    return tuple(dict.fromkeys(gate for gate, _ in verdict.findings(Level.WARNING)))


def clean_note(note: str) -> str:
    """Return a reason on one line. Raises WrongUsage when it is too short, too long or holds what cannot be shown."""
    cleaned = " ".join(note.split())
    low, high = NOTE_CHARACTERS
    if not low <= len(cleaned) <= high or not cleaned.isprintable():
        raise wrong_usage(f"say why in {low} to {high} printable characters: it is kept in the ledger")
    return cleaned


def _append(
    settings: Settings, decision: Decision, slug: str, sha256: str, *, by: str | None, note: str | None
) -> Entry:
    policy = policy_of(settings)
    return append(
        settings.records / LEDGER,
        slug=slug,
        sha256=sha256,
        decision=decision,
        by=_signer(by),
        note=note,
        at=now(),
        policy=policy,
        sign=_sign(settings, policy),
    )


def _signer(by: str | None) -> str:
    name = by if by is not None else getpass.getuser()
    if not 1 <= len(name) <= _NAME_CHARACTERS or not name.isprintable() or name.strip() != name:
        raise wrong_usage(f"--by takes 1 to {_NAME_CHARACTERS} printable characters")
    return name


def _sign(settings: Settings, policy: Policy) -> Sign | None:
    """Return what signs a decision, None where no key is set. Where signatures are required, one must be."""
    if settings.signing_key is not None:
        return signer_with(settings.signing_key, policy)
    if policy.required:
        raise Refused("Approvals must be signed here (CHATCTX_REQUIRE_SIGNATURES): set CHATCTX_SIGNING_KEY.")
    return None
