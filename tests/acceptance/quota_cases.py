"""Requests of every kind, as bytes: what a call costs, what is free, and what tries to be called for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.acceptance.quota_wire import SEARCH, call_body, request
from tests.edge.wire import META, MODERN, message

CALL = {"name": "search_knowledge", "arguments": SEARCH}
MODERN_HEADERS = (("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "search_knowledge"))
NOTHING = "the connection is closed without an answer"


@dataclass(frozen=True)
class Case:
    """One request.

    Attributes:
        status: the answer's; 0 when the connection is closed without one.
        extra: headers besides the usual ones.
        replaced: usual headers with other values, None to leave one out.
    """

    name: str
    status: int
    body: bytes
    extra: tuple[tuple[str, str], ...] = ()
    replaced: Mapping[str, str | None] = field(default_factory=dict)
    method: str = "POST"
    path: str = "/mcp"

    def data(self, port: int) -> bytes:
        return request(port, self.body, *self.extra, replaced=self.replaced, method=self.method, path=self.path)


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def asked(method: str, params: dict[str, Any] | None = None, /, **changes: object) -> bytes:
    return encoded({**message(method, params), **changes})


def modern(method: str, params: dict[str, Any] | None = None) -> bytes:
    return asked(method, {"_meta": META, **(params or {})})


def tool(name: object, arguments: object) -> bytes:
    return asked("tools/call", {"name": name, "arguments": arguments})


CHARGED = [
    Case("a search", 200, call_body()),
    Case("a search without a match", 200, tool("search_knowledge", {"query": "sourdough hydration"})),
    Case("a search of the protocol without a handshake", 200, modern("tools/call", CALL), MODERN_HEADERS),
    Case("guidance by id", 200, tool("get_guidance", {"ids": ["use-stable-keys"]})),
    Case("guidance that does not exist", 200, tool("get_guidance", {"ids": ["no-such-record"]})),
    Case("feedback", 200, tool("submit_feedback", {"category": "helpful"})),
    Case("an unknown tool", 200, tool("nonsense", {})),
    Case("an argument of the wrong type", 200, tool("search_knowledge", {"query": 7})),
    Case("an unknown argument", 200, tool("search_knowledge", {**SEARCH, "limit": 3})),
    Case("arguments that are no object", 200, tool("search_knowledge", [1])),
    Case("a call without a name", 200, asked("tools/call", {})),
    Case("a name that is no string", 200, tool(7, {})),
    Case("an escaped method name", 200, call_body().replace(b"tools/call", b"tools\\/call")),
]
FREE = [
    Case(
        "initialize",
        200,
        asked(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        ),
    ),
    Case(
        "server/discover",
        200,
        modern("server/discover"),
        (("MCP-Protocol-Version", MODERN), ("Mcp-Method", "server/discover")),
    ),
    Case("ping", 200, asked("ping")),
    Case("tools/list", 200, asked("tools/list")),
    Case("prompts/list", 200, asked("prompts/list")),
    Case("an unknown method", 200, asked("no/such")),
    Case("a notification", 202, encoded({"jsonrpc": "2.0", "method": "notifications/initialized"})),
    Case("a call as a notification", 202, encoded({"jsonrpc": "2.0", "method": "tools/call", "params": CALL})),
    Case("a response", 202, encoded({"jsonrpc": "2.0", "id": 1, "result": {}})),
    Case("no JSON", 400, b"{"),
    Case("a null id", 400, asked("tools/call", CALL, id=None)),
    Case("a batch", 400, encoded([message("tools/call", CALL)] * 3)),
    Case("a name twice", 400, b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}'),
    Case("headers that contradict the body", 400, call_body(), (("MCP-Protocol-Version", MODERN),)),
    Case("no key where one is promised", 401, call_body(), (("Authorization", ""),)),
    Case("a malformed key", 401, call_body(), (("Authorization", "Bearer x"),)),
    Case("a foreign host", 403, call_body(), replaced={"Host": "evil.net"}),
    Case("a foreign origin", 403, call_body(), (("Origin", "https://evil.net"),)),
    Case("another path", 404, call_body(), path="/mcp2"),
    Case("GET", 405, b"", method="GET", replaced={"Accept": "*/*"}),
    Case("DELETE", 405, b"", method="DELETE"),
    Case("an answer that cannot be read", 406, call_body(), replaced={"Accept": "text/html"}),
    Case("too much", 413, b" " * 70_000),
    Case("another media type", 415, call_body(), replaced={"Content-Type": "text/plain"}),
    Case("a packed body", 415, call_body(), (("Content-Encoding", "gzip"),)),
    Case("too many headers", 431, call_body(), tuple((f"X-{number}", "x") for number in range(80))),
]


def chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def pipelined(first: bytes, second: bytes) -> Callable[[int], bytes]:
    """Return what makes two requests in one go; the second ends the connection."""
    return lambda port: request(port, first, replaced={"Connection": None}) + request(port, second)


_TEXT = call_body().decode()
_PING = asked("ping")
_CHUNKED = {"Content-Length": None, "Transfer-Encoding": "chunked"}


def _unsized(name: str, body: bytes, **replaced: str | None) -> tuple[str, Callable[[int], bytes]]:
    return name, lambda port: request(port, body, replaced=replaced)


def _posted(name: str, body: bytes, *extra: tuple[str, str], **sent: Any) -> tuple[str, Callable[[int], bytes]]:
    return name, lambda port: request(port, body, *extra, **sent)


# Each an attempt to have a tool run that is not counted.
ATTEMPTS: list[tuple[str, Callable[[int], bytes]]] = [
    _posted("method twice, the call last", _TEXT.replace('"method"', '"method": "ping", "method"', 1).encode()),
    _posted("method twice, the call first", _TEXT.replace('"params"', '"method": "ping", "params"', 1).encode()),
    _posted(
        "method twice, one of them escaped", _TEXT.replace('"params"', '"m\\u0065thod": "ping", "params"').encode()
    ),
    _posted("id twice", _TEXT.replace('"id": 1', '"id": 1, "id": null').encode()),
    _posted("params twice", _TEXT.replace('"params"', '"params": {}, "params"', 1).encode()),
    _posted("tool named twice", _TEXT.replace('"name"', '"name": "nonsense", "name"', 1).encode()),
    _posted("query twice", _TEXT.replace('"query"', '"query": "x", "query"', 1).encode()),
    _posted("a batch of one", f"[{_TEXT}]".encode()),
    _posted("a batch of three", f"[{_TEXT},{_TEXT},{_TEXT}]".encode()),
    _posted("a batch that begins with a ping", b"[" + _PING + b"," + _TEXT.encode() + b"]"),
    _posted("a batch in a batch", f"[[{_TEXT}]]".encode()),
    _posted("two messages behind each other", _PING + b"\n" + _TEXT.encode()),
    _posted("id true", asked("tools/call", CALL, id=True)),
    _posted("id null", asked("tools/call", CALL, id=None)),
    _posted("id 1.5", asked("tools/call", CALL, id=1.5)),
    _posted("id in a list", asked("tools/call", CALL, id=[1])),
    _posted("id very long", asked("tools/call", CALL, id="x" * 5000)),
    _posted("a notification", encoded({"jsonrpc": "2.0", "method": "tools/call", "params": CALL})),
    _posted("call and result", asked("tools/call", CALL, result={})),
    _posted("call and error", asked("tools/call", CALL, error={})),
    _posted("no version", encoded({"id": 1, "method": "tools/call", "params": CALL})),
    _posted("method with a slash escaped", _TEXT.replace("tools/call", "tools\\/call").encode()),
    _posted(
        "method with every letter escaped",
        _TEXT.replace("tools/call", "".join(f"\\u{ord(c):04x}" for c in "tools/call")).encode(),
    ),
    _posted("method in capitals", _TEXT.replace("tools/call", "TOOLS/CALL").encode()),
    _posted("method with a space", _TEXT.replace("tools/call", "tools/call ").encode()),
    _posted("method with two slashes", _TEXT.replace("tools/call", "tools//call").encode()),
    _posted("method with NUL", _TEXT.replace("tools/call", "tools/call\\u0000").encode()),
    _posted("method in letters that look alike", _TEXT.replace("tools/call", "tools/c\u0430ll").encode()),
    _posted(
        "method in full-width letters", _TEXT.replace("tools/call", "\uff54\uff4f\uff4f\uff4c\uff53/call").encode()
    ),
    _posted("method in a list", asked("tools/call", CALL, method=["tools/call"])),
    _posted("params in a list", asked("tools/call", CALL, params=[CALL])),
    _posted("call inside a ping's params", asked("ping", message("tools/call", CALL))),
    _posted("call as a task", asked("tools/call", {**CALL, "task": {"ttl": 60000}})),
    _posted("call with a progress token", asked("tools/call", {**CALL, "_meta": {"progressToken": 1}})),
    *(
        _posted(f"body in {codec}", _TEXT.encode(codec))
        for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "cp037")
    ),
    _posted(
        "body in UTF-16, and said so",
        _TEXT.encode("utf-16"),
        replaced={"Content-Type": "application/json; charset=utf-16"},
    ),
    _posted("UTF-8 of more bytes than needed", _TEXT.encode().replace(b"tools/call", b"tools\xc0\xafcall")),
    _posted("lone surrogate", _TEXT.replace("tools/call", "tools/call\\ud800").encode()),
    _unsized("chunked", chunked(_TEXT.encode()), **_CHUNKED),
    _unsized("chunked byte by byte", chunked(*(bytes([byte]) for byte in _TEXT.encode())), **_CHUNKED),
    _unsized("chunked, and a length besides", chunked(_TEXT.encode()), **{"Transfer-Encoding": "chunked"}),
    _unsized("chunked twice", chunked(_TEXT.encode()), **{**_CHUNKED, "Transfer-Encoding": "chunked, chunked"}),
    (
        "a length too short, the call behind it",
        lambda port: request(
            port,
            _PING + request(port, _TEXT.encode()),
            replaced={"Content-Length": str(len(_PING)), "Connection": None},
        ),
    ),
    ("a ping and a call on one connection", pipelined(_PING, _TEXT.encode())),
    (
        "a notification and a call on one connection",
        pipelined(encoded({"jsonrpc": "2.0", "method": "notifications/initialized"}), _TEXT.encode()),
    ),
    ("a call and a call on one connection", pipelined(_TEXT.encode(), _TEXT.encode())),
    _posted("older era, header says ping", _TEXT.encode(), ("Mcp-Method", "ping")),
    _posted("older era, header names the newer version", _TEXT.encode(), ("MCP-Protocol-Version", MODERN)),
    _posted("newer era", modern("tools/call", CALL), *MODERN_HEADERS),
    _posted("newer era without its headers", modern("tools/call", CALL)),
    _posted(
        "newer era, header says tools/list",
        modern("tools/call", CALL),
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", "search_knowledge"),
    ),
    _posted("newer era, header says call, body says ping", modern("ping"), *MODERN_HEADERS),
    _posted(
        "newer era, header names another tool",
        modern("tools/call", CALL),
        *MODERN_HEADERS[:2],
        ("Mcp-Name", "get_guidance"),
    ),
    _posted("newer era, method header twice", modern("tools/call", CALL), *MODERN_HEADERS, ("Mcp-Method", "ping")),
    _posted(
        "newer era, header names an older version",
        modern("tools/call", CALL),
        ("MCP-Protocol-Version", "2025-06-18"),
        *MODERN_HEADERS[1:],
    ),
    _posted(
        "newer era as a notification",
        encoded({"jsonrpc": "2.0", "method": "tools/call", "params": {"_meta": META, **CALL}}),
        *MODERN_HEADERS,
    ),
    _posted("method overridden", _TEXT.encode(), ("X-HTTP-Method-Override", "GET")),
    _posted("as PUT", _TEXT.encode(), method="PUT"),
    _posted("as GET", _TEXT.encode(), method="GET"),
    _posted("as QUERY", _TEXT.encode(), method="QUERY"),
    _posted("with a slash behind the path", _TEXT.encode(), path="/mcp/"),
    _posted("with two slashes before the path", _TEXT.encode(), path="//mcp"),
    _posted("with the path in capitals", _TEXT.encode(), path="/MCP"),
    _posted("with the path escaped", _TEXT.encode(), path="/%6dcp"),
    _posted("with a method in the address", _TEXT.encode(), path="/mcp?method=ping"),
    _posted("with another address in X-Forwarded-For", _TEXT.encode(), ("X-Forwarded-For", "203.0.113.9")),
    _posted("with an id of a session", _TEXT.encode(), ("Mcp-Session-Id", "free")),
]
