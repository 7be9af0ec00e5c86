"""The whole program as a person starts it: a process, its own embedded PostgreSQL, real sockets.

Tests named `test_tNN_...` keep the promises of docs/reliability.md: the first line of a docstring is the promise as
it is printed there, `record_property("figure", ...)` is what was measured; `python -m bench.reliability` collects both.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from app.runtime import LocalRuntime
from app.transports.cli import create_cli
from tests.databases import Database

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90
CHOSEN = (
    "implementation/use-stable-keys-for-dynamic-react-lists",
    "reliability/release-redis-locks-only-by-token",
    "data/store-money-as-numeric",
    "testing/patch-names-where-they-are-looked-up",
)
_ADDRESS = re.compile(r"at (https?://[^\s/]+)/mcp")


@dataclass
class Program:
    """A running `chatctx run`."""

    process: subprocess.Popen[str]
    base: str
    home: Path
    lines: list[str] = field(default_factory=list)

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def rpc(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> httpx.Response:
        """Send one request as an older client does."""
        return httpx.post(
            f"{self.base}/mcp",
            # Escaped, so that what UTF-8 cannot carry can still be sent.
            content=json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})}),
            headers={
                "content-type": "application/json",
                "accept": "application/json, text/event-stream",
                **headers,
            },
            timeout=30,
        )

    def call(self, tool: str, arguments: Mapping[str, Any], **headers: str) -> httpx.Response:
        return self.rpc("tools/call", {"name": tool, "arguments": dict(arguments)}, **headers)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=30)


def answer_of(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON a tool answered, out of its event frame."""
    data = next(line[6:] for line in response.text.splitlines() if line.startswith("data: "))
    answer: dict[str, Any] = json.loads(json.loads(data)["result"]["content"][0]["text"])
    return answer


def copy_records(folder: Path) -> Path:
    """Copy a few shipped records, without their approvals."""
    for name in CHOSEN:
        source, target = ROOT / "records" / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source.with_suffix(".md"), target.with_suffix(".md"))
        if source.with_suffix(".checks").is_dir():
            shutil.copytree(source.with_suffix(".checks"), target.with_suffix(".checks"))
    return folder


@pytest.fixture(scope="session")
def approved_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of records approved as a demonstration set, through the command an owner uses."""
    folder = copy_records(tmp_path_factory.mktemp("owner") / "records")
    cli = create_cli(LocalRuntime({"CHATCTX_RECORDS": str(folder)}, folder.parent))
    for name in CHOSEN:
        slug = name.partition("/")[2]
        result = CliRunner().invoke(
            cli, ["review", "approve", slug, "--by", "demo", "--yes", "--words-only", "--note", "for a test"]
        )
        assert result.exit_code == 0, result.output
    return folder


@contextmanager
def run_program(
    environ: Mapping[str, str], home: Path, *, command: str = "run", folder: Path = ROOT
) -> Iterator[Program]:
    """Start `chatctx run`, or `serve` for what is published already, and lend it once it says where it is.

    Args:
        folder: another checkout to start it from.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", command],
        cwd=folder,
        env={**os.environ, "CHATCTX_HOME": str(home), "CHATCTX_PORT": "0", "PYTHONUNBUFFERED": "1", **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines: queue.Queue[str | None] = queue.Queue()
    kept: list[str] = []
    pump = threading.Thread(target=_pump, args=(process, lines, kept), daemon=True)
    pump.start()
    try:
        yield Program(process, _await_address(lines, kept), home, kept)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(timeout=30)
        pump.join(timeout=30)
        assert process.stdout is not None
        process.stdout.close()


def _pump(process: subprocess.Popen[str], lines: queue.Queue[str | None], kept: list[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        kept.append(line.rstrip("\n"))
        lines.put(kept[-1])
    lines.put(None)


def _await_address(lines: queue.Queue[str | None], kept: list[str]) -> str:
    while (line := lines.get(timeout=START_SECONDS)) is not None:
        if match := _ADDRESS.search(line):
            return match[1]
    raise AssertionError("it ended before it served:\n" + "\n".join(kept))


Start = Callable[..., AbstractContextManager[Program]]


@pytest.fixture
def start(approved_records: Path, tmp_path: Path) -> Start:
    """Return a function that starts the program; keyword arguments are added to its environment."""

    def begin(home: Path | None = None, **environ: str) -> AbstractContextManager[Program]:
        settings = {"CHATCTX_RECORDS": str(approved_records), "CHATCTX_EMBEDDER": "none", **environ}
        return run_program(settings, home or tmp_path / "home")

    return begin


@pytest.fixture
def serve(tmp_path: Path) -> Start:
    """Return a function that serves what a test has published in a database, each time in a process of its own.

    All of them share one home, so one pepper, as several servers behind a balancer must.
    """

    def begin(database: Database, home: Path | None = None, **environ: str) -> AbstractContextManager[Program]:
        urls = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
        settings = {"CHATCTX_EMBEDDER": "none", **urls, **environ}
        return run_program(settings, home or tmp_path / "home", command="serve")

    return begin
