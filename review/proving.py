"""Running the checks of records and keeping what came of it: for `verify`, and before an approval.

run_and_keep(settings, files, ...) -> list[Result]   run checks, and append the results
prove(settings, file) -> tuple[str, ...]             refuse what a check contradicts, and tell what could not be run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from app.recordfile import RecordFile
from app.settings import Settings
from review.errors import Refused
from review.screen import today
from review.verifications import FILE, append_results, unproved, verified_on
from review.verify.execution import Outcome, Result, run_checks
from review.verify.packages import FOLDER, Packages


def _silence(_result: Result, _total: int) -> None:
    """Tell nobody."""


def run_and_keep(
    settings: Settings,
    files: Iterable[RecordFile],
    *,
    jobs: int = 1,
    keep: bool = True,
    done: Callable[[Result, int], None] = _silence,
) -> list[Result]:
    """Run every check of the given records and append the results to `verifications.jsonl`.

    Args:
        keep: False leaves that file alone.
        done: told of each result as it comes, with the number there will be.
    """
    packages = Packages(settings.home / FOLDER, settings.records)
    results = run_checks(files, private=_private(settings), packages=packages, jobs=jobs, done=done)
    if keep:
        append_results(settings.records / FILE, results, today())
    return results


def prove(settings: Settings, file: RecordFile) -> tuple[str, ...]:
    """Run the checks of a record unless they have all passed on this very text; return what could not be run, and why.

    Raises:
        Refused: a check failed.
    """
    if not unproved(verified_on(settings.records / FILE, file.record.slug, file.sha256), file):
        return ()
    results = run_and_keep(settings, [file])
    failed = [result for result in results if result.outcome is Outcome.FAILED]
    if failed:
        told = "; ".join(f"{result.check} on {result.tool} {result.version}: {result.reason}" for result in failed)
        raise Refused(f"{file.record.slug} is contradicted by {len(failed)} of its checks. {told}")
    lacking = (result for result in results if result.outcome is Outcome.UNAVAILABLE)
    return tuple(f"{result.check} on {result.tool}: {result.reason}" for result in lacking)


def _private(settings: Settings) -> list[Path]:
    """Return what no check may see: database, logs, pepper and records."""
    return [settings.home, settings.records, *([settings.pepper_file] if settings.pepper_file else [])]
