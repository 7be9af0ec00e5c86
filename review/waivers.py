"""Waivers: findings the owner has accepted, each with a reason and an end.

`records/waivers.yaml` is a list of `gate`, `slug`, `reason` and `until`. A waiver that waives nothing any more, or
whose day has passed, is itself an error: exceptions must still be true.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from app.errors import RecordError
from review.gates import Failure, Finding, Outcome, Success, error

GATE_ID = "waivers"


class Waiver(BaseModel):
    """One accepted finding of a gate on a record, until a day."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    gate: str
    slug: str
    reason: Annotated[str, StringConstraints(min_length=15, max_length=300)]
    until: date


@dataclass(frozen=True)
class Waived:
    """A finding that a waiver took away, and the waiver."""

    finding: Finding
    waiver: Waiver


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """Read the waivers; a missing file means none.

    Raises:
        RecordError: the file is not a list of waivers, naming the entry.
    """
    if not path.exists():
        return ()
    try:
        entries: Any = YAML(typ="safe", pure=True).load(path.read_text("utf-8")) or []
    except (YAMLError, UnicodeDecodeError) as failure:
        raise RecordError(f"{path.name} is not YAML: {str(failure).splitlines()[0]}") from failure
    if not isinstance(entries, list):
        raise RecordError(f"{path.name} is not a list: start each waiver with `- gate:`")
    return tuple(_waiver(place, entry, path) for place, entry in enumerate(entries, start=1))


def _waiver(place: int, entry: object, path: Path) -> Waiver:
    try:
        return Waiver.model_validate(entry)
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "entry"
        raise RecordError(f"{path.name}: waiver {place}: {field}: {first['msg']}") from failure


def apply_waivers(
    slug: str, outcomes: Iterable[Outcome], waivers: Iterable[Waiver], today: date
) -> tuple[tuple[Outcome, ...], tuple[Waived, ...]]:
    """Return a record's outcomes less what is waived, with a finding for each waiver that should go, and the waived."""
    own = [waiver for waiver in waivers if waiver.slug == slug]
    left: list[Outcome] = []
    waived: list[Waived] = []
    for outcome in outcomes:
        waiver = next((entry for entry in own if entry.gate == outcome.gate and entry.until >= today), None)
        kept = tuple(finding for finding in outcome.findings if waiver is None or not finding.waivable)
        waived += [Waived(finding, waiver) for finding in outcome.findings if waiver and finding.waivable]
        left.append(Failure(outcome.gate, kept) if kept else Success(outcome.gate))
    needed = {entry.waiver for entry in waived}
    problems = tuple(_stale(waiver, today) for waiver in own if waiver not in needed)
    return (*left, *([Failure(GATE_ID, problems)] if problems else [])), tuple(waived)


def stray_waivers(waivers: Iterable[Waiver], slugs: Collection[str], gates: Collection[str]) -> tuple[Finding, ...]:
    """Return a finding for each waiver that names no record or no gate."""
    strays = [waiver for waiver in waivers if waiver.slug not in slugs or waiver.gate not in gates]
    return tuple(
        error(f"waiver names unknown gate or record: {entry.gate}, {entry.slug}", "remove it", at=_at(entry))
        for entry in strays
    )


def _stale(waiver: Waiver, today: date) -> Finding:
    if waiver.until < today:
        return error(
            f"the waiver of {waiver.gate} ended on {waiver.until}",
            "mend the record, or renew the waiver with a reason",
            at=_at(waiver),
        )
    return error(f"the waiver of {waiver.gate} waives nothing", "remove it from waivers.yaml", at=_at(waiver))


def _at(waiver: Waiver) -> str:
    return f"{waiver.gate} {waiver.slug}"
