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
        LedgerError: the chain is broken, or the decision changes nothing.
    """
    with _exclusively(path) as file:
        content = file.read()
        ledger = parse_ledger(content)
        _mend(path, file, ledger)
        entry = draft(ledger, slug=slug, sha256=sha256, decision=decision, by=by, note=note, at=at)
        proofs = prove(ledger, policy or Policy())
        _refuse_empty_decision(ledger, entry, proofs, signs=sign is not None)
        if sign:
            entry = replace(entry, sig=sign(entry, max(entry.decided_at, proofs.latest)))
        entry = entry.sealed()
        line = entry.line() + b"\n"
        file.seek(0, os.SEEK_END)
        file.write(line if ledger.torn or content[-1:] in {b"", b"\n"} else b"\n" + line)
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


def _refuse_empty_decision(ledger: Ledger, entry: Entry, proofs: Proofs, *, signs: bool) -> None:
    last = ledger.last(entry.slug)
    if entry.decision is Decision.DEPRECATE:
        if last is None or last.decision is Decision.DEPRECATE:
            raise LedgerError(f"{entry.slug} is not approved, so there is nothing to deprecate.")
    elif last is not None and ledger.state(entry.slug, entry.sha256) is State.APPROVED:
        counts = proofs.approvals[entry.slug].flaw is None
        if counts and last.by == entry.by and (last.sig is not None or not signs):
            raise LedgerError(f"{entry.slug} is already approved as it stands, by {last.by}.")
