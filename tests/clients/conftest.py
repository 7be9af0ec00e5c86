"""Node and the public MCP clients, installed once from the lock file beside this."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.edge.running import RunningEdge, run_edges

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
STAMP = MODULES / ".installed-from"
OLDEST_NODE = (22, 19)

RunNode = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> str:
    """The clients are installed; return a Node that can run them."""
    install_clients()
    for candidate in [*map(str, sorted(MODULES.glob("node-*/bin/node"))), shutil.which("node") or ""]:
        if candidate and version_of(candidate) >= OLDEST_NODE:
            return candidate
    pytest.skip("no Node >= 22.19: npm has none for this machine and none is installed")


def install_clients() -> None:
    """Run `npm ci` unless the folder was filled from the same lock file; skip where that is not possible."""
    fingerprint = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text() == fingerprint:
        return
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: the public MCP clients cannot be had")
    # No install scripts: what is needed are files whose hashes are in the lock.
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        reasons = re.findall(r"npm error (?:code |network )?(\S.*)", done.stderr) or ["no reason given"]
        pytest.skip(f"npm ci failed, the public MCP clients cannot be had: {reasons[0]}")
    STAMP.write_text(fingerprint)


def version_of(node: str) -> tuple[int, ...]:
    """Return a Node's version, (0,) for what does not run."""
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return (0,)
    return tuple(int(number) for number in re.findall(r"\d+", told))


@pytest.fixture
def run_node(node: str, tmp_path: Path) -> RunNode:
    """Run a program of the installed packages."""
    # A home of its own: the Inspector keeps credentials in the user's.
    environment = {
        "PATH": f"{Path(node).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "NO_COLOR": "1",
    }

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [node, str(MODULES / program), *arguments]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False
        )

    return run


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[RunningEdge]:
    """A server that does not run out of units."""
    edges = run_edges(tmp_path)
    yield next(edges)(guest_daily_quota=100_000)
    next(edges, None)
