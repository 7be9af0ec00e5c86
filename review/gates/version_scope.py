"""Advice that depends on a version says so where a machine can read it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.record import AppliesTo, Record
from app.technologies import foundations, technology_key
from app.versions import Scheme
from review.gates import Context, Finding, Gate, error, warning
from review.prose import guidance_texts, without_blocks
from review.ranges import excludes_something, is_satisfiable

# Larger than any major version in use; years (ES2022) are the largest that are.
_LARGEST_NUMBER = 2100
_PYTHON = frozenset({Scheme.PEP440, Scheme.GENERIC})
_JAVASCRIPT = frozenset({Scheme.NPM, Scheme.SEMVER})
_PLAIN = frozenset({Scheme.GENERIC, Scheme.SEMVER})
_OF_FAMILY = {
    "python": _PYTHON,
    "go": frozenset({Scheme.GO, Scheme.SEMVER}),
    "java": frozenset({Scheme.MAVEN, Scheme.GENERIC}),
}
# Released with plain dotted numbers, whatever is built on them.
_NUMBERED = frozenset({"postgresql", "kubernetes", "docker", "redis", "git", "wcag", "aria", "mysql", "sql", "nginx"})

_NUMBER = r"v?\d{1,4}(?:\.\d{1,4}){0,2}"
_NOT_A_QUANTITY = r"(?!\s*(?:%|px|ms|s\b|KB|MB|GB|bytes|to\b|of\b|-))"
_SINCE = re.compile(
    r"\b(?i:since|from|as of|starting (?:with|in)|requires?|introduced in|added in|removed in)\s+(?:version\s+)?"
    rf"(?P<name>[A-Za-z][\w.-]*(?: [A-Z][\w.]*)?\s+)?(?:version\s+)?{_NUMBER}\b{_NOT_A_QUANTITY}"
)
_ONWARD = re.compile(
    rf"(?P<name>[A-Za-z][\w.-]*)?\s*\b{_NUMBER}"
    r"(?:\+(?!\d)|\s+(?:and|or)\s+(?:later|newer|above|up|older|earlier|below)\b|\s+onwards?\b)"
)

_ASIDE = re.compile(rf"\(\s*(?:(?i:since|from)\s+)?{_NUMBER}(?:\+|\s+(?:and|or)\s+(?:later|newer|above|up))?\s*\)")


def check(record: Record, _context: Context) -> Iterator[Finding]:
    """Every constraint can be met, excludes something and is written in the technology's own scheme."""
    for place, entry in enumerate(record.applies_to, start=1):
        yield from _constraint_findings(entry, f"applies_to {place} version_constraint")
    unbounded = [entry for entry in record.applies_to if entry.version_constraint is None]
    if unbounded or not record.applies_to:
        yield from _unscoped_mentions(record, unbounded)


def _constraint_findings(entry: AppliesTo, at: str) -> Iterator[Finding]:
    if entry.version_constraint is None or entry.scheme is None:
        return
    if any(int(number) > _LARGEST_NUMBER for number in re.findall(r"\d+", entry.version_constraint)):
        yield error(
            f"{entry.name}: no release has a number as large as in its constraint", "correct the version", at=at
        )
    elif not is_satisfiable(entry):
        yield error(f"{entry.name}: no version meets the constraint", "correct the bounds", at=at)
    elif not excludes_something(entry):
        yield error(
            f"{entry.name}: every version meets the constraint",
            "leave it out, or give the version that matters",
            at=at,
        )
    fitting = fitting_schemes(entry.name)
    if fitting and entry.scheme not in fitting:
        allowed = " or ".join(sorted(fitting))
        yield error(
            f"{entry.name}: versions are not written in {entry.scheme}", f"write the constraint in {allowed}", at=at
        )


def fitting_schemes(name: str) -> frozenset[Scheme] | None:
    """Return the schemes that versions of a technology are written in, None where any may do."""
    key = technology_key(name)
    if key in _NUMBERED:
        return _PLAIN
    family = {key} | foundations(key)
    if family & {"javascript", "typescript", "nodejs", "npm", "pnpm"} and key not in ("javascript", "ecmascript"):
        return _JAVASCRIPT
    return next((schemes for root, schemes in _OF_FAMILY.items() if root in family), None)


def _unscoped_mentions(record: Record, unbounded: list[AppliesTo]) -> Iterator[Finding]:
    """Hold mentions of versions against a record, less those of which an exception tells what they change."""
    bounded = {technology_key(entry.name) for entry in record.applies_to if entry.version_constraint}
    named = {technology_key(entry.name): entry.name for entry in unbounded}
    told = {_number(mention) for text in record.exceptions for mention, _ in _mentions(_readable(text))}
    for piece in guidance_texts(record):
        if piece.field == "examples" or piece.field.startswith("exceptions"):
            continue
        for mention, name in _mentions(_readable(piece.text)):
            if _number(mention) in told:
                continue
            if name in named:
                yield _unscoped(piece.field, mention, f"give {named[name]} a version_constraint")
            elif name not in bounded and not bounded:
                yield _unscoped(piece.field, mention, "give the technology it is about a version_constraint")


def _readable(text: str) -> str:
    """Keep `code` spans, which name packages, and drop their backticks."""
    return without_blocks(text).replace("`", "")


def _mentions(text: str) -> Iterator[tuple[str, str]]:
    """Yield what depends on a version, less asides: `TaskGroup (3.11+)` dates a word, not the advice."""
    for pattern in (_SINCE, _ONWARD):
        for match in pattern.finditer(_ASIDE.sub(" ", text)):
            yield " ".join(match[0].split()), technology_key(match["name"] or "")


def _number(mention: str) -> str:
    """Return the version of a mention, the last number in it that may be one."""
    numbers: list[str] = re.findall(r"\d+(?:\.\d+)*", mention)
    return numbers[-1]


def _unscoped(field: str, mention: str, remedy: str) -> Finding:
    return warning(
        f"{field} depends on a version ({mention!r}) and applies_to does not say so", f"{remedy}, or reword", at=field
    )


GATE = Gate("version_scope", "Advice that depends on a version says so in a constraint that can be decided.", check)
