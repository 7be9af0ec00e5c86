"""The stream of a GET: for those who mean it, bounded, and with a clean end."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from contextlib import ExitStack

import httpx
import pytest

from app.errors import Unavailable
from app.transports.deadlines import DeadlineProtocol
from app.transports.streams import PER_ADDRESS, Streams
from tests.edge.wire import call_tool

STREAM = {"accept": "text/event-stream"}


def opened(edge, held, **headers):
    return held.enter_context(httpx.stream("GET", edge.endpoint, headers={**STREAM, **headers}, timeout=10))


@pytest.mark.parametrize(
    "headers", [{}, {"accept": "application/json, text/event-stream"}, {"mcp-protocol-version": "2025-11-25"}]
)
def test_a_stream_says_at_once_that_it_is_there(edge, headers):
    with ExitStack() as held:
        started = time.monotonic()
        response = opened(edge, held, **headers)
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        assert response.headers["x-accel-buffering"] == "no"
        assert next(response.iter_raw()) == b": connected\n\n"
        assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    "headers",
    [
        {"accept": "*/*"},
        {"accept": "*/*", "mcp-protocol-version": "2024-11-05"},
        {"accept": "text/*"},
        {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"},
        {"accept": "application/json"},
        {"mcp-protocol-version": "2026-07-28"},
        {"mcp-protocol-version": "2099-01-01"},
    ],
)
def test_who_does_not_mean_it_is_told_at_once_that_there_is_none(edge, headers):
    response = httpx.get(edge.endpoint, headers={**STREAM, **headers})
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, POST"


def opened_raw(edge, behind: bytes = b"") -> socket.socket:
    """Return a connection with a stream that has said it is there, and bytes sent behind the request for it."""
    head = f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{edge.port}\r\nAccept: text/event-stream\r\n\r\n".encode()
    connection = socket.create_connection(("127.0.0.1", edge.port), timeout=5)
    connection.sendall(head + behind)
    while b"connected" not in connection.recv(4096):
        pass
    return connection


def test_an_empty_line_does_not_cut_a_stream(edge, monkeypatch):
    """Between requests it starts the clock of the next one; while an answer is on its way it means nothing."""
    monkeypatch.setattr(DeadlineProtocol, "FIRST_BYTE_SECONDS", 0.5)
    monkeypatch.setattr(DeadlineProtocol, "REQUEST_SECONDS", 0.5)
    with opened_raw(edge) as connection:
        connection.sendall(b"\r\n")
        connection.settimeout(1.5)
        with pytest.raises(TimeoutError):
            connection.recv(4096)
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(b"\r\n")
        assert connection.recv(4096) == b""


def test_what_is_no_http_ends_a_stream_and_is_not_answered_in_it(edge):
    with opened_raw(edge) as connection:
        connection.sendall(b"\0\r\n\r\n")
        assert connection.recv(4096) == b""


def test_a_stream_with_requests_behind_it_ends_with_its_client(start_edge, caplog):
    edge = start_edge(max_streams=1)
    for _ in range(2):
        opened_raw(edge, f"GET /llms.txt HTTP/1.1\r\nHost: 127.0.0.1:{edge.port}\r\n\r\n".encode() * 2).close()
        time.sleep(0.3)
    with ExitStack() as held:
        assert opened(edge, held).status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_streams_can_be_switched_off(start_edge):
    """Then no method but POST is named."""
    edge = start_edge(max_streams=0)
    for method in ("GET", "DELETE"):
        response = httpx.request(method, edge.endpoint, headers=STREAM)
        assert response.status_code == 405
        assert response.headers["allow"] == "POST"


def test_there_are_so_many_and_no_more(start_edge):
    edge = start_edge(max_streams=3, trusted_proxies=("127.0.0.0/8",))
    with ExitStack() as held:
        statuses = [opened(edge, held, **{"x-forwarded-for": f"203.0.113.{n}"}).status_code for n in range(5)]
    assert statuses == [200, 200, 200, 503, 503]


def test_streams_cost_no_units_and_block_no_calls(fresh_edge):
    with ExitStack() as held:
        for _ in range(PER_ADDRESS):
            opened(fresh_edge, held)
        assert (
            call_tool(fresh_edge.endpoint, "search_knowledge", {"query": "ab"}).headers["x-guest-quota-remaining"]
            == "249"
        )


class Listener:
    """An ASGI client that stays until it is told to leave."""

    def __init__(self) -> None:
        self.received: list[dict] = []
        self.leave = asyncio.Event()

    async def receive(self) -> dict:
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict) -> None:
        self.received.append(message)

    @property
    def text(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.received)


def test_a_stream_tells_that_it_is_alive_and_ends_with_its_life():
    async def live():
        listener = Listener()
        streams = Streams(1, asyncio.Event(), keepalive_seconds=0.05, life_seconds=0.22)
        await streams.serve(listener.receive, listener.send)
        return listener

    listener = asyncio.run(live())
    assert listener.text.startswith(b": connected\n\n: keepalive\n\n")
    assert 3 <= listener.text.count(b": keepalive\n\n") <= 5
    assert listener.received[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


@pytest.mark.parametrize("end", ["leave", "stop"])
def test_a_stream_ends_with_the_client_or_the_server(end):
    async def live():
        listener, stop = Listener(), asyncio.Event()
        streams = Streams(1, stop)
        with streams.place("a"):
            serving = asyncio.create_task(streams.serve(listener.receive, listener.send))
            await asyncio.sleep(0.05)
            assert not serving.done()
            {"leave": listener.leave, "stop": stop}[end].set()
            await asyncio.wait_for(serving, 1)
        with streams.place("b"):
            return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert asyncio.run(live()) == []


def test_a_place_is_free_again_whatever_happened():
    streams = Streams(1, asyncio.Event())
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), streams.place("a"):  # noqa: PT012
            with pytest.raises(Unavailable), streams.place("b"):
                pass
            raise ValueError("broken")
