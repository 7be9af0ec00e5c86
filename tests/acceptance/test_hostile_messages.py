"""Requests that are too large, ambiguous, not meant for this server, or wrong in every way the contract forbids."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.contract import BODY_MAX_BYTES
from app.operations import OPERATIONS
from app.toolschema import input_schema
from bench.fuzzrequests import made_of, own_words, repeats, send
from tests.acceptance.edge_schema import ValuesBeside
from tests.acceptance.hostile_offers import OFFERINGS, answers_in_every_cut
from tests.edge.processes import EdgeProcess, edge_process
from tests.edge.running import RunningEdge, run_edges
from tests.edge.wire import (
    META,
    MODERN,
    call_modern,
    call_tool,
    http_post,
    message,
    post,
    receive_all,
    status_of,
    tool_answer,
)

Note = Callable[[str, object], None]

PING = json.dumps(message("ping")).encode()
SEARCH = json.dumps(message("tools/call", {"name": "search_knowledge", "arguments": {"query": "list keys"}})).encode()
PLENTY = 1_000_000


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningEdge]:
    """A server on a socket, with a store in memory that does not run out of units."""
    edges = run_edges(tmp_path_factory.mktemp("edge"))
    yield next(edges)(guest_daily_quota=PLENTY, feedback_guest_quota=PLENTY)
    next(edges, None)


@dataclass
class Watched:
    """A server in a process of its own, and what it logs, which is read as it comes."""

    running: EdgeProcess
    lines: list[str]
    reading: threading.Thread

    @property
    def port(self) -> int:
        return self.running.port

    def log_of_its_life(self) -> str:
        """End the server and return everything it has logged."""
        self.running.process.terminate()
        assert self.running.process.wait(timeout=15) == 0
        self.reading.join(timeout=15)
        return "".join(self.lines)


@pytest.fixture
def process(tmp_path) -> Iterator[Watched]:
    """The same in a process of its own."""
    with edge_process(tmp_path, guest_daily_quota=PLENTY) as running:
        lines: list[str] = []
        reading = threading.Thread(target=lambda: lines.extend(running.process.stderr), daemon=True)
        reading.start()
        yield Watched(running, lines, reading)


def kept_alive(request: bytes) -> bytes:
    return request.replace(b"Connection: close\r\n", b"")


def padded(size: int) -> bytes:
    return PING + b" " * (size - len(PING))


def chunked(port: int, body: bytes) -> bytes:
    head = http_post(port, b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    pieces = (body[first : first + 4096] for first in range(0, len(body), 4096))
    return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def declared(port: int, size: int) -> bytes:
    return http_post(port, PING).replace(b"Content-Length: %d" % len(PING), b"Content-Length: %d" % size)


Sized = Callable[[int], bytes]
SIZES: Sequence[tuple[str, Sized, int]] = (
    ("64 KiB", lambda port: http_post(port, padded(BODY_MAX_BYTES)), 200),
    ("a byte more", lambda port: http_post(port, padded(BODY_MAX_BYTES + 1)), 413),
    ("64 KiB in chunks", lambda port: chunked(port, padded(BODY_MAX_BYTES)), 200),
    ("a byte more in chunks", lambda port: chunked(port, padded(BODY_MAX_BYTES + 1)), 413),
    ("10 MiB in chunks", lambda port: chunked(port, padded(10 * 2**20)), 413),
    ("declared larger than any", lambda port: declared(port, 10**18), 413),
    ("declared with 4,000 digits", lambda port: declared(port, 10**3999), 400),
    ("declared negative", lambda port: declared(port, -1), 400),
    ("declared shorter than it is", lambda port: kept_alive(declared(port, len(PING) - 3)), 400),
    ("a header of 70 KB", lambda port: http_post(port, PING, "X-Long: " + "a" * 70_000), 431),
    ("headers of 16 KiB in all", lambda port: http_post(port, PING, *(f"X-{n}: {'a' * 400}" for n in range(42))), 431),
    ("65 headers", lambda port: http_post(port, PING, *(f"X-{n}: a" for n in range(60))), 431),
    ("5,000 headers", lambda port: http_post(port, PING, *(f"X-{n}: a" for n in range(5000))), 431),
)


def answer_to(port: int, data: bytes) -> bytes:
    """Send as much as the server takes, and return what it answers."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)
        return receive_all(connection)


