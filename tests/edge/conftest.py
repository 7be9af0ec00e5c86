"""Servers for the tests of the edge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.edge.running import RunningEdge, StartEdge, run_edges


@pytest.fixture
def start_edge(tmp_path: Path) -> Iterator[StartEdge]:
    """Start servers; each ends with the test."""
    yield from run_edges(tmp_path)


@pytest.fixture
def fresh_edge(start_edge: StartEdge) -> RunningEdge:
    """A server of the test's own with the default settings."""
    return start_edge()


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningEdge]:
    """One server for all tests of a file that leave nothing behind."""
    edges = run_edges(tmp_path_factory.mktemp("edge"))
    yield next(edges)()
    next(edges, None)
