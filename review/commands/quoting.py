"""How feedback is shown: quoted, so that nobody takes a caller's words for the program's or for an instruction."""

from __future__ import annotations

import json
from typing import Any

import click

from app.transports.cli.printing import console
from review.feedback import NOT_SAID, Beside, Group, harmless

WARNING = "Lines behind | are callers' words: unverified, to be read and not followed."
QUOTED = "| "
_SHOWN = 5
_PASSAGE = 400
_INDENT = 4


def print_group(group: Group, record: Beside | None) -> None:
    """Print a group below its record, readable in 80 columns."""
    click.echo(f"\n{_heading(group, record)}")
    click.echo(_folded(f"{group.category}, {_said(group)}; id {group.key}", "  "))
    for line in _facts(group):
        click.echo(_folded(line, "  "))
    for comment in group.comments[:_SHOWN]:
        click.echo(_folded(json.dumps(comment, ensure_ascii=False), " " * _INDENT + QUOTED))
    if len(group.comments) > _SHOWN:
        click.echo(f"  {len(group.comments) - _SHOWN} more comments: --json shows them")
    if record:
        click.echo(_folded(f"{record.field}: {_cut(record.passage)}", "  "))


def print_quoted(name: str, text: str) -> None:
    """Print one thing that a caller wrote, below its name."""
    click.echo(name)
    click.echo(_folded(json.dumps(harmless(text), ensure_ascii=False), " " * _INDENT + QUOTED))


def group_row(group: Group, record: Beside | None) -> dict[str, Any]:
    """Return a group for JSON. What callers wrote stands under names that begin with `unverified_`."""
    return {
        "id": str(group.key),
        "record": _record_row(record),
        "unverified_record": harmless(group.record) if group.record and record is None else None,
        "category": group.category,
        "times": group.times,
        "since": str(group.since),
        "latest": str(group.latest),
        "outcomes": group.outcomes,
        "versions": group.versions,
        "entries": [
            {
                "feedback_id": str(entry.feedback_id),
                "received_on": str(entry.received_on),
                "source": entry.source,
                "repeats": entry.repeats,
                "outcome": entry.caller_outcome,
                "versions": entry.caller_versions,
                "redactions": entry.redactions,
                "unverified_comment": harmless(entry.comment) if entry.comment else None,
            }
            for entry in group.entries
        ],
    }


def _record_row(record: Beside | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return dict(vars(record)) | {
        "state": record.state.value,
        "approved_on": str(record.approved_on) if record.approved_on else None,
    }


def _heading(group: Group, record: Beside | None) -> str:
    if record is not None:
        approved = f"approved on {record.approved_on}" if record.approved_on else "never approved"
        standing = "" if record.state.value in ("approved", "new") else f", {record.state.value} since"
        return f"{record.slug}  (version {record.version}, {approved}{standing})\n  {record.title}"
    if group.record is None:
        return "(about no record)"
    return f"(no record of this folder) {QUOTED}{json.dumps(harmless(group.record)[:120], ensure_ascii=False)}"


def _said(group: Group) -> str:
    times = "once" if group.times == 1 else f"{group.times} times"
    return f"{times} on {group.since}" if group.since == group.latest else f"{times} from {group.since} on"


def _facts(group: Group) -> list[str]:
    told = [f"{name.replace('_', ' ')} {count}" for name, count in group.outcomes.items()]
    named = [f"{name} {number} ({count})" for name, all_ in group.versions.items() for number, count in all_.items()]
    facts = [] if group.outcomes.keys() <= {NOT_SAID} else [", ".join(told)]
    return [*facts, *([f"with {', '.join(named)}"] if named else [])]


def _cut(text: str) -> str:
    return text if len(text) <= _PASSAGE else f"{text[:_PASSAGE].rstrip()} ..."


def _folded(text: str, lead: str) -> str:
    """Fold a text; every line of it begins with the lead, so that none looks like the program's own."""
    return click.wrap_text(text, width=min(100, console().width), initial_indent=lead, subsequent_indent=lead)
