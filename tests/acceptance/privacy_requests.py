"""Every place of a request that a caller can write into, each with a way to send a word there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx

from app.access.keys import checksum
from tests.edge.wire import JSON_HEADERS, META, MODERN, http_post, message, raw

QUESTION = "list rows keep the wrong state after reordering"


class Sender:
    """Sends requests from an address of the caller's own, which the server believes because it trusts its proxy."""

    def __init__(self, base: str, address: str, client: httpx.Client, headers: Mapping[str, str] | None = None) -> None:
        self._base = base
        self._address = address
        self._client = client
        self._headers = headers or {}
        self.answers: list[str] = []

    @property
    def port(self) -> int:
        port = urlsplit(self._base).port
        assert port is not None
        return port

    def post(self, body: object, headers: Mapping[str, str] | None = None, path: str = "/mcp") -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.ask("POST", path, content, {**JSON_HEADERS, **(headers or {})})

    def ask(self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]) -> None:
        every = {"x-forwarded-for": self._address, **headers, **self._headers}
        try:
            answer = self._client.request(method, self._base + path, content=content, headers=every)
        except httpx.TransportError as error:
            self.answers.append(f"none: {type(error).__name__}")
        else:
            self.answers.append(f"{answer.status_code} {dict(answer.headers)} {answer.text}")

    def call(self, tool: str, arguments: object, headers: Mapping[str, str] | None = None) -> None:
        self.post(message("tools/call", {"name": tool, "arguments": arguments}), headers)

    def modern(
        self, params: Mapping[str, Any], method: str = "tools/list", headers: Mapping[str, str] | None = None
    ) -> None:
        routing = {"mcp-protocol-version": MODERN, "mcp-method": method, **(headers or {})}
        self.post(message(method, {"_meta": META, **params}), routing)

    def send_raw(self, data: bytes, *, wait: float = 1.0) -> None:
        with suppress(OSError):
            self.answers.append(raw(self.port, data, wait=wait).decode("latin-1"))


Send = Callable[[Sender, str], None]


def search(**arguments: Any) -> Send:
    """Return a way to send a word in arguments of a search: `WORD` in them, keys included, becomes the word."""
    return call("search_knowledge", {"query": QUESTION, **arguments})


def call(tool: str, arguments: object) -> Send:
    text = json.dumps(arguments)
    return lambda sender, word: sender.call(tool, json.loads(text.replace("WORD", word)))


def header(name: str, value: str = "WORD") -> Send:
    return lambda sender, word: sender.call(
        "search_knowledge", {"query": QUESTION}, {name: value.replace("WORD", word)}
    )


def _feedback(**fields: Any) -> Send:
    return call("submit_feedback", {"category": "other", **fields})


# Sent while nothing fails and in every failure too: what the database and the embedder get to see.
VALID: dict[str, Send] = {
    "query": search(query=f"{QUESTION} WORD"),
    "query of operators": search(query="'WORD\" & | ! :* <-> ( \\ % _ $$"),
    "technology": search(technologies=["WORD", "React"]),
    "version's technology": search(versions={"WORD": "1.2.3"}),
    "version": search(technologies=["React"], versions={"React": "18.WORD"}),
    "id": call("get_guidance", {"ids": ["WORD", "'WORD"]}),
    "secret in a comment": _feedback(comment="Tell WORD@mail.example.org that the link is dead."),
    "technology in feedback": _feedback(comment="Tell them that it works.", versions={"WORD": "18"}),
    "version in feedback": _feedback(comment="Tell them that it works.", versions={"React": "18-WORD"}),
    "JSON-RPC id": lambda sender, word: sender.post(
        message("tools/call", {"name": "search_knowledge", "arguments": {"query": QUESTION}}, request_id=word)
    ),
    "User-Agent": header("user-agent"),
    "tool": call("WORD", {"query": QUESTION}),
    "unknown argument": search(WORD="WORD"),
}

