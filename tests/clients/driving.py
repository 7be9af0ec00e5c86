"""A client library in a process of its own, told over a pipe what to do; `drivers/dialogue.py` has the words."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRIVERS = Path(__file__).resolve().parent / "drivers"
TOOLS = ["search_knowledge", "get_guidance", "submit_feedback"]
SEARCH = ("search_knowledge", {"query": "list rows keep the wrong state after reordering", "technologies": ["React"]})
READ = ("get_guidance", {"ids": ["$ID"], "detail": "brief"})
CALLS = 3
# Only what a program needs: no setting of whoever runs the tests, and nothing reported to anyone.
QUIET = {"PATH": os.environ["PATH"], "OPENAI_AGENTS_DISABLE_TRACING": "1", "OTEL_SDK_DISABLED": "true"}


class Driver:
    """A running driver."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @classmethod
    @contextmanager
    def started(cls, program: str, script: str) -> Iterator[Driver]:
        process = subprocess.Popen(
            [program, str(DRIVERS / script)],
            env=QUIET,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            yield cls(process)
        finally:
            process.communicate(timeout=20)

    def hold(self, url: str, calls: Sequence[Any], key: str | None = None, mode: str = "") -> dict[str, Any]:
        """Let the client connect, list the tools and make the calls; return what it saw."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"url": url, "key": key, "mode": mode, "calls": calls}) + "\n")
        self._process.stdin.flush()
        seen: dict[str, Any] = json.loads(self._process.stdout.readline())
        return seen


def session(remark: str) -> list[Any]:
    """Return the calls of an agent that asks, reads and judges; feedback in the same words is kept once only."""
    return [SEARCH, READ, ("submit_feedback", {"category": "helpful", "record": "$ID", "comment": remark})]


def answers_of(seen: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the tools answered; none may be an error."""
    assert not any(is_error for is_error, _ in seen["answers"]), seen["answers"]
    return [json.loads(text) for _, text in seen["answers"]]