def test_t22_what_is_too_large_is_refused_and_not_kept(process: Watched, record_property: Note) -> None:
    """Bodies up to 64 KiB are read; larger, lying and chunked ones, 70 KB of header and 5,000 headers are refused.

    The server's memory does not grow by 5 MiB over it.
    """
    server = psutil.Process(process.running.process.pid)
    for round_number in range(5):
        if round_number == 1:
            before = server.memory_info().rss
        seen = {name: status_of(answer_to(process.port, sized(process.port))) for name, sized, _ in SIZES}
        assert seen == {name: status for name, _, status in SIZES}
    grown = server.memory_info().rss - before
    assert grown < 5 * 2**20
    record_property("figure", f"{len(SIZES)} sizes four times over, memory grew by {grown / 2**20:.1f} MiB")


SMUGGLED = http_post(0, SEARCH)
AMBIGUOUS: Mapping[str, Callable[[int], bytes]] = {
    "a length and chunks": lambda port: http_post(port, b"0\r\n\r\n", "Transfer-Encoding: chunked"),
    "chunks and a length": lambda port: chunked(port, PING).replace(
        b"Transfer-Encoding", b"Content-Length: 5\r\nTransfer-Encoding"
    ),
    "two lengths": lambda port: http_post(port, PING, "Content-Length: 1"),
    "the same length twice": lambda port: http_post(port, PING, f"Content-Length: {len(PING)}"),
    "a list of lengths": lambda port: http_post(port, PING).replace(
        b"Content-Length: %d" % len(PING), b"Content-Length: %d, %d" % (len(PING), len(PING))
    ),
    "a length with a sign": lambda port: http_post(port, PING).replace(b"Content-Length: ", b"Content-Length: +"),
    "white space before the colon": lambda port: http_post(port, PING).replace(b"Content-Length:", b"Content-Length :"),
    "chunks of an unknown kind": lambda port: chunked(port, PING).replace(b": chunked", b": chunked, gzip"),
    "chunks named twice": lambda port: chunked(port, PING).replace(
        b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"
    ),
    "chunks spelled with a tab": lambda port: chunked(port, PING).replace(b": chunked", b": \x0bchunked"),
    "a chunk's length that is none": lambda port: chunked(port, PING).replace(b"\r\n\r\n", b"\r\n\r\n0x", 1),
    "line feeds alone": lambda port: http_post(port, PING).replace(b"\r\n", b"\n"),
    "a carriage return alone": lambda port: http_post(port, PING, "X: a\rHost: evil.example"),
    "a folded header": lambda port: http_post(port, PING, "X: a\r\n folded: yes"),
    "a NUL in a header": lambda port: http_post(port, PING, "X: a\0b"),
    "a header without a colon": lambda port: http_post(port, PING, "nonsense"),
    "two Hosts": lambda port: http_post(port, PING, "Host: evil.example"),
    "the same Host twice": lambda port: http_post(port, PING, f"Host: 127.0.0.1:{port}"),
    "two Authorizations": lambda port: http_post(port, PING, "Authorization: Bearer a\r\nAuthorization: Bearer b"),
    "two content types": lambda port: http_post(port, PING, "Content-Type: application/json"),
    "two methods in headers": lambda port: http_post(port, PING, "Mcp-Method: ping\r\nMcp-Method: tools/call"),
    "HTTP/2 without its preface": lambda port: http_post(port, PING).replace(b"HTTP/1.1", b"HTTP/2.0"),
    "two versions of MCP": lambda port: http_post(port, PING, *["MCP-Protocol-Version: 2025-06-18"] * 2),
    "two Origins": lambda port: http_post(port, PING, *[f"Origin: http://localhost:{port}"] * 2),
    "a blank in a header's name": lambda port: http_post(port, PING, "bad name: x"),
    "no version": lambda port: http_post(port, PING).replace(b" HTTP/1.1", b""),
}


@pytest.mark.parametrize("ambiguous", list(AMBIGUOUS))
def test_t23_what_two_servers_could_read_differently_is_refused(edge: RunningEdge, ambiguous: str) -> None:
    """Ambiguous lengths, chunks, line ends and repeated headers: 4xx, the connection is closed, nothing behind it runs.

    A second call follows on the same connection each time.
    """
    taken = edge.store.calls["take"]
    follower = kept_alive(SMUGGLED.replace(b":0\r\n", b":%d\r\n" % edge.port))
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(kept_alive(AMBIGUOUS[ambiguous](edge.port)))
        time.sleep(0.02)
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(follower)
        began = time.monotonic()
        received = receive_all(connection)
        assert time.monotonic() - began < 4, "the connection was left open"
    assert 400 <= status_of(received) < 500
    assert received.count(b"HTTP/1.1 ") == 1
    assert edge.store.calls["take"] == taken