REFUSED: dict[str, Send] = {
    "topic": search(topic="WORD"),
    "topics": search(topic=["ux", "WORD"]),
    "task_type": search(task_type="WORD"),
    "max_results": search(max_results="WORD"),
    "detail": search(detail="WORD"),
    "token_budget": search(token_budget="WORD"),
    "NUL in the query": search(query="WORD\0"),
    "half a character in the query": search(query="WORD \ud800"),
    "query that is too long": search(query="WORD" * 200),
    "query that is a list": search(query=["WORD"]),
    "unnameable argument": search(**{"WORD is not a name": 1}),
    "arguments that are text": call("search_knowledge", "WORD"),
    "arguments that are a list": call("search_knowledge", ["WORD"]),
    "ids as text": call("get_guidance", {"ids": "WORD"}),
    "id that is too long": call("get_guidance", {"ids": ["WORD" * 40]}),
    "NUL in an id": call("get_guidance", {"ids": ["WORD\0"]}),
    "feedback's category": call("submit_feedback", {"category": "WORD"}),
    "feedback's source": _feedback(source="WORD"),
    "feedback's extra field": _feedback(contact="WORD"),
    "feedback's outcome": _feedback(outcome="WORD"),
    "comment that is too long": _feedback(comment="WORD" * 100),
    "method": lambda sender, word: sender.post(message(word, {word: word})),
    "notification": lambda sender, word: sender.post({"jsonrpc": "2.0", "method": word, "params": {word: word}}),
    "response": lambda sender, word: sender.post({"jsonrpc": "2.0", "id": word, "result": {word: word}}),
    "id that is an object": lambda sender, word: sender.post(message("ping", request_id={word: word})),
    "wrong JSON-RPC version": lambda sender, word: sender.post({"jsonrpc": word, "id": word, "method": "ping"}),
    "_meta": lambda sender, word: sender.post(message("tools/list", {"_meta": {"progressToken": word, word: word}})),
    "cursor": lambda sender, word: sender.post(message("tools/list", {"cursor": word})),
    "clientInfo at a handshake": lambda sender, word: sender.post(
        _handshake("2025-06-18", word)
    ),
    "protocolVersion at a handshake": lambda sender, word: sender.post(
        _handshake(f"{word} is none", word)
    ),
    "clientInfo without a handshake": lambda sender, word: sender.modern(
        {"_meta": {**META, "io.modelcontextprotocol/clientInfo": {"name": word, "version": word}, word: word}}
    ),
    "version without a handshake": lambda sender, word: sender.modern(
        {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": f"{word} is none"}},
        headers={"mcp-protocol-version": f"{word} is none"},
    ),
    "version of a notification": lambda sender, word: sender.post(
        {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {"_meta": META}},
        {"mcp-protocol-version": word},
    ),
    "logging level": lambda sender, word: sender.post(message("logging/setLevel", {"level": word})),
    "resource": lambda sender, word: sender.post(message("resources/read", {"uri": f"file:///{word}"})),
    "completion": lambda sender, word: sender.post(
        message("completion/complete", {"ref": {"name": word}, "argument": {"name": word, "value": word}})
    ),
    "malformed JSON": lambda sender, word: sender.post(f'{{"jsonrpc": "2.0", "id": "{word}"'.encode()),
    "body that is no JSON": lambda sender, word: sender.post(f"{word}={word}\xff".encode("latin-1")),
    "batch": lambda sender, word: sender.post([message(word), word]),
    "repeated key": lambda sender, word: sender.post(f'{{"{word}": 1, "{word}": "{word}"}}'.encode()),
    "deep nesting": lambda sender, word: sender.post((f'{{"{word}":' * 40 + "1" + "}" * 40).encode()),
    "body of a form": lambda sender, word: sender.post(
        f"query={word}".encode(), {"content-type": "application/x-www-form-urlencoded"}
    ),
    "body cut off": lambda sender, word: sender.send_raw(
        http_post(sender.port, b"{}").replace(b"Length: 2", b"Length: 900").replace(b"{}", word.encode())
    ),
    "HTTP method": lambda sender, word: sender.send_raw(f"{word.upper()} /mcp HTTP/1.1\r\nHost: x\r\n\r\n".encode()),
    "HTTP version": lambda sender, word: sender.send_raw(f"POST /mcp {word}/1.1\r\n\r\n".encode()),
    "broken header": lambda sender, word: sender.send_raw(http_post(sender.port, b"{}", f"{word} without a colon")),
    "name of a header": lambda sender, word: sender.call("search_knowledge", {"query": QUESTION}, {f"x-{word}": word}),
    "upgrade": lambda sender, word: sender.ask(
        "GET", f"/{word}", None, {"connection": "upgrade", "upgrade": word, "sec-websocket-key": word}
    ),
    "path": lambda sender, word: sender.ask("GET", f"/{word}/../{word}", None, {}),
    "method on a path": lambda sender, word: sender.ask("PROPFIND", f"/mcp/{word}", None, {}),
    "query string": lambda sender, word: sender.post(message("ping"), path=f"/mcp?{word}={word}"),
    "token in the query string": lambda sender, word: sender.post(message("ping"), path=f"/mcp?access_token={word}"),
    "stream": lambda sender, word: sender.ask("GET", "/mcp", None, {"accept": f"text/{word}", "last-event-id": word}),
    "Host": header("host"),
    "Origin": header("origin", "https://WORD.example"),
    "X-Forwarded-For": header("x-forwarded-for", "WORD, ::WORD"),
    "Forwarded": header("forwarded", "for=WORD;host=WORD"),
    "Authorization of no known kind": header("authorization"),
    "Authorization with a password": header("authorization", "Basic WORD"),
    "Authorization with no key": header("authorization", "Bearer WORD"),
    "Authorization with an unknown key": lambda sender, word: sender.call(
        "search_knowledge", {"query": QUESTION}, {"authorization": f"Bearer {_unknown_key(word)}"}
    ),
    "Cookie": header("cookie", "session=WORD"),
    "Referer": header("referer", "https://WORD.example/WORD"),
    "Accept": header("accept", "application/json, text/event-stream, text/WORD"),
    "Accept that fits nothing": header("accept", "text/WORD"),
    "Content-Type": header("content-type", "application/WORD"),
    "Content-Encoding": header("content-encoding"),
    "MCP-Protocol-Version": header("mcp-protocol-version"),
    "Mcp-Session-Id": header("mcp-session-id"),
    "Last-Event-ID": header("last-event-id"),
    "Mcp-Method": lambda sender, word: sender.modern({}, headers={"mcp-method": word}),
    "Mcp-Name": lambda sender, word: sender.modern(
        {"name": "search_knowledge", "arguments": {"query": QUESTION}}, "tools/call", {"mcp-name": word}
    ),
    "trace context": header("baggage", "user=WORD"),
}  # fmt: skip


def _handshake(version: str, word: str) -> dict[str, Any]:
    client = {"name": word, "version": word}
    return message("initialize", {"protocolVersion": version, "capabilities": {word: {}}, "clientInfo": client})


def _unknown_key(word: str) -> str:
    """Return a key that is well formed, so that the database is asked for it."""
    body = f"kb_live_{word[:12]}_{word:0<43}"
    return body + checksum(body)
