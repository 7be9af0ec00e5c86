"""A refusal reaches a client that is still sending: closing on it would destroy the answer on its way."""

from __future__ import annotations

import socket
import time

import pytest

from app.contract import BODY_MAX_BYTES
from tests.edge.wire import receive_all, status_of

SENT_LATER = 100_000
HEAD = (
    "POST {path} HTTP/{version}\r\nHost: {host}\r\nContent-Type: {type}\r\n"
    "Accept: text/event-stream\r\n{length}\r\n\r\n"
)
DECLARED = f"Content-Length: {2 * SENT_LATER}"


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize(
    ("status", "changes"),
    [
        (413, {}),
        (403, {"host": "elsewhere.example"}),
        (404, {"path": "/elsewhere"}),
        (415, {"type": "text/plain"}),
    ],
)
def test_who_is_still_sending_gets_the_refusal_whole(edge, version, status, changes):
    asked = {
        "path": "/mcp",
        "host": f"127.0.0.1:{edge.port}",
        "type": "application/json",
        "length": DECLARED,
        **changes,
    }
    head = HEAD.format(version=version, **asked)
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(head.encode() + b" " * SENT_LATER)
        # The server has long answered, on what the head says.
        time.sleep(0.2)
        connection.sendall(b" " * (SENT_LATER // 2))
        time.sleep(0.1)
        connection.sendall(b" " * (SENT_LATER // 2))
        connection.shutdown(socket.SHUT_WR)
        assert status_of(receive_all(connection)) == status


def test_a_body_of_unknown_length_is_refused_whole_too(edge):
    head = HEAD.format(
        version="1.1",
        path="/mcp",
        host=f"127.0.0.1:{edge.port}",
        type="application/json",
        length="Transfer-Encoding: chunked",
    )
    chunk = f"{BODY_MAX_BYTES:x}\r\n".encode() + b" " * BODY_MAX_BYTES + b"\r\n"
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(head.encode() + chunk + chunk)
        time.sleep(0.2)
        connection.sendall(chunk)
        time.sleep(0.1)
        connection.sendall(b"0\r\n\r\n")
        assert status_of(receive_all(connection)) == 413


def test_the_refusal_does_not_wait_for_the_rest(edge):
    """It is whole, by its length, before the body is; and a sender without end is cut off."""
    head = HEAD.format(
        version="1.1",
        path="/mcp",
        host=f"127.0.0.1:{edge.port}",
        type="application/json",
        length="Content-Length: 100000000",
    )
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(head.encode())
        assert status_of(connection.recv(65_536)) == 413
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(b" " * 100_000_000)
