"""Requests made of bytes: plain noise, and HTTP, JSON and MCP that is nearly right; and what may come back of them."""

from __future__ import annotations

import http
import json
import socket
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")

LONGEST_REPEAT = 8
# Requests whose end never comes are ended after this many seconds without an answer.
_PATIENCE = 0.15
_METHODS = ("POST", "POST", "POST", "POST", "GET", "OPTIONS", "HEAD", "DELETE", "BREW")
_PATHS = ("/mcp", "/mcp", "/mcp", "/mcp/", "/", "/llms.txt", "/readyz", "/livez", "//mcp", "/%6dcp", "*")
_VERSIONS = ("2025-11-25", "2025-03-26", "2026-07-28", "2099-01-01", "1", "")
_CALLS = ("tools/call", "tools/call", "tools/list", "initialize", "ping", "server/discover", "resources/list")
_TOOLS = ("search_knowledge", "get_guidance", "submit_feedback", "", None, 7)
_FIELDS = (
    "query", "technologies", "versions", "topic", "task_type", "max_results", "detail", "token_budget", "category",
    "record", "source", "comment", "x",
)  # fmt: skip
_IDS: tuple[Any, ...] = (1, "a", None, True, 1.5, [], -1, 2**63)
_HEADERS = (
    "Host", "Origin", "Accept", "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding",
    "Authorization", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "X-Forwarded-For", "If-None-Match", "Expect",
    "Connection", "Upgrade", "Cookie", "Range", "TE", "Trailer",
)  # fmt: skip
_HEADER_VALUES = (
    "", "*", "*/*", "null", "gzip", "chunked", "identity", "1", "-1", "99999999999999999999", "Bearer", "Bearer x",
    "localhost", "127.0.0.1", "::1", "100-continue", "close", "websocket", "text/event-stream", "q=0;q=0;;=,;,",
    "=?base64?eA==?=", "bytes=0-", "tools/call", "2026-07-28", "2025-11-25",
)  # fmt: skip


