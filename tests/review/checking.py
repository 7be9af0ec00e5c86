"""Records with one check, and their results."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from app.recordfile import read_record
from review.verify.execution import Result, run_checks
from review.verify.packages import Packages
from review.verify.postgres import DEBIAN
from review.verify.programs import find_program
from tests.review.conftest import Bench

SLUG = "store-money-as-numeric"
NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
DEBIAN_15 = (DEBIAN / "15/bin/postgres").exists()
_ENDINGS = {"python": "py", "node": "mjs", "sql": "sql", "shell": "sh"}


def needs(*programs: Any) -> pytest.MarkDecorator:
    """Skip where a program is not at hand."""
    missing = [program.value for program in programs if find_program(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)} here")


def record_with(
    bench: Bench, runner: str, right: str, wrong: str | None = None, shows: str = "boom",
    check_id: str = "the-check", **asked: list[str],
) -> Path:  # fmt: skip
    """Write a record with one check."""
    ending = _ENDINGS[runner]
    check: dict[str, Any] = {"id": check_id, "runner": runner, "right": f"right.{ending}", **asked}
    if wrong is not None:
        check |= {"wrong": f"wrong.{ending}", "wrong_shows": shows}
    path = bench.write(SLUG, check=check)
    folder = path.with_suffix(".checks")
    folder.mkdir(exist_ok=True)
    (folder / f"right.{ending}").write_text(right)
    if wrong is not None:
        (folder / f"wrong.{ending}").write_text(wrong)
    return path


def results(path: Path) -> list[Result]:
    """Run the checks of a record file; packages are kept beside its folder of records."""
    records = path.parent.parent
    return run_checks([read_record(path)], private=[], packages=Packages(records.parent / "packages", records))
