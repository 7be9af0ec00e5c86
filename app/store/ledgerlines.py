"""The ledger's lines in the database: written by each publish, read back by every server that serves what they approve.

Lines are found by their hash and name the one before, so a row that is altered, dropped or put elsewhere ends the walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, insert, select

from app.errors import LedgerError
from app.ledger import GENESIS, Entry, Ledger, read_entry
from app.store.engine import sql
from app.store.tables import ledger_line

_PAGE = 2_000
# Bytes of a line; with a note and an RSA signature it takes two thousand.
_LONGEST = 65_536


@dataclass(frozen=True)
class Walk:
    """A way back through the ledger.

    Attributes:
        entries: oldest first; each follows the one before, and the last is the line that was asked for.
        end: what lies before the oldest: the line already known, nothing because it is the first, or a gap.
    """

    entries: tuple[Entry, ...]
    end: Literal["known", "beginning", "gap"]


def write_lines(connection: Connection, ledger: Ledger) -> bool:
    """Add the lines that are not there yet; tell whether there were any."""
    there = set(connection.scalars(select(ledger_line.c.hash)))
    new = [
        {"hash": entry.hash, "prev": entry.prev, "line": entry.line().decode()}
        for entry in ledger.entries
        if entry.hash not in there
    ]
    if new:
        connection.execute(insert(ledger_line), new)
    return bool(new)


def walk_back(connection: Connection, head: str, known: str | None) -> Walk:
    """Return the lines from `head` back to the one after `known`, or as far as they hold."""
    entries: list[Entry] = []
    wanted = head
    for entry in _newest_first(connection, head, known):
        if entry is None or entry.hash != wanted:
            break
        entries.append(entry)
        wanted = entry.prev
    if wanted == GENESIS:
        return Walk(tuple(reversed(entries)), "beginning")
    return Walk(tuple(reversed(entries)), "known" if wanted == known else "gap")


def _newest_first(connection: Connection, head: str, known: str | None) -> Iterator[Entry | None]:
    """Yield the lines; None for one that is no line any more."""
    while True:
        page = connection.scalars(sql("ledger_lines"), _window(head, known)).all()
        for line in page:
            entry = _entry(line)
            yield entry
            if entry is None:
                return
            head = entry.prev
        if len(page) < _PAGE:
            return


def _window(head: str, known: str | None) -> dict[str, object]:
    return {"head": head, "known": known or "", "page": _PAGE, "longest": _LONGEST}


def _entry(line: str | None) -> Entry | None:
    try:
        return None if line is None else read_entry(line.encode(), 0)
    except LedgerError:
        return None
