"""`records/verifications.jsonl`: which check was run on what, when, and what came of it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from app.recordfile import RecordFile
from review.verify.execution import Outcome, Result

FILE = "verifications.jsonl"
Results = Mapping[tuple[str, str], Sequence[dict[str, Any]]]


def append_results(path: Path, results: Iterable[Result], day: date) -> int:
    """Append results that are not there yet, and return how many; a line states one result on one day.

    What could not be run is no result: it says something about this machine only.
    """
    lines = [_line(result, day) for result in results if result.outcome is not Outcome.UNAVAILABLE]
    if not lines:
        return 0
    with path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content = file.read()
        last = {_subject(line): line for line in content.splitlines()}
        # What failed and passes again on the same day is news, though the same line was written before.
        fresh = [line for line in dict.fromkeys(lines) if last.get(_subject(line)) != line]
        # A line that a crash tore off must not swallow the next one.
        start = b"\n" if content and not content.endswith(b"\n") else b""
        file.write(start + b"".join(line + b"\n" for line in fresh))
        file.flush()
        os.fsync(file.fileno())
    return len(fresh)


def _subject(line: bytes) -> bytes:
    """Return a line without its outcome: what it is about."""
    return line.replace(b'"outcome":"passed"', b"").replace(b'"outcome":"failed"', b"")


def newest_results(path: Path) -> Results:
    """Return, by record and text, the newest result of each check, set of packages and tool.

    Unreadable lines are left out.
    """
    newest: dict[tuple[str, str], dict[tuple[str, ...], dict[str, Any]]] = {}
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
            key = (entry["check"], entry.get("pinned", ""), entry["tool"], entry["version"].split(".")[0])
            date.fromisoformat(entry["date"])
            Outcome(entry["outcome"])
            newest.setdefault((entry["slug"], entry["sha256"]), {})[key] = entry
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return {of: list(entries.values()) for of, entries in newest.items()}


def verified_on(path: Path, slug: str, sha256: str) -> list[dict[str, Any]]:
    """Return the newest result of each check, set of packages and tool for a record as it stands."""
    return list(newest_results(path).get((slug, sha256), ()))


def unproved(results: Iterable[dict[str, Any]], file: RecordFile) -> tuple[str, ...]:
    """Return the checks of a record that nothing proves as it stands: not run, not with each set, or failed since.

    Args:
        results: what `verified_on` tells of it.
    """
    days = _proofs(results)
    return tuple(dict.fromkeys(check for check, pinned in _promised(file) if not days.get((check, pinned))))


def proved_on(results: Iterable[dict[str, Any]], file: RecordFile) -> date | None:
    """Return the day since which each check of a record has passed on exactly this text, None where one has not.

    It is the newest such day: no check has its last proof before it.
    """
    days = _proofs(results)
    promised = [days.get(one) for one in _promised(file)]
    return min((day for day in promised if day), default=None) if all(promised) else None


def _promised(file: RecordFile) -> list[tuple[str, str]]:
    return [(check.id, pinned) for check in file.record.checks for pinned in check.packages or ("",)]


def _proofs(results: Iterable[dict[str, Any]]) -> dict[tuple[str, str], date | None]:
    """Return by check and set the day of its last proof, None where one of its tools showed a failure last."""
    days: dict[tuple[str, str], date | None] = {}
    for entry in results:
        key = (entry["check"], entry.get("pinned", ""))
        passed = date.fromisoformat(entry["date"]) if entry["outcome"] == Outcome.PASSED.value else None
        before = days.get(key, date.min)
        days[key] = max(before, passed) if before and passed else None
    return days


def _line(result: Result, day: date) -> bytes:
    entry = {
        "slug": result.slug,
        "sha256": result.sha256,
        "check": result.check,
        "tool": result.tool,
        "version": result.version,
        "packages": result.packages,
        "date": day.isoformat(),
        "outcome": result.outcome.value,
    } | ({"pinned": result.pinned} if result.pinned else {})
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
