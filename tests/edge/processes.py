"""Servers in processes of their own, ended by their tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class EdgeProcess:
    """A running server process."""

    process: subprocess.Popen[str]
    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


@contextmanager
def edge_process(home: Path, database_url: str | None = None, **settings: Any) -> Iterator[EdgeProcess]:
    """Run a server until the block ends; the block may end it itself."""
    command = [sys.executable, "-m", "tests.edge.program", json.dumps({"home": str(home), **settings})]
    process = subprocess.Popen(
        [*command, *([database_url] if database_url else [])],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield EdgeProcess(process, int(line) if line.strip() else 0)
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
