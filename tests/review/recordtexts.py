"""Text of record files that pass every gate."""

from __future__ import annotations

import json
from typing import Any

_CHECKS = """\
checks:
  - id: {id}
    claim: "{claim}"
    runner: {runner}
    right: {right}
"""
_TEXT = """\
---
confidence: high
updated: 2026-11-30
applies_to:
  - kind: tool
    name: {technology}
symptoms:
  - "invoice total is off by one cent"
  - "0.30000000000000004 in the price column"
  - "should I use float or decimal for prices"
sources:
  - title: "Numeric Types"
    url: "https://www.postgresql.org/docs/current/datatype-numeric.html"
    publisher: "PostgreSQL"
    licence: "PostgreSQL"
    authority: primary
    relation: supports
    locator: "8.1.2. Arbitrary Precision Numbers"
    retrieved: {retrieved}
    evidence_kind: paraphrase
    evidence_excerpt: "{subject}: numeric is recommended for monetary amounts, floats are only approximate."
{checks}---

# {title}

## Summary
{subject}: declare amounts as numeric with an explicit scale, so that sums and comparisons of money stay exact.

## Recommendation
{recommendation}

## Rationale
Floats are binary: 0.1 has no exact form, so ten times 0.1 is not 1 and equality tests fail.

## Exceptions
- Measurements where a relative error of 1e-15 is harmless.

## Pitfalls
- {pitfall}

## Verification checks
- Sum ten rows of 0.10 and compare with 1.00: the result is true.
"""


def record_text(
    *,
    title: str = "Store money as numeric, never as float",
    subject: str = "Money",
    recommendation: str = "Declare amounts `numeric(14, 2)` and map them to a decimal. Never use `real` or `money`.",
    pitfall: str = "Totals are off by 0.01 although every row prints as expected.",
    technology: str = "PostgreSQL",
    retrieved: str = "2026-11-30",
    check: dict[str, Any] | None = None,
) -> str:
    """Return the text of a record file with some parts changed."""
    checks = ""
    if check:
        given = {"id": "the-check", "claim": "It is as the record says", **check}
        checks = _CHECKS.format(**given)
        for name in ("wrong", "wrong_shows"):
            if name in given:
                checks += f'    {name}: "{given[name]}"\n'
        for name in ("packages", "needs"):
            if name in given:
                checks += f"    {name}: {json.dumps(given[name])}\n"
    return _TEXT.format(
        title=title,
        subject=subject,
        recommendation=recommendation,
        pitfall=pitfall,
        technology=technology,
        retrieved=retrieved,
        checks=checks,
    )
