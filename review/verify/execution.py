"""Runs the checks of records and says for each, on each tool, whether it proves its claim."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from app.record import Check, Record, Runner
from app.recordfile import RecordFile
from app.technologies import canonical_name
from review.verify.confinement import Ended
from review.verify.needs import SUBJECT, NotAtHand, needed_extension, needed_library, needed_module, needed_version
from review.verify.packages import Packages
from review.verify.runners import tools_for
from review.verify.tools import Missing, Tool

_SHOWN_LINES = 12


def _silence(_result: object, _total: int) -> None:
    """Tell nobody."""


class Outcome(StrEnum):
    """What came of a check. What could not be run is unavailable, never passed."""

    PASSED = "passed"
    FAILED = "failed"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True)
class Result:
    """One check on one tool.

    Attributes:
        reason: why it did not pass, empty when it did.
        output: the end of what the program said, for a failure.
        packages: versions of what it was run with: packages and programs that the check names, else the installed
            Python packages that the record is about.
        walls: which walls of the confinement stood.
        pinned: the set of packages that the check names and this was run with, empty when it names none.
    """

    slug: str
    sha256: str
    check: str
    tool: str
    version: str
    outcome: Outcome
    reason: str = ""
    output: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    walls: frozenset[str] = frozenset()
    pinned: str = ""


@dataclass(frozen=True)
class _Job:
    file: RecordFile
    check: Check
    tool: Tool | Missing


def run_checks(
    files: Iterable[RecordFile],
    *,
    private: Iterable[Path],
    packages: Packages,
    jobs: int = 1,
    done: Callable[[Result, int], None] = _silence,
) -> list[Result]:
    """Run every check of the given records, several at a time; results are in the order of records, checks and tools.

    Args:
        private: folders and files that no check may see.
        packages: where the packages that checks name are kept.
        done: told of each result as it comes, with the number there will be.
    """
    work = _plan(files, tuple(private), packages)

    def perform(job: _Job) -> Result:
        result = _run(job)
        done(result, len(work))
        return result

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        return list(pool.map(perform, work))


def _plan(files: Iterable[RecordFile], private: tuple[Path, ...], packages: Packages) -> list[_Job]:
    tools: dict[Hashable, Sequence[Tool | Missing]] = {}
    jobs = []
    for file in files:
        for check in file.record.checks:
            asked = (check.runner, check.packages, check.needs)
            if asked not in tools:
                tools[asked] = tools_for(check, private, packages)
            planned = [_Job(file, check, tool) for tool in tools[asked]]
            # Of several PostgreSQLs, one that the record does not speak of says nothing about it.
            jobs += [job for job in planned if not _needed_version(job)] or planned
    return jobs


def _needed_version(job: _Job) -> str:
    """Return which version the record is about that this tool, or what comes with it, has not.

    Packages that the check names are what it is about, also where the record is about others: it may show how an
    earlier version differs.
    """
    if not job.tool.version:
        return ""
    versions = {} if job.tool.pinned else {canonical_name(name) or name: one for name, one in _packages(job).items()}
    if job.check.runner in SUBJECT:
        versions[SUBJECT[job.check.runner]] = job.tool.version
    return needed_version(job.file.record, versions)


def _run(job: _Job) -> Result:
    if isinstance(job.tool, Missing):
        return _result(job, Outcome.UNAVAILABLE, reason=job.tool.reason)
    needed = _needed_version(job)
    if needed:
        return _result(job, Outcome.UNAVAILABLE, reason=needed)
    try:
        return _run_files(job, job.tool)
    except (NotAtHand, OSError) as error:
        return _result(job, Outcome.UNAVAILABLE, reason=str(error))


def _run_files(job: _Job, tool: Tool) -> Result:
    check, files = job.check, job.file.fixtures
    right = tool.run(check.right, files)
    problem = _right_problem(check, right)
    if problem or check.wrong is None:
        return _judged(job, right, problem, needed=_needed_by_right(job, right))
    wrong = tool.run(check.wrong, files)
    return _judged(job, wrong, _wrong_problem(check, wrong), needed=_needed_module(job, check.wrong, wrong))


def _needed_by_right(job: _Job, ended: Ended) -> str:
    if job.check.runner is Runner.SQL:
        return needed_extension(ended)
    return _needed_module(job, job.check.right, ended) or needed_library(ended)


def _needed_module(job: _Job, name: str, ended: Ended) -> str:
    """A set of packages that the check names is whole: a module that is not in it is the check's mistake."""
    if job.check.runner is not Runner.PYTHON or job.check.packages:
        return ""
    return needed_module(job.file.fixtures[name], ended)


def _right_problem(check: Check, ended: Ended) -> str:
    if ended.timed_out:
        return f"{check.right} did not end in time"
    return "" if ended.code == 0 else f"{check.right} should succeed and ended with {ended.code}"


def _wrong_problem(check: Check, ended: Ended) -> str:
    if ended.timed_out:
        return f"{check.wrong} did not end in time"
    if ended.code == 0:
        return f"{check.wrong} should fail and succeeded: the claim is not proved"
    if check.wrong_shows and check.wrong_shows not in ended.output:
        return f"{check.wrong} failed, but its output does not contain {check.wrong_shows!r}"
    return ""


def _judged(job: _Job, ended: Ended, problem: str, *, needed: str) -> Result:
    if ended.not_started:
        return _result(job, Outcome.UNAVAILABLE, reason=ended.not_started, walls=ended.confined)
    if not problem:
        return _result(job, Outcome.PASSED, walls=ended.confined)
    if needed:
        return _result(job, Outcome.UNAVAILABLE, reason=needed, walls=ended.confined)
    output = "\n".join(ended.output.strip().splitlines()[-_SHOWN_LINES:])
    return _result(job, Outcome.FAILED, reason=problem, output=output, walls=ended.confined)


def _result(
    job: _Job, outcome: Outcome, *, reason: str = "", output: str = "", walls: frozenset[str] = frozenset()
) -> Result:
    tool = job.tool
    return Result(
        job.file.record.slug, job.file.sha256, job.check.id, tool.name, tool.version, outcome, reason, output,
        _packages(job), walls, tool.pinned,
    )  # fmt: skip


def _packages(job: _Job) -> dict[str, str]:
    if isinstance(job.tool, Tool) and job.tool.packages:
        return dict(job.tool.packages)
    return installed_packages(job.file.record) if job.check.runner is Runner.PYTHON and not job.check.packages else {}


def installed_packages(record: Record) -> dict[str, str]:
    """Return the installed version of each technology of a record that is a Python distribution."""
    found = {}
    for entry in record.applies_to:
        name = re.sub(r"[^a-z0-9]+", "-", entry.name.casefold()).strip("-")
        try:
            found[entry.name] = metadata.version(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
    return found
