"""What a ledger proves of a stored record: pure, decision by decision."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from app.integrity import Columns, Content, Flaw, Policy, Proofs, content_of, find_flaw, prove
from app.ledger import Decision, Entry, Ledger, draft
from app.record import canonical_form, content_hash, record_id
from app.signatures import Signer, Signers
from tests.core.records import make_record

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
SLUG = "a-record"
OLD, NEW = "a" * 64, "b" * 64


@dataclass(frozen=True)
class Recorder(Signers):
    """Signers that accept what is signed `good`, and keep at what time they were asked."""

    signers: tuple[Signer, ...] = ()
    asked: list[datetime] = field(default_factory=list)

    def accepts(self, entry: Entry, at: datetime) -> bool:
        self.asked.append(at)
        return entry.sig == "good"


def ledger(*decisions: tuple[str, Decision, str, datetime], sig: str | None = None) -> Ledger:
    """Return a ledger of (slug, decision, hash, time)."""
    made = Ledger()
    for slug, decision, sha256, at in decisions:
        entry = draft(made, slug=slug, sha256=sha256, decision=decision, by="alice", note=None, at=at)
        made = made.followed_by([replace(entry, sig=sig).sealed()])
    return made


def approve(sha256: str, at: datetime = NOON, slug: str = SLUG) -> tuple[str, Decision, str, datetime]:
    return slug, Decision.APPROVE, sha256, at


def deprecate(sha256: str, at: datetime = NOON, slug: str = SLUG) -> tuple[str, Decision, str, datetime]:
    return slug, Decision.DEPRECATE, sha256, at


def stored(sha256: str = OLD, version: int = 1, **changes: object) -> tuple[Columns, Content]:
    """Return a row that says what its content says."""
    columns = Columns(SLUG, record_id(SLUG), "data", "A title", [], ["build"], version, sha256, NOON)
    return replace(columns, **changes), Content(sha256, SLUG, "data", "A title", [], ["build"])


def flaw(proofs: Proofs, sha256: str = OLD, version: int = 1, **changes: object) -> Flaw | None:
    return find_flaw(*stored(sha256, version, **changes), proofs)


def test_what_the_last_decision_approves_has_no_flaw() -> None:
    """Also after it was taken out of service and approved again."""
    assert flaw(prove(ledger(approve(OLD)), Policy())) is None
    again = ledger(approve(OLD), deprecate(OLD), approve(NEW))
    assert flaw(prove(again, Policy()), NEW, version=2) is None


@pytest.mark.parametrize(
    "decisions",
    [(), (approve(NEW),), (approve(OLD), approve(NEW)), (approve(OLD), deprecate(OLD)), (approve(OLD, slug="other"),)],
    ids=["nothing", "another text", "an earlier text", "taken out of service", "another record"],
)
def test_what_the_last_decision_does_not_approve_is_withheld(
    decisions: tuple[tuple[str, Decision, str, datetime], ...],
) -> None:
    assert flaw(prove(ledger(*decisions), Policy())) is Flaw.NOT_APPROVED


def test_content_that_has_not_the_hash_beside_it_is_withheld() -> None:
    columns, content = stored()
    proofs = prove(ledger(approve(OLD)), Policy())
    assert find_flaw(columns, replace(content, sha256=NEW), proofs) is Flaw.CONTENT
    assert find_flaw(columns, None, proofs) is Flaw.CONTENT


@pytest.mark.parametrize(
    "changes",
    [
        {"topic": "security"},
        {"title": "Another"},
        {"applies_to": [{"kind": "framework", "name": "React", "version_constraint": None, "scheme": None}]},
        {"applies_to": None},
        {"task_types": []},
        {"content_version": 2},
        {"record_id": uuid4()},
        {"approved_at": NOON + timedelta(seconds=1)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_columns_that_say_something_else_are_withheld(changes: dict[str, object]) -> None:
    assert flaw(prove(ledger(approve(OLD)), Policy()), **changes) is Flaw.COLUMNS


def test_content_of_another_record_is_withheld() -> None:
    columns, content = stored()
    proofs = prove(ledger(approve(OLD)), Policy())
    assert find_flaw(columns, replace(content, slug="other"), proofs) is Flaw.COLUMNS


def test_without_the_ledgers_beginning_versions_are_not_judged() -> None:
    """How often a record was approved before the gap, nobody can tell."""
    whole = ledger(approve(NEW), approve(OLD))
    rest = Proofs(Policy(), whole=False).followed_by(whole.entries[1:])
    assert flaw(rest, version=7) is None
    assert flaw(prove(whole, Policy()), version=7) is Flaw.COLUMNS
    assert flaw(prove(whole, Policy()), version=2) is None


def test_lines_that_follow_are_added_to_what_was_proved() -> None:
    """In pieces or at once, the same is proved."""
    whole = ledger(approve(OLD), approve(OLD, slug="other"), approve(NEW), deprecate(OLD, slug="other"))
    first = Proofs(Policy()).followed_by(whole.entries[:2])
    assert first.head == whole.entries[1].hash
    assert first.followed_by(whole.entries[2:]) == prove(whole, Policy())
    assert flaw(first) is None
    assert set(prove(whole, Policy()).approvals) == {SLUG}


@pytest.mark.parametrize(
    ("sig", "signers", "required", "expected"),
    [
        (None, False, False, None),
        (None, True, False, None),
        (None, True, True, Flaw.UNSIGNED),
        (None, False, True, Flaw.UNSIGNED),
        ("bad", False, False, None),
        ("bad", True, False, Flaw.SIGNATURE),
        ("bad", True, True, Flaw.SIGNATURE),
        ("good", True, False, None),
        ("good", True, True, None),
    ],
)
def test_a_signature_must_hold_where_it_is_there_and_be_there_where_it_is_required(
    sig: str | None, signers: bool, required: bool, expected: Flaw | None
) -> None:
    policy = Policy(Recorder() if signers else None, required)
    assert flaw(prove(ledger(approve(OLD), sig=sig), policy)) is expected


def test_a_demonstration_counts_where_it_may() -> None:
    """Whoever signed it: the name it is signed in says what it is."""
    approval = draft(Ledger(), slug=SLUG, sha256=OLD, decision=Decision.APPROVE, by="demo", note=None, at=NOON)
    shown = Ledger().followed_by([replace(approval, sig="good").sealed()])
    assert flaw(prove(shown, Policy(Recorder(), required=True))) is None
    assert flaw(prove(shown, Policy(Recorder(), required=True, demo=False))) is Flaw.DEMO


def test_a_decision_is_no_earlier_than_the_latest_before_it() -> None:
    """A date set back does not revive a key that has expired meanwhile."""
    signers = Recorder()
    later = NOON + timedelta(days=1)
    prove(ledger(approve(OLD), approve(NEW, later), approve(OLD, NOON), sig="good"), Policy(signers))
    assert signers.asked == [NOON, later, later]


def test_the_latest_time_is_kept_between_pieces() -> None:
    signers = Recorder()
    later = NOON + timedelta(days=1)
    whole = ledger(approve(OLD, later), approve(NEW, NOON), sig="good")
    Proofs(Policy(signers)).followed_by(whole.entries[:1]).followed_by(whole.entries[1:])
    assert signers.asked == [later, later]


@pytest.mark.parametrize("sig", [None, "bad"])
def test_the_time_of_a_line_without_a_valid_signature_is_not_believed(sig: str | None) -> None:
    """Otherwise anybody who can write a line can make every key look expired."""
    signers = Recorder()
    far = NOON + timedelta(days=300_000)
    first = ledger(approve(OLD, far, slug="other"), sig=sig)
    proofs = prove(first, Policy(signers)).followed_by(ledger(approve(OLD), sig="good").entries)
    assert proofs.approvals[SLUG].flaw is None
    assert signers.asked[-1] == NOON


def test_who_approved_and_when_is_kept() -> None:
    approval = prove(ledger(approve(OLD), approve(NEW)), Policy()).approvals[SLUG]
    assert (approval.sha256, approval.version, approval.at, approval.by, approval.flaw) == (NEW, 2, NOON, "alice", None)


def test_taking_out_of_service_what_never_was_in_it_changes_nothing() -> None:
    """The beginning may be missing."""
    assert prove(ledger(deprecate(OLD), approve(OLD)), Policy()).approvals.keys() == {SLUG}


def test_a_stored_body_is_read_as_it_was_approved() -> None:
    """The hash of a record's canonical form is the one its approval names."""
    record = make_record()
    content = content_of(json.loads(canonical_form(record, {"a.py": b"pass"})))
    assert content.sha256 == content_hash(record, {"a.py": b"pass"})
    assert (content.slug, content.topic, content.title) == (record.slug, record.topic.value, record.title)
    assert [entry["name"] for entry in content.applies_to] == [entry.name for entry in record.applies_to]
    assert content.task_types == [task.value for task in record.task_types]


def test_a_body_that_is_none_cannot_be_read() -> None:
    with pytest.raises(KeyError):
        content_of({"title": "no slug"})
