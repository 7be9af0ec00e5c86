"""PostgreSQL for checks: a server of its own for each run, in each major version at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from app.cluster.binaries import wheel_binaries
from app.errors import ClusterError
from review.verify.confinement import Ended, Program
from review.verify.needs import NotAtHand
from review.verify.programs import ask_version
from review.verify.tools import Missing, Start, Tool

WHEEL_MAJORS = (18, 16)
# Where Debian's packages put the server programs; the oldest major that many still run.
DEBIAN_MAJORS = (15,)
DEBIAN = Path("/usr/lib/postgresql")
# A PostgreSQL of its own for each run, inside the confinement: superuser rights end at its walls and nothing has to be
# dropped afterwards. The unsafe settings are for data that lives for a second.
_SCRIPT = """\
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


def postgres_tools(start: Start) -> Iterator[Tool | Missing]:
    """Yield each major version once, newest first."""
    for major in WHEEL_MAJORS:
        try:
            folder = wheel_binaries(major).folder
        except ClusterError as error:
            yield Missing("postgresql", error.message, version=str(major))
            continue
        # The wheel's shared libraries lie beside its package.
        yield _tool(major, folder, folder.resolve().parents[2], start)
    for major in DEBIAN_MAJORS:
        folder = DEBIAN / str(major) / "bin"
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            yield _tool(major, folder, folder.parent, start)
        else:
            reason = f"not installed here (Debian: apt install postgresql-{major})"
            yield Missing("postgresql", reason, version=str(major))


def _tool(major: int, folder: Path, keep: Path, start: Start) -> Tool | Missing:
    version = ask_version(str(folder / "postgres"))
    if version is None:
        return Missing("postgresql", "its programs do not run on this machine", version=str(major))

    def run(name: str, files: Mapping[str, bytes]) -> Ended:
        argv = ("/bin/sh", "-c", _SCRIPT, "check", str(folder), name)
        ended = start(Program(argv, files, keep=(str(keep),), needs_account=True))
        if ended.code == _SETUP_FAILED:
            raise NotAtHand(f"A scratch PostgreSQL could not be started: {ended.output.strip().splitlines()[-1:]}")
        return ended

    return Tool("postgresql", version, run)
