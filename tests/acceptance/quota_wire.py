"""Calls as bytes on sockets of our own, from any address of the loopback network, one by one or all at once."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.edge.wire import message, receive_all

HERE = "127.0.0.1"
SEARCH = {"query": "rows keep the wrong text"}


@dataclass(frozen=True)
class Answer:
    """What came back; status 0 when nothing did."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def remaining(self) -> int:
        """Units left, as a guest is told."""
        return int(self.headers["x-guest-quota-remaining"])

    @property
    def was_counted(self) -> bool:
        """Whether a unit was taken for it. A busy machine may fail after that; the unit is not given back."""
        return self.status != 429 and "x-guest-quota-remaining" in self.headers

    @property
    def retry_after(self) -> int:
        return int(self.headers["retry-after"])


@dataclass(frozen=True)
class Sending:
    """Bytes to send to a port from an address."""

    port: int
    data: bytes
    source: str = HERE


def call_body(name: str = "search_knowledge", arguments: object = None) -> bytes:
    return json.dumps(message("tools/call", {"name": name, "arguments": arguments or SEARCH})).encode()


# Costs the server little, and is charged as any other.
CHEAP = call_body("get_guidance", {"ids": ["no-such-record"]})


def request(
    port: int,
    body: bytes = CHEAP,
    *extra: tuple[str, str],
    method: str = "POST",
    path: str = "/mcp",
    replaced: Mapping[str, str | None] | None = None,
) -> bytes:
    """Return the bytes of a request. `replaced` changes usual headers, or with None leaves them out; `extra` adds."""
    usual: dict[str, str | None] = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **(replaced or {}),
    }
    headers = [*((name, value) for name, value in usual.items() if value is not None), *extra]
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def read_answer(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    status = int(first[9:12]) if first.startswith("HTTP/1.1 ") else 0
    return Answer(status, {name.lower(): value.strip() for name, _, value in (li.partition(":") for li in lines)}, body)


def ask(sending: Sending, *, patience: float = 30) -> Answer:
    """Send one request and return its answer, or what has come when nothing more does."""
    with socket.create_connection(
        (HERE, sending.port), timeout=patience, source_address=(sending.source, 0)
    ) as connection:
        connection.sendall(sending.data)
        return read_answer(receive_all(connection))


def ask_at_once(sendings: Sequence[Sending]) -> list[Answer]:
    """Connect everybody first, then let all of them send at the same moment; return the answers in the same order.

    Whoever is told that the server is busy before he was counted asks again, as clients do.
    """
    answers = asyncio.run(_at_once(sendings))
    for _ in range(20):
        busy = [number for number, answer in enumerate(answers) if answer.status == 503 and not answer.was_counted]
        if not busy:
            break
        time.sleep(1)
        for number, answer in zip(busy, asyncio.run(_at_once([sendings[n] for n in busy])), strict=True):
            answers[number] = answer
    return answers


def replies_to(sendings: Sequence[Sending]) -> list[bytes]:
    """Send at the same moment and return all the bytes that came back on each connection."""
    return asyncio.run(_bytes_at_once(sendings))


async def _at_once(sendings: Iterable[Sending]) -> list[Answer]:
    return [read_answer(data) for data in await _bytes_at_once(sendings)]


async def _bytes_at_once(sendings: Iterable[Sending]) -> list[bytes]:
    connections = await asyncio.gather(*(connect(sending) for sending in sendings))
    return await asyncio.gather(*(exchange(*connection) for connection in connections))


async def connect(sending: Sending) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
    """Connect from the address it is to be sent from."""
    reader, writer = await asyncio.open_connection(HERE, sending.port, local_addr=(sending.source, 0))
    return reader, writer, sending.data


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes) -> bytes:
    """Send, and return what comes until the other end closes."""
    try:
        writer.write(data)
        return await asyncio.wait_for(reader.read(), 60)
    finally:
        writer.close()


def json_of(answer: Answer) -> Any:
    """Return the JSON-RPC message of an answer, out of its event if it is in one."""
    text = answer.body.decode()
    return json.loads(text.partition("data: ")[2] if text.startswith("event:") else text)
