"""The HTTP edge: one ASGI application in front of everything else.

`create_app` takes what it serves as `EdgeServices`; `app.transports.server.serve` runs it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from mcp_types.jsonrpc import INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from app.access import Access, client_address
from app.errors import AppError
from app.settings import Settings
from app.transports import eventlog, files, gate, replies
from app.transports.endpoint import Call, Exchange, McpEndpoint
from app.transports.health import Health
from app.transports.mcp import VERSION_HEADER, McpServer, Tool
from app.transports.replies import EVENT_STREAM, Header, Receive, Refused, Reply, Scope, Send
from app.transports.slots import Slots
from app.transports.streams import Streams

# Threads that look keys up for everything but calls at work, and how long one look-up may take.
CHECK_THREADS = 4
CHECK_SECONDS = 2.0
CORS_MAX_AGE = b"86400"
CORS_REQUEST_HEADERS = (
    b"authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id"
)
CORS_EXPOSED = b"x-guest-quota-limit, x-guest-quota-remaining, retry-after, www-authenticate"


@dataclass(frozen=True)
class EdgeServices:
    """Everything the edge serves.

    Attributes:
        access: who may call, and how often.
        tools: `app.operations.OPERATIONS`, in the order they are listed.
        call: `operations.call` with its services bound. Runs in a thread.
        instructions: told to agents when they connect; says so when the records are a demonstration set.
        public_files: media type and content by path, `/` among them.
        ready: what must hold before traffic is sent here, each by a short name. Runs in a thread, at most each second.
    """

    settings: Settings
    access: Access
    tools: Mapping[str, Tool]
    call: Call
    instructions: str
    public_files: Mapping[str, tuple[str, bytes]]
    ready: Callable[[], Mapping[str, bool]]


def create_app(services: EdgeServices) -> EdgeApp:
    """Return the application. It belongs to the event loop that first runs it."""
    return EdgeApp(services)


class EdgeApp:
    """The ASGI application.

    Everything but HTTP is refused; every path passes the same gate, except that health may be asked under any name.
    """

    def __init__(self, services: EdgeServices) -> None:
        settings = services.settings
        self._settings = settings
        self._doors = gate.doors_of(settings)
        self._trusted = tuple(ipaddress.ip_network(network, strict=False) for network in settings.trusted_proxies)
        self._stop = asyncio.Event()
        self._files = files.prepare_files(services.public_files)
        self._health = Health(services.ready, self._stop)
        self._streams = Streams(settings.max_streams, self._stop)
        self._calls = Slots("call", settings.max_concurrent_calls, longest_work=settings.call_timeout_ms / 1000)
        self._checks = Slots("check", CHECK_THREADS, longest_work=CHECK_SECONDS, longest_wait=CHECK_SECONDS)
        self._server = McpServer(services.tools, services.instructions)
        self._mcp = McpEndpoint(self._server, services.tools, services.call, services.access, self._calls, self._checks)

    def renew(self, instructions: str, public_files: Mapping[str, tuple[str, bytes]]) -> None:
        """Tell from now on what these say. May be called from any thread."""
        self._server.instruct(instructions)
        self._files = files.prepare_files(public_files)

    def drain(self) -> None:
        """Say that the server stops: not ready any more, streams end; calls at work finish."""
        self._stop.set()

    def close(self) -> None:
        """Let the worker threads go; after the last answer."""
        self._calls.close()
        self._checks.close()
        self._health.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await _serve_lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve_http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers = gate.Headers(scope)
        exchange = Exchange(headers, scope.get("query_string", b""), self._address(scope, headers))
        status = 0
        try:
            status = await self._answer(scope, exchange, receive, send)
        except gate.ClientGone:
            exchange.reason = "client_gone"
        finally:
            _log(scope, exchange, status, started)

    async def _answer(self, scope: Scope, exchange: Exchange, receive: Receive, send: Send) -> int:
        with_body, incoming = scope["method"] != "HEAD", gate.Incoming(receive, exchange.headers)
        cors: tuple[Header, ...] = ()
        try:
            cors = self._pass_gate(scope, exchange.headers)
            if scope["path"] in gate.ENDPOINTS and scope["method"] == "GET":
                return await self._open_stream(exchange, incoming, _adding(send, cors))
            reply = await self._route(scope, exchange, incoming)
        except Refused as refused:
            exchange.reason = refused.reason
            reply = refused.reply()
        except AppError as error:
            exchange.reason = error.code
            reply = replies.refusal(error).reply()
        except gate.ClientGone:
            raise
        except Exception as error:  # noqa: BLE001 - the last resort: the caller gets our body, the log the place
            eventlog.write_defect(error)
            reply = Refused(500, "Internal error.", "internal_error", code=INTERNAL_ERROR).reply()
        if len(exchange.headers.every("authorization")) > 1:
            reply = reply.plus(gate.CLOSE)
        # Closed upon unread bytes, a connection is reset, and a refusal that is still on its way is lost.
        before_end = None if incoming.whole else incoming.discard
        await replies.send_reply(_adding(send, cors), reply, with_body=with_body, before_end=before_end)
        return reply.status

    def _pass_gate(self, scope: Scope, headers: gate.Headers) -> tuple[Header, ...]:
        """Refuse what no path takes; return the headers that let a browser read the answer."""
        gate.check_version(scope)
        headers.check_size()
        headers.check_single()
        if scope["path"] in Health.PATHS:
            return ()
        port = scope["server"][1] if scope.get("server") else None
        self._doors.check_host(headers, port)
        origin = self._doors.check_origin(headers, port)
        if origin is None:
            return ()
        return (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", CORS_EXPOSED),
            (b"vary", b"origin"),
        )

    async def _route(self, scope: Scope, exchange: Exchange, receive: Receive) -> Reply:
        path, method = scope["path"], scope["method"]
        if path in gate.ENDPOINTS:
            return await self._answer_endpoint(method, exchange, receive)
        if path in Health.PATHS or path in self._files:
            if method not in ("GET", "HEAD"):
                raise _not_allowed(b"GET, HEAD")
            return (
                await self._health.answer(path)
                if path in Health.PATHS
                else files.answer_file(self._files[path], exchange.headers)
            )
        # Also what OAuth discovery asks for: there is none, and a plain 404 is how a client learns that.
        raise Refused(404, "There is nothing here. The endpoint is /mcp.", "not_found")

    async def _answer_endpoint(self, method: str, exchange: Exchange, receive: Receive) -> Reply:
        if method == "OPTIONS" and exchange.headers.first("origin") is not None:
            return Reply(204, headers=_PREFLIGHT)
        if method != "POST":
            raise self._not_allowed_at_endpoint()
        gate.check_post(exchange.headers)
        return await self._mcp.answer(exchange, receive)

    async def _open_stream(self, exchange: Exchange, receive: Receive, send: Send) -> int:
        """Serve a stream to those who mean it: by name and in the older protocol.

        Others would wait for an answer on it in vain, so they are told at once that there is none.
        """
        version = exchange.headers.first(VERSION_HEADER)
        by_name = gate.admits(exchange.headers.every("accept"), EVENT_STREAM.decode(), explicitly=True)
        if (
            not by_name
            or not self._streams.offered
            or (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS)
        ):
            raise self._not_allowed_at_endpoint()
        await self._mcp.identify(exchange)
        with self._streams.place(exchange.address):
            await self._streams.serve(receive, send)
        return 200

    def _not_allowed_at_endpoint(self) -> Refused:
        return _not_allowed(b"GET, POST" if self._streams.offered else b"POST")

    def _address(self, scope: Scope, headers: gate.Headers) -> str:
        peer = scope["client"][0] if scope.get("client") else None
        return client_address(peer, headers.every("x-forwarded-for"), self._trusted)


_PREFLIGHT: tuple[Header, ...] = (
    (b"access-control-allow-methods", b"GET, POST"),
    (b"access-control-allow-headers", CORS_REQUEST_HEADERS),
    (b"access-control-max-age", CORS_MAX_AGE),
)


def _not_allowed(allow: bytes) -> Refused:
    return Refused(
        405, "This method is not served here; see Allow.", "method_not_allowed", headers=((b"allow", allow),)
    )


def _adding(send: Send, headers: tuple[Header, ...]) -> Send:
    """Return a `send` that adds headers to the response."""

    async def adding(message: replies.ASGIMessage) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return adding if headers else send


def _log(scope: Scope, exchange: Exchange, status: int, started: float) -> None:
    # Every client looks for a stream and for OAuth when it connects, and health is asked all day: none tells anything.
    quiet = status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED) or scope["path"] in Health.PATHS
    eventlog.write(
        "request",
        level=logging.DEBUG if quiet else logging.INFO,
        http=scope["method"],
        method=exchange.method,
        status=status,
        ms=round((time.perf_counter() - started) * 1000, 1),
        tool=exchange.tool,
        mode=exchange.mode,
        era=exchange.era,
        reason=exchange.reason,
    )


async def _serve_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
