"""The ledger of decisions: who approved or deprecated which record, in which form, when and why.

`records/ledger.jsonl` is append-only. Each line carries the hash of the line before it, so that an edit, a dropped,
moved or repeated line breaks the chain and is found. What a chain cannot tell by itself is that its last lines were
cut off: publishing compares the head with the one the database last saw, and `review check` reports approved copies
that no line speaks of.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import rfc8785

from app.errors import LedgerError

GENESIS = "0" * 64
# Entries in this name make a set a demonstration: drafted and signed without an owner's judgement.
DEMO_SIGNER = "demo"
_DOMAIN = b"chatctx-ledger-v1\0"


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
        hash: hash of this line's other fields.
    """

    slug: str
    sha256: str
    decision: Decision
    at: str
    by: str
    note: str | None
    prev: str
    hash: str

    @property
    def decided_at(self) -> datetime:
        """The time of the decision as an aware datetime."""
        return datetime.fromisoformat(self.at)


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
        return any(entry.hash == entry_hash for entry in self.entries)


def read_ledger(path: Path) -> Ledger:
    """Read the ledger and verify its chain; a missing file is an empty ledger.

    Raises:
        LedgerError: naming the first line that does not follow from those before it, or why the file cannot be read.
    """
    if not path.exists():
        return Ledger()
    with _opened(path, os.O_RDONLY) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return _parse(file.read())


def append(path: Path, *, slug: str, sha256: str, decision: Decision, by: str, note: str | None, at: datetime) -> Entry:
    """Add a decision and return it once it is on disk. Two owners at once wait for each other.

    A line that a crash tore off is moved to `<ledger>.torn` first: it was never acknowledged, and it is not lost.

    Raises:
        LedgerError: the chain is broken, or the decision changes nothing.
    """
    with _exclusively(path) as file:
        content = file.read()
        ledger = _parse(content)
        _mend(path, file, ledger)
        _refuse_empty_decision(ledger, slug, sha256, decision)
        entry = _entry(slug, sha256, decision, at, by, note, ledger.head or GENESIS)
        file.seek(0, os.SEEK_END)
        file.write(_line(entry) if ledger.torn or content[-1:] in {b"", b"\n"} else b"\n" + _line(entry))
        file.flush()
        os.fsync(file.fileno())
    return entry


@contextmanager
def _exclusively(path: Path) -> Iterator[BinaryIO]:
    is_new = not path.exists()
    with _opened(path, os.O_RDWR | os.O_CREAT) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    if is_new:
        _sync_folder(path.parent)


def _opened(path: Path, flags: int) -> BinaryIO:
    try:
        descriptor = os.open(path, flags, 0o644)
        if path.is_dir():
            os.close(descriptor)
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except OSError as error:
        remedy = "restore it from version control" if isinstance(error, IsADirectoryError) else "mend its rights"
        raise LedgerError(f"{path.name} cannot be opened: {error.strerror}; {remedy}.") from error
    return os.fdopen(descriptor, "r+b" if flags & os.O_RDWR else "rb")


def _sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut, not only its content."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mend(path: Path, file: BinaryIO, ledger: Ledger) -> None:
    file.seek(0, os.SEEK_END)
    if ledger.torn is None:
        return
    with path.with_name(path.name + ".torn").open("ab") as kept:
        kept.write(ledger.torn + b"\n")
        kept.flush()
        os.fsync(kept.fileno())
    file.truncate(file.tell() - len(ledger.torn))


def _refuse_empty_decision(ledger: Ledger, slug: str, sha256: str, decision: Decision) -> None:
    last = ledger.last(slug)
    if decision is Decision.APPROVE and ledger.state(slug, sha256) is State.APPROVED:
        raise LedgerError(f"{slug} is already approved as it stands.")
    if decision is Decision.DEPRECATE and (last is None or last.decision is Decision.DEPRECATE):
        raise LedgerError(f"{slug} is not approved, so there is nothing to deprecate.")


def _parse(content: bytes) -> Ledger:
    whole, separator, tail = content.rpartition(b"\n")
    entries: list[Entry] = []
    for number, line in enumerate((whole + separator).split(b"\n")[:-1], start=1):
        entries.append(_verified(line, number, entries[-1].hash if entries else GENESIS))
    # An editor or a tool that drops the final newline tears nothing off: the decision is whole.
    if _is_whole(tail):
        entries.append(_verified(tail, len(entries) + 1, entries[-1].hash if entries else GENESIS))
        tail = b""
    return Ledger(tuple(entries), tail or None)


def _is_whole(tail: bytes) -> bool:
    try:
        return isinstance(json.loads(tail), dict)
    except ValueError:
        return False


def _verified(line: bytes, number: int, prev: str) -> Entry:
    if line.endswith(b"\r"):
        cause = "ends with a carriage return: an editor or git converted the line ends"
        raise _broken(number, cause, "convert them back to LF, and keep git from it with `core.autocrlf=false`")
    try:
        fields = json.loads(line)
        entry = Entry(**{**fields, "decision": Decision(fields["decision"])})
        whole = _hash(fields) == entry.hash and _line(entry) == line + b"\n"
    except (ValueError, TypeError, KeyError) as error:
        raise _broken(number, "is not a ledger entry") from error
    if not whole:
        raise _broken(number, "was edited: its hash is not that of its content")
    if entry.prev != prev:
        raise _broken(number, "does not follow the line before it: a line was moved, dropped or repeated")
    return entry


def _broken(
    number: int, what: str, remedy: str = "restore the file from version control, then decide again"
) -> LedgerError:
    return LedgerError(f"ledger.jsonl:{number}: {what}; {remedy}.", details={"line": number})


def _entry(slug: str, sha256: str, decision: Decision, at: datetime, by: str, note: str | None, prev: str) -> Entry:
    stamp = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    draft = Entry(slug, sha256, decision, stamp, by, note, prev, "")
    return Entry(slug, sha256, decision, stamp, by, note, prev, _hash(asdict(draft)))


def _hash(fields: dict[str, Any]) -> str:
    body = {name: value for name, value in fields.items() if name != "hash"}
    return hashlib.sha256(_DOMAIN + rfc8785.dumps(body)).hexdigest()


def _line(entry: Entry) -> bytes:
    return json.dumps(asdict(entry), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
