"""Folders for clusters, and processes that hold one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from app.cluster import Cluster

_ROOT = Path(__file__).resolve().parents[2]

# Holds a cluster until a line comes on standard input.
_HOLDER = """
import json, sys
from pathlib import Path
from app.cluster import Cluster

cluster = Cluster(Path(sys.argv[1]), durable="durable" in sys.argv[2:], patience=60)
address = cluster.start()
if "watch" in sys.argv[2:]:
    cluster.watch()
print(json.dumps({"uri": address.owner_uri, "pid": cluster.status().pid}), flush=True)
sys.stdin.readline()
if "forget" not in sys.argv[2:]:
    cluster.stop()
"""


class Holder:
    """Another process that holds a cluster."""

    def __init__(self, home: Path, *words: str, before: tuple[str, ...] = (), **options: object) -> None:
        command = [*before, sys.executable, "-c", _HOLDER, str(home), *words]
        self.process = subprocess.Popen(  # type: ignore[call-overload]
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT, **options
        )
        self._said: dict[str, object] = {}

    def said(self) -> dict[str, object]:
        """Wait for it to hold the cluster and return what it says of it."""
        if not self._said:
            assert self.process.stdout is not None
            self._said = json.loads(self.process.stdout.readline())
        return self._said

    @property
    def server(self) -> int:
        return int(str(self.said()["pid"]))

    @property
    def uri(self) -> str:
        return str(self.said()["uri"])

    def leave(self) -> None:
        self.process.communicate("\n", timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that any user may enter, with a space in its path; whatever cluster is in it at the end is deleted."""
    folder = Path(tempfile.mkdtemp(prefix="chatctx home "))
    folder.chmod(0o755)
    yield folder
    for major in (16, 18):
        if any(folder.glob(f"postgres-{major}*")):
            Cluster(folder, major=major, durable=False).destroy()
    shutil.rmtree(folder)


@pytest.fixture
def hold() -> Iterator[Callable[..., Holder]]:
    """Start processes that hold a cluster; those that still run at the end are killed."""
    holders: list[Holder] = []

    def start(home: Path, *words: str, **options: object) -> Holder:
        holders.append(Holder(home, *words, **options))  # type: ignore[arg-type]
        return holders[-1]

    yield start
    for holder in holders:
        holder.kill()


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    """A durable cluster that runs, for tests that only look."""
    folder = Path(tempfile.mkdtemp(prefix="chatctx-running-"))
    folder.chmod(0o755)
    cluster = Cluster(folder)
    cluster.start()
    yield cluster
    cluster.destroy()
    shutil.rmtree(folder)


def is_running(pid: int) -> bool:
    """Tell whether a process runs."""
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def kill_server(pid: int) -> None:
    """Kill a server with all its processes, as the kernel does when memory runs out."""
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    for process in family:
        process.kill()


def count(uri: str) -> int:
    """Return how many rows the table of `fill` has."""
    with psycopg.connect(uri) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def fill(uri: str, rows: int) -> None:
    """Make a table with rows, committed."""
    with psycopg.connect(uri) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, %s) AS n", [rows])


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
