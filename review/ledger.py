"""`records/ledger.jsonl`, where decisions are kept: append-only, one line each, for several owners at once.

That its last lines were cut off a chain cannot tell by itself: publishing compares the head with the one the database
last saw, and `review check` reports approved copies that no line speaks of.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from app.errors import LedgerError
from app.integrity import Policy, Proofs, prove
from app.ledger import DEMO_SIGNER, GENESIS, Decision, Entry, Ledger, State, draft, parse_ledger
from app.signatures import key_of
from review.errors import Refused

__all__ = ["DEMO_SIGNER", "GENESIS", "Decision", "Entry", "Ledger", "State", "append", "read_ledger"]

# Signs a decision's statement, given the time it counts as taken at; may ask the owner to touch a key.
Sign = Callable[[Entry, datetime], str]


def read_ledger(path: Path) -> Ledger:
    """Read the ledger and verify its chain; a missing file is an empty ledger.

    Raises:
        LedgerError: naming the first line that does not follow from those before it, or why the file cannot be read.
    """
    if not path.exists():
        return Ledger()
    with _opened(path, os.O_RDONLY) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return parse_ledger(file.read())


def append(
    path: Path,
    *,
    slug: str,
    sha256: str,
    decision: Decision,
    by: str,
    note: str | None,
    at: datetime,
    policy: Policy | None = None,
    sign: Sign | None = None,
) -> Entry:
    """Add a decision and return it once it is on disk. Two owners at once wait for each other.

    A line that a crash tore off is moved to `<ledger>.torn` first: it was never acknowledged, and it is not lost.

    Args:
        policy: tells which decisions count; by default all do.
        sign: signs the decision; it is asked once it is settled which line it follows.

    Raises:
        LedgerError: the chain is broken.
        Refused: the last decision says the same, in the same name with the same key, and counts.
    """
    with _exclusively(path) as file:
        ledger = parse_ledger(file.read())
        _mend(path, file, ledger)
        entry = draft(ledger, slug=slug, sha256=sha256, decision=decision, by=by, note=note, at=at)
        return _write(file, _settled(ledger, entry, prove(ledger, policy or Policy()), sign))


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


def _settled(ledger: Ledger, entry: Entry, proofs: Proofs, sign: Sign | None) -> Entry:
    """Return a decision signed and sealed. Raises Refused when it changes nothing."""
    if entry.decision is Decision.DEPRECATE and entry.slug not in proofs.approvals:
        raise Refused(f"{entry.slug} is not approved, so there is nothing to deprecate.")
    if sign:
        entry = replace(entry, sig=sign(entry, max(entry.decided_at, proofs.latest)))
    # Which key signs is known only now: another one makes it another decision.
    if _repeats(ledger, entry) and proofs.approvals[entry.slug].flaw is None:
        how = "signed with this key" if entry.sig else "unsigned"
        raise Refused(f"{entry.slug} is already approved as it stands, by {entry.by}, {how}.")
    return entry.sealed()


def _repeats(ledger: Ledger, entry: Entry) -> bool:
    """Tell whether the last decision is an approval that says the same: text, name, and with which key, if any."""
    last = ledger.last(entry.slug)
    return entry.decision is Decision.APPROVE and last is not None and _said(last) == _said(entry)


def _said(entry: Entry) -> tuple[object, ...]:
    return entry.decision, entry.sha256, entry.by, entry.sig is None, key_of(entry)


def _write(file: BinaryIO, entry: Entry) -> Entry:
    """Write the line behind the others, also where an editor left the last one without an end, and to the disk."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 1))
    start = b"" if file.read(1) in {b"", b"\n"} else b"\n"
    file.write(start + entry.line() + b"\n")
    file.flush()
    os.fsync(file.fileno())
    return entry
