"""The public MCP clients, and the server they are let loose on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.embedding.onnx import OnnxEmbedder
from app.recordfile import read_record, record_paths
from tests.clients import installing
from tests.clients.service import Service
from tests.databases import Database, DatabaseServer
from tests.edge.running import RunningEdge, run_edges

RECORDS = Path(__file__).resolve().parents[2] / "records"

RunNode = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node() -> str:
    """The clients are installed; return a Node that can run them."""
    try:
        return installing.find_node()
    except installing.NotInstalled as reason:
        pytest.skip(str(reason))


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
        command = [node, str(installing.MODULES / program), *arguments]
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


@pytest.fixture(scope="session")
def published(database_server: DatabaseServer, model: OnnxEmbedder) -> Iterator[Database]:
    """Lend a database with the shipped records of one topic, for servers that write to it."""
    with database_server.clone() as lent:
        records = [read_record(path).record for path in record_paths(RECORDS)]
        lent.publish(*[record for record in records if record.topic == "implementation"], embedder=model)
        yield lent


@pytest.fixture(scope="session")
def service(published: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Lend a whole server in a process of its own, whose log and counters can be read."""
    with Service.started(published, tmp_path_factory.mktemp("service")) as running:
        yield running
