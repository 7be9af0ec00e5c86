"""The ledger of decisions as a value: who approved or deprecated which record, in which form, when and why.

Each line carries the hash of the line before it, so that an edit, a dropped, moved or repeated line breaks the chain
and is found. What a chain cannot tell by itself is that its last lines were cut off, or that all of it was written
anew: whoever has seen an earlier head looks for it (`Ledger.knows`), and a signature covers the hash of the line
before.

The lines are kept in `records/ledger.jsonl`, and every publish copies them into the database, where each server
verifies them for itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache, cached_property
from typing import Annotated, Any

import rfc8785
from pydantic import StringConstraints, TypeAdapter

from app.errors import LedgerError

GENESIS = "0" * 64
# Entries in this name make a set a demonstration: drafted and signed without an owner's judgement.
DEMO_SIGNER = "demo"
_DOMAIN = b"chatctx-ledger-v1\0"
# As `app.record` has it, which lies above.
Name = Annotated[str, StringConstraints(max_length=64, pattern="^[a-z0-9]+(?:-[a-z0-9]+)*$")]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Moment = Annotated[str, StringConstraints(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


class Decision(StrEnum):
    """What was decided."""

    APPROVE = "approve"
    DEPRECATE = "deprecate"


class State(StrEnum):
    """Where a record stands: only an approved one is served."""

    NEW = "new"
    APPROVED = "approved"
    CHANGED = "changed"
    DEPRECATED = "deprecated"


@dataclass(frozen=True)
class Entry:
    """One decision.

    Attributes:
        sha256: hash of the record's canonical form the decision is about.
        at: UTC time, ISO-8601 with seconds.
        by: who decided; `demo` marks a demonstration set.
        prev: `hash` of the line before, GENESIS for the first.
        sig: SSH signature of `statement()` without its armour, None for an unsigned decision.
        hash: hash of this line's other fields.
    """

    slug: Name
    sha256: Digest
    decision: Decision
    at: Moment
    by: str
    note: str | None
    prev: Digest
    sig: str | None = None
    hash: Digest = ""

    @property
    def decided_at(self) -> datetime:
        """The time of the decision as an aware datetime."""
        return datetime.fromisoformat(self.at)

    def statement(self) -> bytes:
        """Return what a signature is given for: every field but the signature and the hash, as RFC 8785 JSON."""
        return rfc8785.dumps({name: value for name, value in self._fields().items() if name not in ("sig", "hash")})

    def line(self) -> bytes:
        """Return the line of the ledger, without its end."""
        return json.dumps(self._fields(), ensure_ascii=False, separators=(",", ":")).encode()

    def sealed(self) -> Entry:
        """Return the entry with the hash of its other fields."""
        return replace(self, hash=_hash(self._fields()))

    def _fields(self) -> dict[str, Any]:
        # An unsigned line has no field for it, so that ledgers from before signatures stay what they are.
        return {name: value for name, value in asdict(self).items() if name != "sig" or value is not None}


@dataclass(frozen=True)
class Ledger:
    """All decisions, in order, with their chain verified.

    Attributes:
        torn: what a crash in the middle of an append left behind the last whole line, or None.
    """

    entries: tuple[Entry, ...] = ()
    torn: bytes | None = None

    @cached_property
    def _last(self) -> dict[str, Entry]:
        return {entry.slug: entry for entry in self.entries}

    @cached_property
    def _hashes(self) -> frozenset[str]:
        return frozenset(entry.hash for entry in self.entries)

    @property
    def head(self) -> str | None:
        """Hash of the last line, None while there is none."""
        return self.entries[-1].hash if self.entries else None

    def last(self, slug: str) -> Entry | None:
        """Return the decision that counts for a record."""
        return self._last.get(slug)

    def history(self, slug: str) -> tuple[Entry, ...]:
        """Return every decision about a record, oldest first."""
        return tuple(entry for entry in self.entries if entry.slug == slug)

    def state(self, slug: str, sha256: str) -> State:
        """Return where the record with this content stands. Any edit of an approved one makes it changed."""
        entry = self.last(slug)
        if entry is None:
            return State.NEW
        if entry.decision is Decision.DEPRECATE:
            return State.DEPRECATED
        return State.APPROVED if entry.sha256 == sha256 else State.CHANGED

    def content_version(self, slug: str) -> int:
        """Return how often the record has been approved."""
        return sum(entry.decision is Decision.APPROVE for entry in self.history(slug))

    def approved_slugs(self) -> frozenset[str]:
        """Return the records whose last decision is an approval, whatever their files say now."""
        return frozenset(slug for slug, entry in self._last.items() if entry.decision is Decision.APPROVE)

    def knows(self, entry_hash: str) -> bool:
        """Tell whether a line with this hash is part of the chain."""
        return entry_hash in self._hashes

    def followed_by(self, entries: Iterable[Entry]) -> Ledger:
        """Return the ledger with entries after its own; that they follow is the caller's to know."""
        return Ledger((*self.entries, *entries))


