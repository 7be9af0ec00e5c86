"""`records/reviews.jsonl`: what was set aside, so that it does not come up again: rejected, or deferred for a while.

Not part of the ledger, because nothing that is served depends on it. A line is about one form of one thing: whatever is
edited comes up again.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

JOURNAL = "reviews.jsonl"


class Aside(StrEnum):
    """What was done."""

    REJECT = "reject"
    DEFER = "defer"
    REOPEN = "reopen"


@dataclass(frozen=True)
class Remark:
    """A line.

    Attributes:
        item: what it is about, as the queue names it: `record/SLUG`, `stale/SLUG`.
        form: hash of the text it is about, empty where there is none.
        until: day from which something deferred comes up again.
    """

    item: str
    form: str
    action: Aside
    at: datetime
    by: str
    note: str | None = None
    until: date | None = None


def keep(path: Path, remark: Remark) -> None:
    """Append a line and return once it is on disk."""
    line = _shape().dump_json(remark) + b"\n"
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        # A line that a crash tore off must not swallow the next one.
        file.write(line if file.read(1) in (b"", b"\n") else b"\n" + line)
        file.flush()
        os.fsync(file.fileno())


def read_journal(path: Path) -> tuple[Remark, ...]:
    """Return all lines, oldest first; a line that is none says nothing."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    return tuple(remark for line in lines if (remark := _read(line)) is not None)


def latest(remarks: Iterable[Remark]) -> Mapping[tuple[str, str], Remark]:
    """Return the last line about each form of each thing."""
    return {(remark.item, remark.form): remark for remark in remarks}


def hides(remark: Remark | None, today: date) -> bool:
    """Tell whether a line keeps its thing out of the queue."""
    if remark is None or remark.action is Aside.REOPEN:
        return False
    return remark.action is Aside.REJECT or remark.until is None or today < remark.until


def _read(line: bytes) -> Remark | None:
    try:
        return _shape().validate_json(line)
    except ValidationError:
        return None


def _shape() -> TypeAdapter[Remark]:
    return TypeAdapter(Remark)
