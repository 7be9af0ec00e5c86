"""HTTP as it can come: reused and pipelined connections, lengths that lie, and whatever a fuzzer thinks of."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import socket
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.access import Access
from app.operations import OPERATIONS
from app.settings import Settings
from app.transports.deadlines import DeadlineProtocol
from app.transports.http import EdgeServices, create_app
from tests.access.memorystore import MemoryAccessStore, RealClock
from tests.edge.answers import answer_offline
from tests.edge.running import PEPPERS, PUBLIC_FILES
from tests.edge.wire import META, MODERN, http_post, message, raw, receive_all, status_of

PING = json.dumps(message("ping")).encode()


def kept_alive(request: bytes) -> bytes:
    return request.replace(b"Connection: close\r\n", b"")


OFFER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAAABk")


def in_pieces(port: int, *pieces: bytes) -> bytes:
    """Send bytes in packets of their own, and return what comes back."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            with suppress(OSError):
                connection.sendall(piece)
            time.sleep(0.05)
        return receive_all(connection)


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the deadlines come within a second."""
    monkeypatch.setattr(DeadlineProtocol, "FIRST_BYTE_SECONDS", 0.5)
    monkeypatch.setattr(DeadlineProtocol, "REQUEST_SECONDS", 0.5)


@pytest.mark.parametrize("protocol", ["h2c", "websocket", "anything"])
def test_an_offer_of_another_protocol_is_declined_and_the_request_answered(edge, protocol):
    """Java's client makes one with each request over plain HTTP; it gets its answer, and a new connection."""
    offer = (OFFER[0], f"Upgrade: {protocol}")
    answered = raw(edge.port, kept_alive(http_post(edge.port, PING, *offer)))
    assert status_of(answered) == 200
    assert b"connection: close" in answered.lower()
    assert answered.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("length", ["X-None: 1", "Content-Length: 5", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("target", ["POST /mcp", "GET /mcp", "HEAD /", "CONNECT example.org:443", "OPTIONS *"])
def test_whatever_is_asked_with_an_offer_is_the_last_request(start_edge, target, length):
    """With a body of any kind or none, in time or late: one answer, and the connection is closed."""
    edge = start_edge()
    head = "\r\n".join((f"{target} HTTP/1.1", f"Host: 127.0.0.1:{edge.port}", length, *OFFER, "", ""))
    answered = in_pieces(edge.port, head.encode(), b"5\r\nhello\r\n0\r\n\r\n", http_post(edge.port, SEARCH))
    assert answered.count(b"HTTP/1.1 ") == 1
    assert status_of(answered) in (200, 400, 404, 405, 415)
    assert b"connection: close" in answered
    assert edge.store.calls["take"] == 0


def test_what_does_not_switch_is_no_offer(edge):
    """Without the word in Connection, Upgrade means nothing, and the connection goes on."""
    for header in ("Upgrade: h2c", "Connection: Upgrade"):
        with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
            for _ in range(2):
                connection.sendall(kept_alive(http_post(edge.port, PING, header)))
                assert status_of(connection.recv(65_536)) == 200


def test_a_long_or_unfinished_body_behind_an_offer_is_bounded_as_any_other(edge, monkeypatch):
    """Too much is refused, and what does not come is not waited for."""
    assert status_of(raw(edge.port, http_post(edge.port, b"x" * 70_000, *OFFER))) == 413
    quick(monkeypatch)
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(http_post(edge.port, b"x" * 100, *OFFER)[:-50])
        assert connection.recv(1024) == b""


JAVA = """
import java.io.*; import java.net.*; import java.net.http.*; import java.net.http.HttpRequest.*;
public class Calls {
  public static void main(String[] given) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    for (BodyPublisher body : new BodyPublisher[] {
        BodyPublishers.ofString(given[1]), BodyPublishers.ofString(given[1]),
        BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(given[1].getBytes()))}) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(given[0])).POST(body)
        .header("Content-Type", "application/json").header("Accept", "application/json, text/event-stream").build();
      System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
    }
  }
}
"""


@pytest.mark.skipif(shutil.which("java") is None, reason="no Java here")
def test_javas_own_client_is_answered(start_edge, tmp_path):
    """It offers HTTP/2 with each request over plain HTTP, also with a body whose length it does not know."""
    edge, program = start_edge(), tmp_path / "Calls.java"
    program.write_text(JAVA)
    command = ["java", str(program), edge.endpoint, SEARCH.decode()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["200"] * 3, done.stderr
    assert edge.store.calls["take"] == 3


@pytest.mark.parametrize("target", ["GET /llms.txt", "POST /nowhere", "POST /mcp", "DELETE /mcp"])
def test_a_body_that_breaks_after_its_answer_gets_no_second_one(edge, target):
    """Whoever counts answers, as a proxy does, would take it for that of the next request."""
    head = f"{target} HTTP/1.1\r\nHost: 127.0.0.1:{edge.port}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    answered = in_pieces(edge.port, head, b"5\r\nhello\r\n", b"no chunk\r\n" + http_post(edge.port, PING))
    assert answered.count(b"HTTP/1.1 ") == 1
    assert status_of(answered) in (200, 404, 405, 415)


def sent_for_large(edge, monkeypatch, *headers: str, times: int = 1) -> socket.socket:
    """Return a connection on which so much has been asked for that it finds no room on its way."""
    monkeypatch.setattr(DeadlineProtocol, "TAKING_SECONDS", 1.0)
    head = ("GET /large HTTP/1.1", f"Host: 127.0.0.1:{edge.port}", *headers, "", "")
    connection = socket.create_connection(("127.0.0.1", edge.port), timeout=5)
    connection.sendall("\r\n".join(head).encode() * times)
    time.sleep(0.3)
    assert len(edge.server.server_state.connections) == 1
    return connection


@pytest.fixture
def large_edge(start_edge, monkeypatch):
    """A server with a file that is larger than what the system holds for a client."""
    monkeypatch.setitem(PUBLIC_FILES, "/large", ("text/plain", b"x" * 8_000_000))
    return start_edge()


@pytest.mark.parametrize(("headers", "times"), [((), 1), ((), 20), (("Connection: close",), 1)])
def test_a_client_that_does_not_take_its_answer_is_hung_up_on(large_edge, monkeypatch, headers, times):
    """Otherwise it could hold a connection for ever."""
    with sent_for_large(large_edge, monkeypatch, *headers, times=times):
        time.sleep(1.5)
        assert not large_edge.server.server_state.connections


def test_a_client_that_takes_its_answer_late_gets_it_whole(large_edge, monkeypatch):
    with sent_for_large(large_edge, monkeypatch, "Connection: close") as connection:
        assert len(receive_all(connection)) > 8_000_000


def test_a_client_that_leaves_several_requests_behind_leaves_no_error(start_edge, caplog):
    """Every one of them learns that there is nobody to answer, not the last alone."""
    edge = start_edge(call=lambda _name, _arguments: time.sleep(0.3) or {})
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
            connection.sendall(kept_alive(http_post(edge.port, SEARCH)) * 3)
            time.sleep(0.1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    time.sleep(0.6)
    assert status_of(raw(edge.port, http_post(edge.port, PING))) == 200
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []


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


def chunked_post(port: int, body: bytes, *trailers: str) -> bytes:
    """Return the bytes of a POST in one chunk with trailers behind it."""
    head = http_post(port, b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    tail = "".join(f"{trailer}\r\n" for trailer in trailers).encode()
    return head + b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, tail)


SEARCH = json.dumps(
    message("tools/call", {"name": "search_knowledge", "arguments": {"query": "react list keys"}})
).encode()


def test_a_forwarded_address_behind_the_body_opens_no_new_allowance(start_edge):
    """Proxies check the head; a trailer passes them, and must not say whom a call is counted for."""
    edge = start_edge(guest_daily_quota=2, trusted_proxies=("127.0.0.0/8",))
    requests = [chunked_post(edge.port, SEARCH, f"X-Forwarded-For: 203.0.113.{n}") for n in range(4)]
    assert [status_of(raw(edge.port, request)) for request in requests] == [200, 200, 429, 429]


@pytest.mark.parametrize(
    "trailer",
    [
        "Authorization: Bearer nonsense",
        "MCP-Protocol-Version: 2099-01-01",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: tools/call",
        "Host: evil.net",
        "Origin: https://evil.net",
        "Content-Type: text/plain",
        "Accept: text/html",
        "Expect: 100-continue",
        "X-Long: " + "a" * 20_000,
    ],
)
def test_what_stands_behind_the_body_is_no_header(edge, trailer):
    """In one piece or in two, with the trailer there before or after the head was looked at."""
    request = chunked_post(edge.port, PING, trailer)
    assert status_of(raw(edge.port, request)) == 200
    head, _, trailing = request.rpartition(b"0\r\n" + trailer.encode()[:8])
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(head)
        time.sleep(0.05)
        connection.sendall(b"0\r\n" + trailer.encode()[:8] + trailing)
        assert status_of(receive_all(connection)) == 200


def test_a_key_behind_the_body_is_not_presented(start_edge):
    """A valid key in a trailer opens nothing."""
    edge = start_edge(guest_access=False)
    key = edge.new_key()
    edge.store.add_key(key)
    request = chunked_post(edge.port, PING, f"Authorization: Bearer {key.text}")
    assert status_of(raw(edge.port, request)) == 401


def test_headers_of_the_next_request_are_taken_again(edge):
    """Dropping ends with the request whose trailers they were."""
    first = kept_alive(chunked_post(edge.port, PING, "X-Trailer: 1"))
    answers = raw(edge.port, first + http_post(edge.port, PING, "Authorization: Bearer nonsense"))
    assert answers.count(b"HTTP/1.1 200") == 1
    assert answers.count(b"HTTP/1.1 401") == 1


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://127.0.0.1:{port}/mcp", "127.0.0.1:{port}", 200),
        ("HTTP://LocalHost:{port}/mcp?x", "localhost:{port}", 200),
        ("http://evil.net/mcp", "127.0.0.1:{port}", 400),
        ("http://evil.net/mcp", "evil.net", 403),
        ("http://localhost:{port}/mcp", "127.0.0.1:{port}", 400),
        ("http://127.0.0.1:{port}/mcp", "evil.net", 400),
        ("http://127.0.0.1:{port}@evil.net/mcp", "127.0.0.1:{port}", 400),
        ("http://user@127.0.0.1:{port}/mcp", "127.0.0.1:{port}", 400),
        ("https://evil.net/mcp", "127.0.0.1:{port}", 400),
        ("http://evil.net?/mcp", "127.0.0.1:{port}", 400),
        ("//evil.net/mcp", "127.0.0.1:{port}", 404),
    ],
)
def test_a_whole_address_in_the_request_line_must_name_this_server(edge, target, host, status):
    """It counts as the Host, and two that differ are none."""
    request = http_post(edge.port, PING)
    request = request.replace(b"POST /mcp ", f"POST {target.format(port=edge.port)} ".encode())
    request = request.replace(f"Host: 127.0.0.1:{edge.port}".encode(), f"Host: {host.format(port=edge.port)}".encode())
    assert status_of(raw(edge.port, request)) == status


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
    start, *parts = asyncio.run(exchange(app(), scope, body))
    assert 200 <= start["status"] < 500
    assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]
    told = b"".join(part["body"] for part in parts)
    # get_guidance names the identifiers it does not have; nothing else repeats what was sent.
    assert CANARY.encode() not in told or b"missing" in told


def test_what_is_not_http_is_refused(app):
    scope = {"type": "websocket", "path": "/mcp", "headers": []}
    assert asyncio.run(exchange(app(), scope, b"")) == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("target", ["POST /nothing", "GET /mcp", "POST /mcp"])
def test_a_body_that_ends_after_its_answer_holds_no_connection(edge, target):
    """No clock would run for what comes behind it: the connection ends."""
    head = f"{target} HTTP/1.1\r\nHost: 127.0.0.1:{edge.port}\r\nContent-Type: text/odd\r\nContent-Length: 10\r\n\r\n"
    with socket.create_connection(("127.0.0.1", edge.port), timeout=10) as connection:
        connection.sendall(head.encode() + b"123456789")
        time.sleep(3)
        with suppress(OSError):
            connection.sendall(b"0")
        with suppress(ConnectionResetError):
            receive_all(connection)
            assert connection.recv(1) == b""


def test_requests_that_pile_up_behind_another_end_their_connection(edge):
    """Each costs memory until its answer is due; so many are no client's."""
    one = f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:{edge.port}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", edge.port), timeout=10) as connection:
        with suppress(OSError):
            for _ in range(200):
                connection.sendall(one * 1000)
        with suppress(ConnectionResetError):
            assert receive_all(connection).count(b"HTTP/1.1 404") <= 200
    few = raw(edge.port, one * 20)
    assert few.count(b"HTTP/1.1 404") == 20