def test_t23_nothing_behind_an_offer_of_another_protocol_is_a_request(edge: RunningEdge, record_property: Note) -> None:
    """HTTP/2, WebSocket and tunnels are declined, the request is answered, and nothing behind its body is read.

    In one piece, cut at every byte, and byte by byte: the same answers each time, never more than one for a head, and
    the connection is closed.
    """
    taken = edge.store.calls["take"]
    seen = asyncio.run(answers_in_every_cut(edge.port, OFFERINGS))
    assert {name: set(answers) for name, answers in seen.items()} == {
        name: {(offering.statuses, True)} for name, offering in OFFERINGS.items()
    }
    counted = sum(offering.units * seen[name].total() for name, offering in OFFERINGS.items())
    assert edge.store.calls["take"] - taken == counted > 0
    sent = sum(answers.total() for answers in seen.values())
    record_property("figure", f"{len(OFFERINGS)} kinds sent {sent:,} times, the same answers in whatever pieces")


def nested(depth: int) -> bytes:
    """Return a ping whose deepest value is `depth` containers down."""
    inner = "[" * (depth - 2) + "]" * (depth - 2)
    return f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{inner}}}}}'.encode()


def in_ping(raw_value: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + raw_value + b"}}"


NOT_STRICT: Sequence[tuple[str, bytes]] = (
    ("empty", b""),
    ("not JSON", b"hello"),
    ("cut", PING[:-1]),
    ("two values", PING + PING),
    ("byte-order mark", b"\xef\xbb\xbf" + PING),
    ("UTF-16", PING.decode().encode("utf-16")),
    ("UTF-32", PING.decode().encode("utf-32")),
    ("not UTF-8", PING.decode().replace("ping", "p\xff").encode("latin-1")),
    ("NaN", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}'),
    ("Infinity", in_ping(b"-Infinity")),
    ("overflowing float", in_ping(b"1e999")),
    ("65-bit integer", b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}'),
    ("50,000 digits", b'{"jsonrpc":"2.0","id":' + b"9" * 50_000 + b',"method":"ping"}'),
    ("30 numbers of 1001 digits", in_ping(b"[" + b",".join([b"9" * 1001] * 30) + b"]")),
    ("65-bit integer beside arguments", in_ping(b"-9223372036854775809")),
    (
        "1001 digits in arguments",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":' + b"9" * 1001 + b"}}}",
    ),
    ("name twice", b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}'),
    ("escaped name twice", b'{"jsonrpc":"2.0","id":1,"method":"ping","meth\\u006fd":"tools/call"}'),
    ("name twice inside", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}'),
    ("name twice in arguments", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"a":2}}}'),
    ("NUL in the method", b'{"jsonrpc":"2.0","id":1,"method":"pi\\u0000ng"}'),
    ("NUL in the id", b'{"jsonrpc":"2.0","id":"\\u0000","method":"ping"}'),
    ("lone surrogate in the id", b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'),
    ("lone surrogate in a name", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\udfff":1}}'),
    ("25 deep", nested(25)),
    ("1,000 deep", nested(1000)),
    ("30,000 deep", nested(30_000)),
    ("65,000 opened and never closed", b"[" * 65_000),
    ("10,000 objects opened and never closed", b'{"a":' * 10_000),
    ("bare control character", b'{"jsonrpc":"2.0","id":"\x01","method":"ping"}'),
    ("single quotes", b"{'jsonrpc':'2.0'}"),
    ("comment", b"/* */" + PING),
)
BATCHES: Sequence[tuple[str, bytes]] = (
    ("none", b"[]"),
    ("one", b"[" + PING + b"]"),
    ("1,000 calls", b"[" + b",".join([PING] * 1000) + b"]"),
    ("10,000 elements", b"[" + b",".join([b"1"] * 10_000) + b"]"),
)
TOO_LONG: Sequence[tuple[str, bytes]] = (
    ("100,000 digits", b'{"jsonrpc":"2.0","id":' + b"9" * 100_000 + b',"method":"ping"}'),
    ("400,000 deep", nested(400_000)),
)


def test_t24_a_message_with_more_than_one_meaning_is_refused_at_once(process: Watched, record_property: Note) -> None:
    """JSON bombs, batches, repeated names, NUL, NaN, lone surrogates: 400 in a few words of ours, at once, no traceback.

    What is longer than 64 KiB is 413 before it is read.
    """
    slowest = 0.0
    for bombs, status, code in ((NOT_STRICT, 400, -32700), (BATCHES, 400, -32600), (TOO_LONG, 413, -32600)):
        told = set()
        for name, bomb in bombs:
            began = time.perf_counter()
            response = answer_to(process.port, http_post(process.port, bomb))
            slowest = max(slowest, time.perf_counter() - began)
            assert status_of(response) == status, name
            told.add(response.partition(b"\r\n\r\n")[2])
        # One sentence for each cause there is, whatever was sent.
        assert len(told) <= 10
        for answer in map(json.loads, told):
            assert (answer["error"]["code"], answer["id"]) == (code, None)
    assert slowest < 1
    log = process.log_of_its_life()
    assert "Traceback" not in log
    assert '"event": "defect"' not in log
    bombs_in_all = len(NOT_STRICT) + len(BATCHES) + len(TOO_LONG)
    record_property("figure", f"{bombs_in_all} messages refused, the slowest after {slowest * 1000:.0f} ms")


def test_t25_no_bytes_break_the_server_and_none_come_back(process: Watched, record_property: Note) -> None:
    """Requests made of random bytes: none is answered with 5xx, breaks anything, or hears 9 of its own bytes again.

    Here for seconds; `python -m bench.fuzz` goes on for 15 minutes, led by what code has not been reached yet.
    """
    statuses: Counter[int] = Counter()
    own = own_words(process.port)

    @settings(max_examples=700, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.binary(min_size=20, max_size=400))
    def fuzz(data: bytes) -> None:
        request, secrets = made_of(data, process.port)
        answered = send(process.port, request)
        statuses[status_of(answered)] += 1
        assert status_of(answered) < 500
        assert not repeats(answered, secrets, own)

    fuzz()
    log = process.log_of_its_life()
    assert "Traceback" not in log
    assert '"event": "defect"' not in log
    record_property("figure", f"{statuses.total()} requests, answered with {told(statuses)}")


def told(statuses: Counter[int]) -> str:
    return ", ".join(f"{number} x {status or 'nothing'}" for status, number in sorted(statuses.items()))


HOSTS: Sequence[tuple[str, int]] = (
    ("127.0.0.1:{port}", 200),
    ("localhost:{port}", 200),
    ("LOCALHOST:{port}", 200),
    ("[::1]:{port}", 200),
    ("kb.example.com", 200),
    ("KB.Example.com", 200),
    ("kb.example.com:443", 200),
    ("internal:9000", 200),
    ("127.0.0.1", 403),
    ("localhost", 403),
    ("127.0.0.1:1", 403),
    ("kb.example.com:80", 403),
    ("kb.example.com.", 403),
    ("localhost.:{port}", 403),
    ("evil.kb.example.com", 403),
    ("kb.example.com.evil.net", 403),
    ("xkb.example.com", 403),
    ("internal", 403),
    ("internal:9001", 403),
    ("user@127.0.0.1:{port}", 403),
    ("127.0.0.1:{port}@evil.net", 403),
    ("evil.net", 403),
    ("evil.net:{port}", 403),
    ("127.0.0.1:{port}, evil.net", 403),
    ("0.0.0.0:{port}", 403),
    ("[::]:{port}", 403),
    ("[::ffff:127.0.0.1]:{port}", 403),
    ("::1", 403),
    ("127.1:{port}", 403),
    ("2130706433:{port}", 403),
    ("127.0.0.1:{port}/", 403),
    ("", 403),
)
ORIGINS: Sequence[tuple[str | None, int]] = (
    (None, 200),
    ("http://127.0.0.1:{port}", 200),
    ("http://localhost:{port}", 200),
    ("HTTP://LOCALHOST:{port}", 200),
    ("http://[::1]:{port}", 200),
    ("https://kb.example.com", 200),
    ("https://app.example.org", 200),
    ("https://localhost:{port}", 403),
    ("http://localhost:1", 403),
    ("http://localhost", 403),
    ("http://kb.example.com", 403),
    ("https://kb.example.com.", 403),
    ("https://kb.example.com:443", 403),
    ("https://kb.example.com.evil.net", 403),
    ("https://evil.kb.example.com", 403),
    ("https://kb.example.com@evil.net", 403),
    ("https://user@kb.example.com", 403),
    ("https://evil.net", 403),
    ("https://app.example.org:8443", 403),
    ("https://app.example.org/", 403),
    ("http://[::]:{port}", 403),
    ("null", 403),
    ("", 403),
    ("*", 403),
    ("file://", 403),
    ("https://kb.example.com, https://evil.net", 403),
)


@pytest.fixture
def named_edge(tmp_path) -> Iterator[RunningEdge]:
    """A server with a public name, one more host and one more origin."""
    edges = run_edges(tmp_path)
    yield next(edges)(
        public_url="https://kb.example.com",
        allowed_hosts=("internal:9000",),
        allowed_origins=("https://app.example.org",),
    )
    next(edges, None)


def test_t26_only_known_hosts_and_browser_origins_are_answered(named_edge: RunningEdge, record_property: Note) -> None:
    """Of 58 spellings of Host and Origin only the allowed ones are served; every other is 403, as is a rebound name.

    Other ports, suffixes, prefixes, a final dot, user names, other notations of the same address, `null`. Programs
    that send no Origin are served; only an allowed one may read the answer.
    """
    port, seen = named_edge.port, {}
    for host, _ in HOSTS:
        seen["host", host] = post(named_edge.endpoint, PING, host=host.format(port=port)).status_code
    for origin, _ in ORIGINS:
        sent = {} if origin is None else {"origin": origin.format(port=port)}
        response = post(named_edge.endpoint, PING, **sent)
        seen["origin", origin] = response.status_code
        allowed = sent.get("origin") if response.status_code == 200 else None
        assert response.headers.get("access-control-allow-origin") == allowed
    assert seen == {("host", host): status for host, status in HOSTS} | {
        ("origin", origin): status for origin, status in ORIGINS
    }
    assert len(seen) == 58
    statuses = Counter(seen.values())
    record_property("figure", f"{statuses[200]} allowed spellings served, {statuses[403]} others refused")


VALID: Mapping[str, dict[str, Any]] = {
    "search_knowledge": {"query": "react list keys"},
    "get_guidance": {"ids": ["use-stable-keys"]},
    "submit_feedback": {"category": "helpful"},
}
FIELDS = [(tool, field) for tool, operation in OPERATIONS.items() for field in operation.request.model_fields]


def check_refused(edge: RunningEdge, tool: str, arguments: Mapping[str, Any], field: str, canary: str) -> None:
    """Call in both protocols, and see the field named, its rule told, and nothing of the value in the answer."""
    for response in (
        call_tool(edge.endpoint, tool, arguments),
        call_modern(edge.endpoint, "tools/call", {"name": tool, "arguments": arguments}),
    ):
        is_error, envelope = tool_answer(response)
        assert is_error
        assert envelope["error"]["code"] == "validation_error"
        assert set(envelope["error"]) == {"code", "message", "details"}
        named = envelope["error"]["details"]["fields"]
        assert field in [entry["field"].split("[")[0] for entry in named]
        assert all(entry["rule"] for entry in named)
        assert canary not in response.text


@pytest.mark.parametrize(("tool", "field"), FIELDS)
def test_t31_every_invalid_argument_is_refused_by_name_and_never_repeated(
    edge: RunningEdge, tool: str, field: str, record_property: Note
) -> None:
    """Every argument of every tool, with values its published schema forbids, in both protocols: named, never repeated.

    The answer is a tool error with the stable code `validation_error`, the field's name and the rule.
    """
    refused = 0

    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(ValuesBeside(input_schema(OPERATIONS[tool].request)["properties"][field]).strategy())
    def refuse(drawn: tuple[Any, str]) -> None:
        nonlocal refused
        value, canary = drawn
        check_refused(edge, tool, {**VALID[tool], field: value}, field, canary)
        refused += 1

    refuse()
    record_property("figure", f"{refused} values of {tool}.{field} refused twice")


@pytest.mark.parametrize("tool", list(OPERATIONS))
@settings(max_examples=25, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.from_regex(r"[a-z]{3,12}_zq[0-9]{8}", fullmatch=True), value=st.integers(10**8, 10**9))
def test_t31_an_unknown_argument_is_refused(edge: RunningEdge, tool: str, name: str, value: int) -> None:
    """An argument that no schema names is refused in both protocols, and its value is not repeated."""
    check_refused(edge, tool, {**VALID[tool], name: value}, name, str(value))


def test_t31_a_tool_that_is_not_there_is_refused_without_its_name(edge: RunningEdge) -> None:
    """An unknown tool is an error of the protocol in both protocols, without the name that was asked for."""
    old = call_tool(edge.endpoint, "zqunknowntool", {})
    new = post(
        edge.endpoint,
        message("tools/call", {"_meta": META, "name": "zqunknowntool", "arguments": {}}),
        mcp_protocol_version=MODERN,
        mcp_method="tools/call",
        mcp_name="zqunknowntool",
    )
    for response in (old, new):
        assert '"code":-32602' in response.text
        assert "zqunknowntool" not in response.text
