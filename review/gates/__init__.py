"""Quality gates: one file each, found by name, run over a record and what it may be compared with.

A gate sees the record and the context and nothing else: no clock, no network, no database. That makes a verdict the
same today and in a year for the same input, and a gate testable with plain values.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from app.record import Record
from review.publishers import Publisher


class Level(StrEnum):
    """What a finding does: an error refuses approval, a warning asks the owner for a reason."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    """One thing a gate holds against a record.

    Attributes:
        message: what is wrong and where, for the author.
        remedy: what to do about it.
        waivable: False for what no reason excuses.
        at: the field it stands in, as `review.places` finds it in the file: `title`, `pitfalls 2`, `source 1 url`;
            empty for the record as a whole.
    """

    level: Level
    message: str
    remedy: str
    waivable: bool = True
    at: str = ""


@dataclass(frozen=True)
class Context:
    """All that a gate may know besides the record.

    Attributes:
        today: the day of the check.
        corpus: every record that is or may be served, by slug, the checked one included.
        publishers: whose word a web address is, by host and path prefix.
        similarity: cosine between two records by `pair_key`; None when no embeddings are at hand.
    """

    today: date
    corpus: Mapping[str, Record] = field(default_factory=dict)
    publishers: Mapping[str, Publisher] = field(default_factory=dict)
    similarity: Mapping[tuple[str, str], float] | None = None


Check = Callable[[Record, Context], Iterable[Finding]]


@dataclass(frozen=True)
class Gate:
    """A named promise about every served record, and the check that keeps it."""

    id: str
    promise: str
    check: Check


@dataclass(frozen=True)
class Success:
    """The gate holds nothing against the record."""

    gate: str

    @property
    def findings(self) -> tuple[Finding, ...]:
        """No findings."""
        return ()

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class Failure:
    """The gate holds these findings against the record; False, whatever their level."""

    gate: str
    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        return False


Outcome = Success | Failure


def error(message: str, remedy: str, *, waivable: bool = True, at: str = "") -> Finding:
    """Return a finding that refuses approval."""
    return Finding(Level.ERROR, message, remedy, waivable, at)


def warning(message: str, remedy: str, *, at: str = "") -> Finding:
    """Return a finding that asks for a reason."""
    return Finding(Level.WARNING, message, remedy, at=at)


def pair_key(one: str, other: str) -> tuple[str, str]:
    """Return the key of two slugs in `Context.similarity`, whatever their order."""
    return (one, other) if one <= other else (other, one)


def discover() -> tuple[Gate, ...]:
    """Return every gate of this package in the order of their names: a new gate is a new file."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(importlib.import_module(f"{__name__}.{name}").GATE for name in names)


def run(record: Record, context: Context, gates: Iterable[Gate] | None = None) -> tuple[Outcome, ...]:
    """Ask every gate about a record. A gate that crashes is a finding of that gate; the others still run."""
    return tuple(_ask(gate, record, context) for gate in (discover() if gates is None else gates))


def _ask(gate: Gate, record: Record, context: Context) -> Outcome:
    try:
        findings = tuple(_unrepeated(gate.check(record, context)))
    except Exception as failure:  # noqa: BLE001 - one broken gate must not hide what the others find
        message = f"the gate itself failed with {type(failure).__name__}: {failure}"
        return Failure(gate.id, (error(message, f"mend review/gates/{gate.id}.py", waivable=False),))
    return Failure(gate.id, findings) if findings else Success(gate.id)


def _unrepeated(findings: Iterable[Finding]) -> Iterator[Finding]:
    yield from dict.fromkeys(findings)
