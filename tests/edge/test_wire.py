"""HTTP as it can come: reused and pipelined connections, lengths that lie, and whatever a fuzzer thinks of."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.access import Access
from app.operations import OPERATIONS
from app.settings import Settings
from app.transports.http import EdgeServices, create_app
from tests.access.memorystore import MemoryAccessStore, RealClock
from tests.edge.answers import answer_offline
from tests.edge.running import PEPPERS, PUBLIC_FILES
from tests.edge.wire import META, MODERN, http_post, message, raw, receive_all, status_of

PING = json.dumps(message("ping")).encode()


def kept_alive(request: bytes) -> bytes:
    return request.replace(b"Connection: close\r\n", b"")


def test_a_connection_is_used_again(edge):
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        for _ in range(5):
            connection.sendall(kept_alive(http_post(edge.port, PING)))
            assert status_of(connection.recv(65_536)) == 200
        connection.sendall(http_post(edge.port, PING))
        assert status_of(receive_all(connection)) == 200


def test_pipelined_requests_are_answered_in_order(edge):
    pings = [http_post(edge.port, json.dumps(message("ping", request_id=n)).encode()) for n in range(4)]
    answers = raw(edge.port, b"".join(kept_alive(ping) for ping in pings[:3]) + pings[3])
    places = [answers.index(f'"id":{n},'.encode()) for n in range(4)]
    assert places == sorted(places)


def test_a_client_may_ask_before_it_sends_the_body(edge):
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        head, _, body = http_post(edge.port, PING, "Expect: 100-continue").partition(b"\r\n\r\n")
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(1024).startswith(b"HTTP/1.1 100")
        connection.sendall(body)
        assert status_of(receive_all(connection)) == 200


def test_a_length_and_chunks_at_once_are_refused(edge):
    request = http_post(edge.port, b"0\r\n\r\n", "Transfer-Encoding: chunked")
    assert status_of(raw(edge.port, request)) == 400


def test_more_than_the_declared_length_is_no_second_request(edge):
    """It ends the connection; what was smuggled behind the body is not run."""
    behind = http_post(edge.port, json.dumps(message("tools/call", {"name": "search_knowledge"})).encode())
    answers = raw(edge.port, kept_alive(http_post(edge.port, PING)) + b"x" + behind)
    assert status_of(answers) == 400
    assert answers.count(b"HTTP/1.1 ") == 1
    assert edge.store.calls["take"] == 0


def test_a_body_can_come_in_chunks(edge):
    head = http_post(edge.port, b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in PING) + b"0\r\n\r\n"
    assert status_of(raw(edge.port, head + chunks)) == 200


def test_an_old_client_without_a_host_is_refused(edge):
    assert status_of(raw(edge.port, b"GET /llms.txt HTTP/1.0\r\n\r\n")) == 403


CANARY = "Zq7canaryXw"
METHODS = st.sampled_from(["POST", "POST", "POST", "GET", "OPTIONS", "HEAD", "DELETE", "BREW"])
PATHS = st.sampled_from(["/mcp", "/mcp", "/mcp/", "/", "/llms.txt", "/readyz", "/nowhere", f"/{CANARY}"])
HEADER_NAMES = st.sampled_from(
    [
        b"host", b"origin", b"accept", b"content-type", b"content-length", b"content-encoding", b"authorization",
        b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"x-forwarded-for", b"if-none-match", b"x-other",
    ]
)  # fmt: skip
HEADER_VALUES = st.sampled_from(
    [
        b"", b"127.0.0.1:8080", b"http://localhost:8080", b"application/json", b"text/event-stream", b"*/*", b"gzip",
        b"1", b"-1", b"99999999999999999999", b"Bearer x", b"Bearer kb_live_x", MODERN.encode(), b"2025-11-25",
        b"tools/call",
        b"search_knowledge", b"=?base64?eA==?=", b"\xff\xfe", b"q=0;q=0;;=,;,", CANARY.encode(),
    ]
) | st.binary(max_size=40)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([CANARY, "", "\0", "\ud800", 1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([CANARY, "query", "ids", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": st.sampled_from([1, "a", None, True, 1.5, []]) | st.integers(),
        "method": st.sampled_from(["tools/call", "tools/list", "initialize", "ping", "server/discover", CANARY, 7]),
        "params": JUNK
        | st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from([*OPERATIONS, CANARY, 7, None]),
                "arguments": JUNK,
                "_meta": st.just(META) | JUNK,
                "protocolVersion": JUNK,
                "cursor": JUNK,
            },
        ),
    },
)
BODIES = st.binary(max_size=60) | (MESSAGES | st.lists(MESSAGES, max_size=2) | JUNK).map(
    lambda value: json.dumps(value).encode()
)
USUAL = [
    (b"host", b"127.0.0.1:8080"),
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
]


@pytest.fixture(scope="module")
def app():
    """The application alone, without a socket."""
    values = Settings(home=Path("unused"), port=0, guest_daily_quota=10**9, feedback_guest_quota=10**9, max_streams=0)
    access = Access(MemoryAccessStore(), PEPPERS, values, RealClock())
    return lambda: create_app(
        EdgeServices(values, access, OPERATIONS, answer_offline, "x", PUBLIC_FILES, lambda: {"a": True})
    )


async def exchange(application: Any, scope: dict[str, Any], body: bytes) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    await application(scope, receive, send)
    application.close()
    return sent


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(METHODS, PATHS, st.lists(st.tuples(HEADER_NAMES, HEADER_VALUES), max_size=3), st.booleans(), BODIES)
def test_nothing_breaks_the_edge_and_nothing_comes_back(app, method, path, headers, usual, body):
    """No request is answered with a 5xx or left without an answer, and none hears its own words again."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
        "headers": (USUAL if usual else []) + headers,
    }
    start, end = asyncio.run(exchange(app(), scope, body))
    assert 200 <= start["status"] < 500
    assert not end.get("more_body")
    # get_guidance names the identifiers it does not have; nothing else repeats what was sent.
    assert CANARY.encode() not in end["body"] or b"missing" in end["body"]


def test_what_is_not_http_is_refused(app):
    scope = {"type": "websocket", "path": "/mcp", "headers": []}
    assert asyncio.run(exchange(app(), scope, b"")) == [{"type": "websocket.close", "code": 1008}]
