"""Speaking to a server on the wire: JSON-RPC over httpx, and plain bytes over a socket."""

from __future__ import annotations

import functools
import json
import socket
from typing import Any

import httpx

JSON_HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def message(method: str, params: dict[str, Any] | None = None, request_id: object = 1) -> dict[str, Any]:
    """Return a request of the older protocol."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, **({} if params is None else {"params": params})}


def post(endpoint: str, body: object, **headers: str) -> httpx.Response:
    """Post a JSON value, or bytes as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return _client().post(endpoint, content=content, headers={**JSON_HEADERS, **named})


@functools.lru_cache(maxsize=1)
def _client() -> httpx.Client:
    """One client for all, because making its TLS context takes longer than a test; it keeps no connection open."""
    return httpx.Client(verify=False, timeout=30, limits=httpx.Limits(max_keepalive_connections=0))  # noqa: S501 - no TLS here


def call_tool(endpoint: str, name: str, arguments: object, **headers: str) -> httpx.Response:
    """Call a tool in the older protocol."""
    return post(endpoint, message("tools/call", {"name": name, "arguments": arguments}), **headers)


def call_modern(endpoint: str, method: str, params: dict[str, Any] | None = None, **headers: str) -> httpx.Response:
    """Send a request of the protocol without a handshake."""
    params = params or {}
    routing = {"mcp_protocol_version": MODERN, "mcp_method": method}
    if "name" in params:
        routing["mcp_name"] = params["name"]
    return post(endpoint, message(method, {"_meta": META, **params}), **{**routing, **headers})


def answer(response: httpx.Response) -> dict[str, Any]:
    """Return the JSON-RPC message of a response, out of its event if it is in one."""
    if response.headers["content-type"] == "text/event-stream":
        head, data, end = response.text.split("\n", 2)
        assert head == "event: message"
        assert end == "\n"
        assert data.startswith("data: ")
        return json.loads(data.removeprefix("data: "))
    assert response.headers["content-type"] == "application/json"
    return json.loads(response.text)


def tool_answer(response: httpx.Response) -> tuple[bool, dict[str, Any]]:
    """Return whether a tool's result is an error, and what its only text holds."""
    result = answer(response)["result"]
    assert set(result) <= {"content", "isError", "resultType", "_meta"}
    (block,) = result["content"]
    assert block["type"] == "text"
    return result["isError"], json.loads(block["text"])


def raw(port: int, data: bytes, *, wait: float = 5.0) -> bytes:
    """Send bytes and return everything that comes back until the server closes or is silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as connection:
        connection.sendall(data)
        return receive_all(connection)


def receive_all(connection: socket.socket) -> bytes:
    """Return what comes until the other end closes or is silent."""
    received = b""
    try:
        while chunk := connection.recv(65_536):
            received += chunk
    except (TimeoutError, ConnectionResetError):
        pass
    return received


def http_post(port: int, body: bytes, *headers: str) -> bytes:
    """Return the bytes of a POST /mcp that closes its connection."""
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def status_of(response: bytes) -> int:
    """Return the status of a response in bytes, 0 when there is none."""
    return int(response[9:12]) if response.startswith(b"HTTP/1.1 ") else 0
