"""What executes a check: Python with the project's packages, Node, and PostgreSQL in each major version at hand."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.cluster.binaries import wheel_binaries
from app.errors import ClusterError
from app.record import Runner
from review.verify.confinement import Ended, Program, run_confined

NODE_MINIMUM = 18
POSTGRES_MAJORS = (18, 16)
_VERSION = re.compile(r"\d+(?:\.\d+)+")
# A PostgreSQL of its own for each run, inside the confinement: superuser rights end at its walls and nothing has to be
# dropped afterwards. The unsafe settings are for data that lives for a second.
_POSTGRES_SCRIPT = """\
set -e
"$1/initdb" -D data -U check --no-sync --no-instructions -E UTF8 --locale=C.UTF-8 -A trust >initdb.log 2>&1 ||
  "$1/initdb" -D data -U check --no-sync --no-instructions -E UTF8 --locale=C -A trust >initdb.log 2>&1 ||
  { cat initdb.log; exit 97; }
"$1/postgres" -D data -k "$PWD" -c listen_addresses= -c fsync=off -c full_page_writes=off -c synchronous_commit=off \\
  -c max_wal_size=32MB -c shared_buffers=16MB -c max_connections=20 -c autovacuum=off -c timezone=UTC >server.log 2>&1 &
tries=0
until "$1/pg_isready" -q -h "$PWD"; do
  tries=$((tries + 1)); [ $tries -lt 150 ] || { cat server.log; exit 97; }; sleep 0.05
done
"$1/createdb" -h "$PWD" -U check scratch
"$1/psql" -X -q -v ON_ERROR_STOP=1 -h "$PWD" -U check -d scratch -f "$2" && code=0 || code=$?
kill -INT %1 2>/dev/null || :
# What follows the setup must not look like a setup that failed.
[ $code -ne 97 ] || code=1
exit $code
"""
_SETUP_FAILED = 97
_Start = Callable[[Program], Ended]


@dataclass(frozen=True)
class Tool:
    """Software a check is run on.

    Attributes:
        run: runs the file with this name out of the given files.
    """

    name: str
    version: str
    run: Callable[[str, Mapping[str, bytes]], Ended]


@dataclass(frozen=True)
class Missing:
    """Software that is not there, and why: what could not be run has not passed."""

    name: str
    reason: str


def tools_for(runner: Runner, private: tuple[Path, ...] = ()) -> tuple[Tool | Missing, ...]:
    """Return what a check of this kind runs on, each once.

    Args:
        private: folders and files that it does not get to see.
    """

    def start(program: Program) -> Ended:
        return run_confined(replace(program, private=private))

    return tuple({Runner.PYTHON: _python, Runner.NODE: _node, Runner.SQL: _postgres}[runner](start))


def _python(start: _Start) -> Iterator[Tool]:
    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        argv = (sys.executable, "-I", "-B", "-X", "utf8", name)
        return start(Program(argv, files, keep=(sys.prefix, sys.base_prefix)))

    yield Tool("python", platform.python_version(), run)


def _node(start: _Start) -> Iterator[Tool | Missing]:
    found = shutil.which("node")
    if found is None:
        yield Missing("node", "node is not on the PATH")
        return
    program = str(Path(found).resolve())
    version = _ask_version(program)
    if version is None or int(version.split(".")[0]) < NODE_MINIMUM:
        yield Missing("node", f"node {version or 'of unknown version'} is older than {NODE_MINIMUM}")
        return

    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        argv = (program, "--max-old-space-size=512", name)
        return start(Program(argv, files, keep=(str(Path(program).parent.parent),), data_limited=True))

    yield Tool("node", version, run)


def _ask_version(program: str) -> str | None:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - a program the PATH names
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(done.stdout)
    return match[0] if match else None


def _postgres(start: _Start) -> Iterator[Tool | Missing]:
    for major in POSTGRES_MAJORS:
        try:
            folder = wheel_binaries(major).folder
        except ClusterError as error:
            yield Missing(f"postgresql {major}", error.message)
            continue
        version = _ask_version(str(folder / "postgres"))
        if version is None:
            yield Missing(f"postgresql {major}", "its programs do not run on this machine")
            continue
        yield Tool("postgresql", version, _runs_sql(folder, start))


def _runs_sql(folder: Path, start: _Start) -> Callable[[str, Mapping[str, bytes]], Ended]:
    # The wheel's shared libraries lie beside its package.
    site = folder.resolve().parents[2]

    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        argv = ("/bin/sh", "-c", _POSTGRES_SCRIPT, "check", str(folder), name)
        ended = start(Program(argv, files, keep=(str(site),), needs_account=True))
        if ended.code == _SETUP_FAILED:
            raise ClusterError(f"A scratch PostgreSQL could not be started: {ended.output.strip().splitlines()[-1:]}")
        return ended

    return run
