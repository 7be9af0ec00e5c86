"""How the server begins and ends: ports, signals, slow clients."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from app.errors import PortTaken, SettingsError
from app.settings import Settings
from app.transports.deadlines import DeadlineProtocol
from app.transports.server import bind
from tests.edge.processes import edge_process
from tests.edge.wire import call_tool, http_post, message, post, receive_all, status_of

# Linux tells who holds a port without any privilege, for one's own processes.
SHOWS_HOLDERS = Path("/proc/self/fd").exists()


def test_a_taken_port_is_told_with_its_holder(tmp_path):
    first = bind(Settings(home=tmp_path, port=0))
    port = first.getsockname()[1]
    with first, pytest.raises(PortTaken) as refused:
        bind(Settings(home=tmp_path, port=port))
    assert f"Port {port} is in use" in refused.value.message
    assert "CHATCTX_PORT" in refused.value.message
    assert not SHOWS_HOLDERS or f"by process {os.getpid()}" in refused.value.message


def test_a_second_server_on_a_port_ends_with_exit_code_1(tmp_path):
    with edge_process(tmp_path) as first, edge_process(tmp_path, port=first.port) as second:
        _, error = second.process.communicate(timeout=15)
        assert second.process.returncode == 1
        assert f"Port {first.port} is in use" in error
        assert not SHOWS_HOLDERS or f"by process {first.process.pid}" in error
        assert "Traceback" not in error


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.1"])
def test_a_foreign_address_is_told_by_its_setting(tmp_path, host):
    with pytest.raises(SettingsError, match="CHATCTX_HOST"):
        bind(Settings(home=tmp_path, host=host, port=0))


def test_a_server_listens_on_ipv6(tmp_path):
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    try:
        listener = bind(Settings(home=tmp_path, host="::1", port=0))
    except SettingsError:
        pytest.skip("this machine has no IPv6 loopback")
    with listener:
        assert listener.getsockname()[0] == "::1"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_calls_finish_and_streams_end(tmp_path, sent):
    """Eight calls at work and five open streams: all answered, all ended, exit code 0, no traceback."""
    with edge_process(tmp_path) as edge, ExitStack() as held, concurrent.futures.ThreadPoolExecutor(8) as pool:
        streams = [
            held.enter_context(httpx.stream("GET", edge.endpoint, headers={"accept": "text/event-stream"}, timeout=20))
            for _ in range(5)
        ]
        readers = [stream.iter_raw() for stream in streams]
        assert [next(reader) for reader in readers] == [b": connected\n\n"] * 5
        calls = [pool.submit(call_tool, edge.endpoint, "search_knowledge", {"query": "wait 1.5"}) for _ in range(8)]
        assert [edge.process.stdout.readline() for _ in calls] == ["working\n"] * 8
        edge.process.send_signal(sent)
        started = time.monotonic()
        assert [b"".join(reader) for reader in readers] == [b""] * 5
        assert time.monotonic() - started < 1.4
        assert [call.result().status_code for call in calls] == [200] * 8
        _, error = edge.process.communicate(timeout=15)
        assert time.monotonic() - started < 10
        assert edge.process.returncode == 0
        assert "Traceback" not in error
        assert '"event": "stopped"' in error


def test_readiness_ends_with_the_signal(fresh_edge):
    """Over a connection that is already there, for the time between the signal and the end."""
    assert httpx.get(fresh_edge.url + "/readyz").status_code == 200
    fresh_edge.app.drain()
    ready = httpx.get(fresh_edge.url + "/readyz")
    assert ready.status_code == 503
    assert ready.json() == {"ready": False, "checks": {"serving": False}}
    assert httpx.get(fresh_edge.url + "/livez").status_code == 200


SLOW = {
    "silent": b"",
    "half a head": b"POST /mcp HTTP/1.1\r\nHost: x\r\n",
    "half a body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    b"Accept: */*\r\nContent-Length: 100\r\n\r\n{",
}


@pytest.fixture
def hasty_edge(start_edge, monkeypatch):
    """A server whose patience is a tenth of the usual."""
    monkeypatch.setattr(DeadlineProtocol, "FIRST_BYTE_SECONDS", 0.5)
    monkeypatch.setattr(DeadlineProtocol, "REQUEST_SECONDS", 1.0)
    return start_edge()


@pytest.mark.parametrize("kind", list(SLOW))
def test_a_client_that_stalls_is_hung_up_on(hasty_edge, kind):
    with socket.create_connection(("127.0.0.1", hasty_edge.port), timeout=5) as connection:
        started = time.monotonic()
        connection.sendall(SLOW[kind].replace(b"{port}", str(hasty_edge.port).encode()))
        assert receive_all(connection) == b""
        assert 0.4 < time.monotonic() - started < 4


def test_a_byte_now_and_then_does_not_help(hasty_edge):
    """Nor at the start, nor between two requests of one connection."""
    request = http_post(hasty_edge.port, b'{"jsonrpc":"2.0","id":1,"method":"ping"}').replace(
        b"Connection: close\r\n", b""
    )
    for before in (b"", request):
        with socket.create_connection(("127.0.0.1", hasty_edge.port), timeout=5) as connection:
            connection.sendall(before)
            if before:
                assert status_of(connection.recv(65_536)) == 200
            started = time.monotonic()
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                trickle(connection, request)
            assert time.monotonic() - started < 2


def trickle(connection: socket.socket, data: bytes) -> None:
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def test_a_working_call_is_not_hung_up_on(start_edge, monkeypatch):
    """The clock is for the request; how long the answer takes is another matter."""
    monkeypatch.setattr(DeadlineProtocol, "REQUEST_SECONDS", 0.3)
    edge = start_edge(call=lambda _name, _arguments: time.sleep(1) or {})
    assert call_tool(edge.endpoint, "search_knowledge", {"query": "ab"}).status_code == 200


def test_too_many_connections_are_told_so(start_edge, monkeypatch):
    monkeypatch.setattr(DeadlineProtocol, "MAX_CONNECTIONS", 5)
    edge = start_edge()
    with ExitStack() as held:
        for _ in range(5):
            held.enter_context(socket.create_connection(("127.0.0.1", edge.port)))
        time.sleep(0.2)
        with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as one_more:
            told = receive_all(one_more)
    assert status_of(told) == 503
    assert b"retry-after: 2" in told
    head, _, body = told.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}".encode() in head


def test_a_client_that_leaves_early_leaves_nothing_behind(fresh_edge):
    request = http_post(fresh_edge.port, b"{}")
    for cut in (10, 150, len(request) - 1):
        with socket.create_connection(("127.0.0.1", fresh_edge.port)) as connection:
            connection.sendall(request[:cut])
    assert post(fresh_edge.endpoint, message("ping")).status_code == 200
    deadline = time.monotonic() + 5
    while fresh_edge.server.server_state.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not fresh_edge.server.server_state.tasks
