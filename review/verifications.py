"""`records/verifications.jsonl`: which check was run on what, when, and what came of it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from review.verify.execution import Outcome, Result


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
        known = set(content.splitlines())
        fresh = [line for line in dict.fromkeys(lines) if line not in known]
        # A line that a crash tore off must not swallow the next one.
        start = b"\n" if content and not content.endswith(b"\n") else b""
        file.write(start + b"".join(line + b"\n" for line in fresh))
        file.flush()
        os.fsync(file.fileno())
    return len(fresh)


def verified_on(path: Path, slug: str, sha256: str) -> list[dict[str, Any]]:
    """Return the newest result of each check and tool for a record as it stands; unreadable lines are left out."""
    newest: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
            key = (entry["check"], entry["tool"], entry["version"].split(".")[0])
            if entry["slug"] == slug and entry["sha256"] == sha256:
                newest[key] = entry
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return list(newest.values())


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
    }
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
