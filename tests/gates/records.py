"""Small real records for gates: one that passes every gate, and what a test changes in it."""

from __future__ import annotations

from datetime import date
from importlib import import_module
from typing import Any

from pydantic_core import to_json

from app.record import Record
from review.gates import Context, Finding
from review.publishers import PUBLISHERS

TODAY = date(2026, 11, 30)

_SOURCE: dict[str, Any] = {
    "title": "Numeric Types",
    "url": "https://www.postgresql.org/docs/current/datatype-numeric.html",
    "publisher": "PostgreSQL",
    "licence": "PostgreSQL",
    "authority": "primary",
    "relation": "supports",
    "locator": "8.1.2. Arbitrary Precision Numbers",
    "retrieved": "2026-11-30",
    "evidence_kind": "paraphrase",
    "evidence_excerpt": "numeric is recommended for monetary amounts, since floats store some values approximately.",
}
_RECORD: dict[str, Any] = {
    "slug": "store-money-as-numeric",
    "topic": "data",
    "title": "Store money as numeric, never as float",
    "summary": "Declare amounts as numeric with an explicit scale, so that sums and comparisons of money stay exact.",
    "recommendation": (
        "Declare amounts `numeric(14, 2)` and map them to a decimal type in code. Do not use `real` or `money`."
    ),
    "rationale": "Floats are binary: 0.1 has no exact form, so ten times 0.1 is not 1 and equality tests fail.",
    "applies_to": [{"kind": "tool", "name": "PostgreSQL"}],
    "conditions": ["The value must add up exactly: prices, balances, tax."],
    "exceptions": ["Measurements where a relative error of 1e-15 is harmless."],
    "pitfalls": ["Totals are off by 0.01 although every row prints as expected."],
    "verification_checks": ["Sum ten rows of 0.10 and compare with 1.00: the result is true."],
    "symptoms": [
        "invoice total is off by one cent",
        "0.30000000000000004 in the price column",
        "float or decimal for prices",
    ],
    "confidence": "high",
    "updated": "2026-11-30",
    "sources": [_SOURCE],
}


def make_record(**changes: Any) -> Record:
    """Return a record that passes every gate, with some fields changed."""
    return Record.model_validate_json(to_json({**_RECORD, **changes}))


def make_source(**changes: Any) -> dict[str, Any]:
    """Return the fields of a source that passes every gate, with some changed."""
    return {**_SOURCE, **changes}


def applies_to(name: str, constraint: str | None = None, scheme: str | None = None) -> dict[str, Any]:
    """Return the fields of a technology and its versions."""
    return {"kind": "tool", "name": name, "version_constraint": constraint, "scheme": scheme}


def context_of(*others: Record, similarity: dict[tuple[str, str], float] | None = None) -> Context:
    """Return a context with these records in the corpus."""
    return Context(TODAY, {record.slug: record for record in others}, PUBLISHERS, similarity)


def findings(
    gate: str, record: Record, *others: Record, similarity: dict[tuple[str, str], float] | None = None
) -> list[Finding]:
    """Return what one gate holds against a record that stands among others."""
    module = import_module(f"review.gates.{gate}")
    return list(module.GATE.check(record, context_of(record, *others, similarity=similarity)))


def messages(found: list[Finding]) -> str:
    """Return findings as text, a line each: `level: message`."""
    return "\n".join(f"{finding.level.value}: {finding.message}" for finding in found)