def draft(
    ledger: Ledger, *, slug: str, sha256: str, decision: Decision, by: str, note: str | None, at: datetime
) -> Entry:
    """Return a decision that follows the ledger's last line, to be signed or sealed as it is."""
    stamp = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Entry(slug, sha256, decision, stamp, by, note, prev=ledger.head or GENESIS)


def parse_ledger(content: bytes) -> Ledger:
    """Read the content of a ledger file and verify its chain.

    Raises:
        LedgerError: naming the first line that does not follow from those before it.
    """
    whole, separator, tail = content.rpartition(b"\n")
    entries: list[Entry] = []
    for number, line in enumerate((whole + separator).split(b"\n")[:-1], start=1):
        entries.append(parse_line(line, number, entries[-1].hash if entries else GENESIS))
    # An editor or a tool that drops the final newline tears nothing off: the decision is whole.
    if _is_whole(tail):
        entries.append(parse_line(tail, len(entries) + 1, entries[-1].hash if entries else GENESIS))
        tail = b""
    return Ledger(tuple(entries), tail or None)


def parse_line(line: bytes, number: int, prev: str) -> Entry:
    """Read a line that must follow the one whose hash is `prev`.

    Args:
        number: of the line, from 1, for the message.

    Raises:
        LedgerError: it is no entry, was edited, or does not follow.
    """
    entry = read_entry(line, number)
    if entry.prev != prev:
        raise _broken(number, "does not follow the line before it: a line was moved, dropped or repeated")
    return entry


def read_entry(line: bytes, number: int) -> Entry:
    """Read a line by itself, whatever it follows. Raises LedgerError as `parse_line`."""
    if line.endswith(b"\r"):
        cause = "ends with a carriage return: an editor or git converted the line ends"
        raise _broken(number, cause, "convert them back to LF, and keep git from it with `core.autocrlf=false`")
    try:
        entry = _shape().validate_json(line, strict=True)
        # The pattern lets the 31st of June through.
        datetime.fromisoformat(entry.at)
        whole = entry.sealed().hash == entry.hash and entry.line() == line
    except ValueError as error:
        raise _broken(number, "is not a ledger entry") from error
    if not whole:
        raise _broken(number, "was edited: its hash is not that of its content")
    return entry


@cache
def _shape() -> TypeAdapter[Entry]:
    return TypeAdapter(Entry)


def _is_whole(tail: bytes) -> bool:
    try:
        return isinstance(json.loads(tail), dict)
    except (ValueError, RecursionError):
        return False


def _broken(
    number: int, what: str, remedy: str = "restore the file from version control, then decide again"
) -> LedgerError:
    return LedgerError(f"ledger.jsonl:{number}: {what}; {remedy}.", details={"line": number})


def _hash(fields: Mapping[str, Any]) -> str:
    body = {name: value for name, value in fields.items() if name != "hash"}
    return hashlib.sha256(_DOMAIN + rfc8785.dumps(body)).hexdigest()
