"""Whether a server grows: calls of every kind, in both protocols, for as long as it takes to see.

    .venv/bin/python -m bench.soak [--calls 200000] [--every 5000] [--embedder onnx]

Starts the whole program with a PostgreSQL of its own, in a folder that is gone afterwards, and publishes the shipped
records. Every few thousand calls, with all clients gone, it notes the process's memory, open files and threads; what is
printed is how they developed after a warm-up.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from app.access.keys import mint_key

ROOT = Path(__file__).resolve().parents[1]
PLENTY = "1000000000"
CONNECTIONS = 8
# More at once than the server works on, so that all its threads and connections exist before anything is compared.
CROWD = 48
MIB = 2**20
_ADDRESS = re.compile(r"at (http://127\.0\.0\.1:\d+)/mcp")
# After its last client has left, a server needs a moment to notice.
_SETTLING_SECONDS = 1.0
_TEXT = (
    "list rows keys state cache money decimal index migration lock timeout retry queue secret token focus contrast "
    "snapshot mock patch effect hook stream cursor page session cookie header nonce hash salt pool cron zone unicode"
)
_WORDS = _TEXT.split()


@dataclass(frozen=True)
class Sample:
    """What a process held at a moment without clients: bytes of memory, open files, threads."""

    calls: int
    memory: int
    files: int
    threads: int


@dataclass
class Soaked:
    """What came of a soak. A status of 0 counts clients that left without waiting for the answer."""

    calls: int
    samples: list[Sample] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def slope(self) -> float:
        """Bytes of memory by which it grew per 50,000 calls, by least squares over all samples."""
        mean_calls = sum(one.calls for one in self.samples) / len(self.samples)
        mean_memory = sum(one.memory for one in self.samples) / len(self.samples)
        spread = sum((one.calls - mean_calls) ** 2 for one in self.samples)
        together = sum((one.calls - mean_calls) * (one.memory - mean_memory) for one in self.samples)
        return together / spread * 50_000


def soak(base: str, pid: int, *, calls: int, every: int, warm_up: int) -> Soaked:
    """Make calls of every kind and return how the process developed.

    Args:
        base: the server's address, without the path.
        pid: its process.
        every: calls between two looks at it.
        warm_up: calls before the first.
    """
    port, soaked = int(base.rpartition(":")[2]), Soaked(calls)
    asyncio.run(_warm_up(port, warm_up))
    soaked.samples.append(_look(pid, 0))
    for first in range(0, calls, every):
        part = range(first, min(first + every, calls))
        soaked.statuses += asyncio.run(_make(port, part, CONNECTIONS))
        soaked.samples.append(_look(pid, part.stop))
    return soaked


def _look(pid: int, calls: int) -> Sample:
    time.sleep(_SETTLING_SECONDS)
    process = psutil.Process(pid)
    return Sample(calls, process.memory_info().rss, process.num_fds(), process.num_threads())


async def _warm_up(port: int, calls: int) -> None:
    for number in (_A_SEARCH, _AN_UNKNOWN_KEY):
        await asyncio.gather(*(_client(port, f"127.0.7.{n + 1}", iter([number]), Counter()) for n in range(CROWD)))
    await _make(port, range(calls), CROWD)


async def _make(port: int, numbers: range, connections: int) -> Counter[int]:
    """Make the calls with these numbers over some connections, from as many addresses, and count the answers."""
    left, statuses = iter(numbers), Counter[int]()
    await asyncio.gather(*(_client(port, f"127.0.7.{n + 1}", left, statuses) for n in range(connections)))
    return statuses


async def _client(port: int, source: str, numbers: Iterator[int], statuses: Counter[int]) -> None:
    for batch in iter(lambda: [number for number, _ in zip(numbers, range(50), strict=False)], []):
        # A new connection now and then, as real clients come and go.
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
        for number in batch:
            if number % 97 == 0:
                await _leave_early(port, source, number)
                statuses[0] += 1
            elif number % 89 == 0:
                statuses[await _open_and_close_stream(port, source)] += 1
            else:
                writer.write(_request(port, number))
                status, stays = await _answer(reader)
                statuses[status] += 1
                if not stays:
                    writer.close()
                    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def _leave_early(port: int, source: str, number: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.write(_post(port, _search(number)))
    await asyncio.sleep(number % 3 * 0.002)
    writer.transport.abort()


async def _open_and_close_stream(port: int, source: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.write(f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n".encode())
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
    writer.close()
    return int(head[9:12])


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Return an answer's status and whether the connection can be used again."""
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).lower()
    if b"content-length:" in head:
        await reader.readexactly(int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]))
    return int(head[9:12]), b"connection: close" not in head


Message = Mapping[str, Any]
# Places among the kinds of requests below.
_A_SEARCH, _AN_UNKNOWN_KEY = 23, 16