class _Bytes:
    """Choices made by bytes; when they are used up, always the first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self.secrets: list[bytes] = []

    def number(self, below: int) -> int:
        if self._place >= len(self._data):
            return 0
        self._place += 1
        return self._data[self._place - 1] % below

    def one_of(self, items: Sequence[Item]) -> Item:
        return items[self.number(len(items))]

    def noise(self, most: int = 40) -> bytes:
        """Return some of the bytes themselves, which must not come back."""
        size = self.number(most)
        taken = self._data[self._place : self._place + size]
        self._place += size
        self.secrets.append(taken)
        return taken

    def word(self) -> str:
        """Return text that no answer of ours holds."""
        text = f"Zq{self.noise(12).hex()}wXq9kVz"
        self.secrets.append(text.encode())
        return text

    def times(self, most: int) -> Iterator[int]:
        return iter(range(self.number(most + 1)))


def made_of(data: bytes, port: int) -> tuple[bytes, list[bytes]]:
    """Return the request that some bytes stand for, and what of it must not come back."""
    choices = _Bytes(data)
    if choices.number(8) == 7:
        rest = choices.noise(len(data) or 1)
        return rest + b"\r\n\r\n", choices.secrets
    return _request(choices, port), choices.secrets


def _request(choices: _Bytes, port: int) -> bytes:
    body = choices.one_of((_message, _message, _message, _message, _noise_body))(choices)
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    if choices.number(4) == 3:
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search_knowledge"}
    named = list(headers.items())
    for _ in choices.times(2):
        name = choices.one_of(_HEADERS)
        value = choices.one_of((*_HEADER_VALUES, choices.word()))
        if choices.number(2):
            named = [(known, value if known == name else kept) for known, kept in named]
        named.append((name, value))
    path = choices.one_of((*_PATHS, "/" + choices.word(), "/mcp?" + choices.word()))
    first = f"{choices.one_of(_METHODS)} {path} HTTP/1.{choices.one_of('1110')}"
    lines = [first, *(f"{name}: {value}" for name, value in named), "", ""]
    end = choices.one_of(("\r\n",) * 15 + ("\n",))
    return end.join(lines).encode("latin-1", "replace") + body


def _noise_body(choices: _Bytes) -> bytes:
    return choices.noise(120)


def _message(choices: _Bytes) -> bytes:
    params: dict[str, Any] = {"name": choices.one_of((*_TOOLS, choices.word())), "arguments": _arguments(choices)}
    if choices.number(3) == 2:
        version = choices.one_of(_VERSIONS)
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": _value(choices, 2),
        }
    message = {"jsonrpc": choices.one_of(("2.0", "2.0", "2.0", "1.0", 2)), "id": choices.one_of(_IDS)}
    message["method"] = choices.one_of((*_CALLS, choices.word(), 7))
    message["params"] = choices.one_of((params, params, params, _value(choices, 3)))
    for _ in choices.times(1):
        # Not the id: that has to come back.
        message[choices.one_of((choices.word(), "method", "params", "result", "error"))] = _value(choices, 2)
    text = json.dumps(message).encode()
    return text if choices.number(12) < 11 else text.replace(b'"id"', b'"method"', 1)


def _arguments(choices: _Bytes) -> Any:
    arguments = {
        # An unknown argument is named only where its name is a word, so here it is none.
        choices.one_of((*_FIELDS, choices.word() + " ")): choices.one_of((choices.word(), _value(choices, 3)))
        for _ in choices.times(4)
    }
    # get_guidance repeats the names that it does not know, as it promises; so they are none of a caller's words here.
    arguments["ids"] = choices.one_of((["a-record"], [], ["x"] * 11, 7, "a"))
    return choices.one_of((arguments, arguments, {"query": choices.word()}, None, []))


def _value(choices: _Bytes, depth: int) -> Any:
    plain = (None, True, 0, -1, 10**18, 10**30, 1.5, "", "\0", "\ud800", "[", choices.word())
    kind = choices.number(14 if depth else 12)
    if kind < 12:
        return plain[kind]
    if kind == 12:
        return [_value(choices, depth - 1) for _ in choices.times(3)]
    return {choices.word(): _value(choices, depth - 1) for _ in choices.times(3)}


def send(port: int, request: bytes) -> bytes:
    """Send bytes on a connection of their own and return what comes back; whoever gets no answer stops sending."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE) as connection:
        try:
            connection.sendall(request)
            while chunk := _wait(connection):
                received += chunk
        except OSError:
            pass
    return received


def _wait(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except TimeoutError:
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(5)
        return connection.recv(65_536)


def own_words(port: int) -> bytes:
    """Return what the server says by itself: noise may hold some of it by chance."""
    list_tools = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_guidance"}}).encode()
    plain = [(b"POST", body) for body in (list_tools, call, b"", b"[]", b"{}")] + [(b"GET", b""), (b"OPTIONS", b"")]
    head = b"%b /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nAccept: %b\r\n%b\r\n\r\n%b"
    answers = [
        send(port, head % (method, port, accept, b"Content-Length: %d\r\nConnection: close" % len(body), body))
        for method, body in plain
        for accept in (b"text/event-stream", b"text/html")
    ]
    status_lines = [b"HTTP/1.1 %d %b\r\n" % (one.value, one.phrase.encode()) for one in http.HTTPStatus]
    return b"\n".join([*answers, *status_lines])


def repeats(answer: bytes, secrets: Sequence[bytes], own: bytes) -> bool:
    """Tell whether an answer holds more than eight bytes in a row of what it must not.

    Args:
        own: from `own_words`.
    """
    size = LONGEST_REPEAT + 1
    windows = {secret[first : first + size] for secret in secrets for first in range(len(secret) - LONGEST_REPEAT)}
    return any(window in answer and window not in own for window in windows)
