"""A client that costs the server little: connections that are kept open, each with one request on its way."""

from __future__ import annotations

import json
import selectors
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

CONNECTIONS = 8
_ARGUMENTS = {
    "query": "list rows keep the wrong state after reordering",
    "technologies": ["React", "TypeScript"],
    "versions": {"React": "18.2"},
}
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "User-Agent": "bench/1",
}


class WrongAnswer(Exception):
    """The server did not answer the call with 200."""


def old_call(port: int) -> bytes:
    """Return the bytes of a search in the protocol with a handshake."""
    params = {"name": "search_knowledge", "arguments": _ARGUMENTS}
    return _post(port, params, {"MCP-Protocol-Version": LATEST_HANDSHAKE_VERSION})


def new_call(port: int) -> bytes:
    """Return the bytes of a search in the protocol without one, as the official client sends it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": LATEST_MODERN_VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"_meta": meta, "name": "search_knowledge", "arguments": _ARGUMENTS}
    routing = {
        "MCP-Protocol-Version": LATEST_MODERN_VERSION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "search_knowledge",
    }
    return _post(port, params, routing)


def send_many(port: int, request: bytes, times: int) -> None:
    """Send a request many times over several connections, and wait for every answer.

    Raises:
        WrongAnswer: an answer was not 200, or held an error.
    """
    with ExitStack() as held, selectors.DefaultSelector() as waiting:
        for _ in range(CONNECTIONS):
            line = _Line(port, request)
            waiting.register(held.enter_context(line.socket), selectors.EVENT_READ, line)
            line.ask()
        asked, answered = CONNECTIONS, 0
        while answered < asked:
            # Without sleeping: the system bills whoever sends for waking whoever sleeps.
            for key, _ in waiting.select(timeout=0):
                if key.data.has_answer():
                    answered += 1
                    if asked < times:
                        asked += 1
                        key.data.ask()


def _post(port: int, params: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": dict(params)}).encode()
    told = {"Host": f"127.0.0.1:{port}", **_HEADERS, **headers, "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


class _Line:
    """One connection, asking again as soon as it is answered."""

    def __init__(self, port: int, request: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._received = b""

    def ask(self) -> None:
        self.socket.sendall(self._request)

    def has_answer(self) -> bool:
        """Take what has come, and tell whether the answer is whole."""
        data = self.socket.recv(65_536)
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if data and (not end or len(body) < _length(head)):
            return False
        if not head.startswith(b"HTTP/1.1 200") or b'"isError":true' in body:
            raise WrongAnswer(self._received[:400].decode("latin-1") or "the connection was closed")
        self._received = b""
        return True


def _length(head: bytes) -> int:
    return int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