def _request(port: int, number: int) -> bytes:
    """Return one of the many kinds of requests, each with something that differs from the last of its kind."""
    kinds = (
        _post(port, _search(number)),
        _modern(port, _search(number + 1)),
        _post(port, _tool("get_guidance", {"ids": ["store-money-as-numeric", f"none-{number}"]})),
        _modern(port, _tool("get_guidance", {"ids": [f"none-{number}"]})),
        _post(port, _search(number + 2)),
        _modern(port, _tool("submit_feedback", {"category": "helpful", "comment": f"{_words(number)} helped"})),
        _post(port, _tool("search_knowledge", {"query": 7, f"x{number}": 1})),
        _modern(port, _tool("search_knowledge", {"query": "ab", "max_results": number + 100})),
        _post(port, _tool(f"none{number}", {})),
        _post(port, _rpc("tools/list")),
        _modern(port, _rpc("tools/list")),
        _modern(port, _rpc("server/discover")),
        _post(port, _rpc("initialize", _HELLO)),
        _post(port, {"jsonrpc": "2.0", "method": "notifications/initialized"}),
        _post(port, _rpc("ping")),
        _raw(port, b'{"a":1,"a":2}' + b" " * (number % 3000)),
        _post(port, _search(number), f"Authorization: Bearer {mint_key().text}"),
        _post(port, _search(number), f"Authorization: Bearer {number}"),
        _raw(port, b"{}", f"Origin: http://site{number}.example"),
        f"DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(),
        f"GET /none/{number} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(),
        f"GET /llms.txt HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(),
        f"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode(),
    )
    return kinds[number % len(kinds)]


_CLIENT = {"name": "soak", "version": "1"}
_HELLO = {"protocolVersion": LATEST_HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": _CLIENT}


def _words(number: int) -> str:
    return " ".join(_WORDS[number * step % len(_WORDS)] for step in (1, 3, 7, 11))


def _search(number: int) -> Message:
    return _tool("search_knowledge", {"query": _words(number), "technologies": ["React"] if number % 2 else []})


def _tool(name: str, arguments: Message) -> Message:
    return _rpc("tools/call", {"name": name, "arguments": arguments})


def _rpc(method: str, params: Message | None = None) -> Message:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})}


def _post(port: int, message: Message, *headers: str) -> bytes:
    return _raw(port, json.dumps(message).encode(), f"MCP-Protocol-Version: {LATEST_HANDSHAKE_VERSION}", *headers)


def _modern(port: int, message: Message) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST_MODERN_VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, **message["params"]}
    named = [f"Mcp-Name: {params['name']}"] if "name" in params else []
    headers = [f"MCP-Protocol-Version: {LATEST_MODERN_VERSION}", f"Mcp-Method: {message['method']}", *named]
    return _raw(port, json.dumps({**message, "params": params}).encode(), *headers)


def _raw(port: int, body: bytes, *headers: str) -> bytes:
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@contextmanager
def _program(embedder: str) -> Iterator[tuple[str, int]]:
    """Run the whole program in a folder of its own, and yield its address and its process."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "CHATCTX_HOME": folder,
            "CHATCTX_PORT": "0",
            "CHATCTX_EMBEDDER": embedder,
            "CHATCTX_GUEST_DAILY_QUOTA": PLENTY,
            "CHATCTX_LOG_LEVEL": "error",
            "PYTHONUNBUFFERED": "1",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "app.main", "run"],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            yield _await_address(process.stdout), process.pid
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def _await_address(lines: Iterator[str]) -> str:
    for line in lines:
        if match := _ADDRESS.search(line):
            return match[1]
    raise SystemExit("The program ended before it served.")


def render(soaked: Soaked) -> str:
    """Return what came of it as Markdown."""
    rows = [f"| {one.calls:,} | {one.memory / MIB:.1f} | {one.files} | {one.threads} |" for one in soaked.samples]
    answers = ", ".join(f"{number:,} x {status or 'left early'}" for status, number in sorted(soaked.statuses.items()))
    table = ["| Calls | Memory, MiB | Files | Threads |", "| ---: | ---: | ---: | ---: |", *rows]
    return "\n".join([*table, "", f"Memory grew by {soaked.slope / MIB:.2f} MiB per 50,000 calls. Answers: {answers}."])


def main(arguments: Sequence[str] | None = None) -> None:
    """Soak the whole program and print how it developed."""
    parser = argparse.ArgumentParser(description="Whether a server grows over many calls of every kind.")
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--every", type=int, default=5000, help="calls between two looks")
    parser.add_argument("--warm-up", type=int, default=10_000, help="calls before the first look")
    parser.add_argument("--embedder", default="onnx", help="what CHATCTX_EMBEDDER is set to")
    chosen = parser.parse_args(arguments)
    with _program(chosen.embedder) as (base, pid):
        print(render(soak(base, pid, calls=chosen.calls, every=chosen.every, warm_up=chosen.warm_up)))


if __name__ == "__main__":
    main()
