"""Requests that offer another protocol, with something behind them, cut into pieces at every place there is."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from tests.edge.wire import http_post, message

H2C = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk")
WEBSOCKET = ("connection: keep-alive, upgrade", "upgrade: WebSocket", "Sec-WebSocket-Version: 13")
PING = json.dumps(message("ping")).encode()
SEARCH = json.dumps(message("tools/call", {"name": "search_knowledge", "arguments": {"query": "list keys"}})).encode()
# Between two pieces, so that the server reads them one by one; and the connections that are open at once.
_PAUSE = 0.012
_AT_ONCE = 250


def kept_alive(request: bytes) -> bytes:
    """Return a request that leaves its connection open; what looks like a header in its body stays."""
    return request.replace(b"Connection: close\r\n", b"", 1)


def posted(port: int, body: bytes, *headers: str) -> bytes:
    return kept_alive(http_post(port, body, *headers))


def chunked(port: int, body: bytes, *headers: str) -> bytes:
    head = posted(port, b"", *headers).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    return head + b"%x\r\n%b\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(body), body)


def got(port: int, target: str, *headers: str, method: str = "GET") -> bytes:
    lines = (f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Accept: */*", *headers, "", "")
    return "\r\n".join(lines).encode()


@dataclass(frozen=True)
class Offering:
    """Bytes that hold an offer, what they are answered with, and how many calls among them are counted.

    Attributes:
        build: from the port. A call that is worth a unit stands behind it all.
    """

    build: Callable[[int], bytes]
    statuses: tuple[int, ...]
    units: int = 0

    def data(self, port: int) -> bytes:
        return self.build(port) + http_post(port, SEARCH)


OFFERINGS: Mapping[str, Offering] = {
    "a call": Offering(lambda p: posted(p, SEARCH, *H2C), (200,), 1),
    "a body that is a request": Offering(lambda p: posted(p, http_post(p, SEARCH), *H2C), (400,)),
    "a call in chunks": Offering(lambda p: chunked(p, SEARCH, *H2C), (200,), 1),
    "a request in chunks": Offering(lambda p: chunked(p, http_post(p, SEARCH), *H2C), (400,)),
    "behind another": Offering(lambda p: posted(p, PING) + posted(p, PING, *H2C), (200, 200)),
    "in chunks behind another": Offering(lambda p: posted(p, PING) + chunked(p, PING, *H2C), (200, 200)),
    "two of them": Offering(lambda p: posted(p, PING, *H2C) + posted(p, PING, *H2C), (200,)),
    "to a socket": Offering(lambda p: got(p, "/llms.txt", *WEBSOCKET), (200,)),
    "to a socket, at the endpoint": Offering(lambda p: got(p, "/mcp", *WEBSOCKET), (405,)),
    "a GET with a body": Offering(lambda p: got(p, "/", "Content-Length: 9", *H2C) + b"POST /mcp", (200,)),
    "HTTP/1.0": Offering(lambda p: posted(p, PING, *H2C).replace(b"HTTP/1.1", b"HTTP/1.0"), (200,)),
    "a tunnel": Offering(lambda p: got(p, "localhost:80", method="CONNECT"), (400,)),
    "a tunnel to the endpoint": Offering(lambda p: got(p, "/mcp", method="CONNECT"), (405,)),
    "two lengths": Offering(lambda p: posted(p, PING, *H2C, "Transfer-Encoding: chunked"), (400,)),
    "chunks of an unknown kind": Offering(lambda p: posted(p, b"", *H2C, "Transfer-Encoding: gzip"), (400,)),
}

Seen = tuple[tuple[int, ...], bool]


async def answers_in_every_cut(port: int, offerings: Mapping[str, Offering]) -> dict[str, Counter[Seen]]:
    """Send bytes one by one, cut in two at every place, and whole; return what statuses came and whether it closed."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def answered(name: str, pieces: list[bytes]) -> tuple[str, Seen]:
        async with room:
            return name, await _answer_to(port, pieces)

    turns = [(name, pieces) for name, offering in offerings.items() for pieces in _cuts(offering.data(port))]
    # Those that take longest first.
    turns.sort(key=lambda turn: -len(turn[1]))
    seen: dict[str, Counter[Seen]] = {name: Counter() for name in offerings}
    for name, outcome in await asyncio.gather(*(answered(*turn) for turn in turns)):
        seen[name][outcome] += 1
    return seen


def _cuts(data: bytes) -> list[list[bytes]]:
    return [[bytes([byte]) for byte in data], *([data[:at], data[at:]] for at in range(1, len(data))), [data]]


async def _answer_to(port: int, pieces: list[bytes]) -> Seen:
    # No stream of asyncio's: what it has not read yet is lost when sending fails.
    loop = asyncio.get_running_loop()
    with socket.socket() as connection:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_connect(connection, ("127.0.0.1", port))
        reading = asyncio.create_task(_read_all(connection))
        with suppress(ConnectionError):
            for piece in pieces:
                await loop.sock_sendall(connection, piece)
                await asyncio.sleep(_PAUSE if len(pieces) == 2 else _PAUSE / 10)
        received, closed = await reading
    return tuple(int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", received)), closed


async def _read_all(connection: socket.socket) -> tuple[bytes, bool]:
    """Return what comes until the server closes, and whether it did so within seconds."""
    received = b""
    try:
        async with asyncio.timeout(8):
            while chunk := await asyncio.get_running_loop().sock_recv(connection, 65_536):
                received += chunk
    except TimeoutError:
        return received, False
    except ConnectionError:
        pass
    return received, True
