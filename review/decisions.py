"""Taking decisions: who may, with which signature, for which reason. Commands and the desk decide through here.

approve(settings, file, ...) -> Entry     append an approval of exactly this text
deprecate(settings, slug, ...) -> Entry   take a record out of service
take_back(settings, entry) -> Entry       undo a decision that was the last one about its record
"""

from __future__ import annotations

import getpass

from app.database import policy_of
from app.integrity import Policy, prove
from app.passphrase import Lock
from app.recordfile import RecordFile
from app.settings import Settings
from review.bench import Verdict
from review.errors import InvalidDecision, Refused
from review.gates import Level
from review.ledger import DEMO_SIGNER, Decision, Entry, Ledger, Sign, append, read_ledger
from review.screen import now
from review.signing import signer_with
from review.snapshots import keep_snapshot

LEDGER = "ledger.jsonl"
# Characters of a reason: it is kept in the ledger.
NOTE_CHARACTERS = (3, 500)
_NAME_CHARACTERS = 80


def approve(
    settings: Settings, file: RecordFile, *, by: str | None, note: str | None, lock: Lock | None = None
) -> Entry:
    """Append an approval of a record exactly as its file stood when it was read, and keep a copy of that text.

    Args:
        lock: one that was opened with the owner's passphrase; needed where one is set, here and for the others.

    Raises:
        PassphraseError: it is shut.
        LedgerError: the ledger is broken.
        InvalidDecision: `by` is no name.
        Refused: it would say nothing new, or cannot be signed as it must.
        SettingsError: the key or the file of allowed signers cannot be used.
    """
    (lock or Lock(settings)).require()
    keep_snapshot(settings.records, file)
    return _append(settings, Decision.APPROVE, file.record.slug, file.sha256, by=by, note=note)


def deprecate(settings: Settings, slug: str, *, by: str | None, reason: str, lock: Lock | None = None) -> Entry:
    """Take a record out of service from the next publish on.

    Raises:
        PassphraseError: the owner's lock is shut.
        Refused: it is not approved, or the decision cannot be signed as it must.
        LedgerError: the ledger is broken.
        InvalidDecision, SettingsError: as `approve`.
    """
    (lock or Lock(settings)).require()
    last = read_ledger(settings.records / LEDGER).last(slug)
    if last is None:
        raise Refused(f"{slug} has never been approved, so there is nothing to deprecate.")
    return _append(settings, Decision.DEPRECATE, slug, last.sha256, by=by, note=reason)


def take_back(settings: Settings, entry: Entry, *, by: str | None, lock: Lock | None = None) -> Entry:
    """Undo a decision by another one: what it replaced counts again. The ledger keeps both.

    Raises:
        PassphraseError: the owner's lock is shut.
        Refused: somebody has decided about the record since, or there is nothing to go back to.
        LedgerError: the ledger is broken.
    """
    (lock or Lock(settings)).require()
    ledger = read_ledger(settings.records / LEDGER)
    history = ledger.history(entry.slug)
    if not history or history[-1].hash != entry.hash:
        raise Refused(f"{entry.slug} was decided about since: look at it again.")
    before = _counted(settings, ledger, entry)
    note = f"taken back: {entry.decision.value} of {entry.at}"
    if before is not None and (before.by != DEMO_SIGNER or by == DEMO_SIGNER):
        return _append(settings, Decision.APPROVE, entry.slug, before.sha256, by=by, note=note)
    return _append(settings, Decision.DEPRECATE, entry.slug, entry.sha256, by=by, note=note)


def _counted(settings: Settings, ledger: Ledger, entry: Entry) -> Entry | None:
    """Return the approval before a decision, if it counted: undoing must not lend it a name that it did not have."""
    former = Ledger(ledger.entries[: ledger.entries.index(entry)])
    approval = prove(former, policy_of(settings)).approvals.get(entry.slug)
    return former.last(entry.slug) if approval is not None and approval.flaw is None else None


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
    """Return a reason on one line. Raises InvalidDecision when it is too short or long, or cannot be shown."""
    cleaned = " ".join(note.split())
    low, high = NOTE_CHARACTERS
    if not cleaned.isprintable():
        raise InvalidDecision("a reason is plain text: take control and other characters out that cannot be printed")
    if not low <= len(cleaned) <= high:
        raise InvalidDecision(
            f"a reason has {low} to {high} characters, and this has {len(cleaned)}: say in a sentence what decided it, "
            "such as what you read or tried"
        )
    return cleaned


def clean_name(name: str) -> str:
    """Return the name somebody decides in. Raises InvalidDecision for one that a decision cannot carry."""
    if not 1 <= len(name) <= _NAME_CHARACTERS or not name.isprintable() or name.strip() != name:
        raise InvalidDecision(f"a name has 1 to {_NAME_CHARACTERS} printable characters, and no blanks around it")
    return name


def login_name() -> str:
    """Return the login's name. Raises InvalidDecision where it has none, as in many containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError) as error:
        raise InvalidDecision("your login has no name here: say --by NAME, or set LOGNAME") from error


def _append(
    settings: Settings, decision: Decision, slug: str, sha256: str, *, by: str | None, note: str | None
) -> Entry:
    policy = policy_of(settings)
    return append(
        settings.records / LEDGER,
        slug=slug,
        sha256=sha256,
        decision=decision,
        by=clean_name(by if by is not None else login_name()),
        note=note,
        at=now(),
        policy=policy,
        sign=_sign(settings, policy),
    )


def _sign(settings: Settings, policy: Policy) -> Sign | None:
    """Return what signs a decision, None where no key is set. Where signatures are required, one must be."""
    if settings.signing_key is not None:
        return signer_with(settings.signing_key, policy)
    if policy.required:
        raise Refused("Approvals must be signed here (CHATCTX_REQUIRE_SIGNATURES): set CHATCTX_SIGNING_KEY.")
    return None
