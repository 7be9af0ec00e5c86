"""A copy of each record as it was approved, so that a change can be shown without a database and without git.

Copies lie in `records/.approved/<sha256>.json`, named by the hash the ledger states. Content and name prove each
other, so a copy needs no trust of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.errors import LedgerError
from app.record import canonical_form, canonical_hash
from app.recordfile import RecordFile
from app.wholefile import replace_file

FOLDER = ".approved"


def keep_snapshot(records: Path, file: RecordFile) -> Path:
    """Write the canonical form of a record under its hash, once, whole or not at all."""
    target = _path(records, file.sha256)
    if target.exists():
        return target
    target.parent.mkdir(exist_ok=True)
    replace_file(target, canonical_form(file.record, file.fixtures), 0o644)
    return target


def read_snapshot(records: Path, sha256: str) -> dict[str, Any]:
    """Return the approved record with this hash as JSON values, `fixtures` being hashes of the check files.

    Raises:
        LedgerError: there is no copy, or it is not what was approved.
    """
    try:
        content = _path(records, sha256).read_bytes()
    except OSError as error:
        raise LedgerError(
            f"The approved copy {FOLDER}/{sha256[:12]}... is missing: restore it from version control."
        ) from error
    if canonical_hash(content) != sha256:
        raise LedgerError(f"The approved copy {FOLDER}/{sha256[:12]}... was altered: restore it from version control.")
    body: dict[str, Any] = json.loads(content)
    return body


def snapshot_hashes(records: Path) -> frozenset[str]:
    """Return the hashes of all copies that are kept."""
    return frozenset(path.stem for path in (records / FOLDER).glob("*.json"))


def _path(records: Path, sha256: str) -> Path:
    return records / FOLDER / f"{sha256}.json"
