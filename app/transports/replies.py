"""What goes back over HTTP: answers, refusals, and how they are framed."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

from mcp_types.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST

from app.access import NoCredentials
from app.errors import AppError, Forbidden, QuotaExhausted, Unauthorized, Unavailable

Header = tuple[bytes, bytes]
Scope = MutableMapping[str, Any]
ASGIMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[ASGIMessage]]
Send = Callable[[ASGIMessage], Awaitable[None]]

# Of what the protocol leaves to implementations (-32000 to -32019), the part no known client gives its own meaning.
UNAUTHORIZED = -32010
FORBIDDEN = -32011
QUOTA_EXHAUSTED = -32012
UNAVAILABLE = -32013
RETRY_SECONDS = 2

JSON = b"application/json"
EVENT_STREAM = b"text/event-stream"
_STATUS = {
    Unauthorized: (401, UNAUTHORIZED),
    NoCredentials: (401, UNAUTHORIZED),
    Forbidden: (403, FORBIDDEN),
    QuotaExhausted: (429, QUOTA_EXHAUSTED),
    Unavailable: (503, UNAVAILABLE),
}


@dataclass(frozen=True)
class Reply:
    """A whole HTTP response."""

    status: int
    body: bytes = b""
    media_type: bytes | None = None
    headers: tuple[Header, ...] = ()

    def plus(self, headers: Iterable[Header]) -> Reply:
        """Return the reply with more headers."""
        return Reply(self.status, self.body, self.media_type, (*self.headers, *headers))


class Refused(Exception):
    """A request that is answered with an HTTP error. The message is ours and never repeats what was sent.

    Attributes:
        reason: the word for the log and for programs.
    """

    def __init__(
        self,
        status: int,
        message: str,
        reason: str,
        *,
        code: int = INVALID_REQUEST,
        data: object = None,
        headers: Iterable[Header] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason
        self.code = code
        self.data = data
        self.headers = tuple(headers)

    def reply(self, request_id: str | int | None = None) -> Reply:
        """Return the refusal as a JSON-RPC error, so that MCP clients can show its text."""
        data = {"code": self.reason} if self.data is None else self.data
        return json_reply(self.status, error_body(request_id, self.code, self.message, data)).plus(self.headers)


def refusal(error: AppError, *, delay: int = 0) -> Refused:
    """Return the HTTP refusal that one of our own errors means.

    Args:
        delay: seconds added to the moment at which the caller is told to come back, in header and body alike.
    """
    status, code = _STATUS.get(type(error), (500, INTERNAL_ERROR))
    headers: list[Header] = []
    details = dict(error.details)
    if isinstance(error, Unauthorized):
        headers.append((b"www-authenticate", _challenge(error)))
    if isinstance(error, QuotaExhausted | Unavailable):
        seconds = math.ceil(float(str(details.get("retry_after_seconds", RETRY_SECONDS)))) + delay
        details["retry_after_seconds"] = seconds
        headers.append((b"retry-after", str(seconds).encode()))
    data = {"code": error.code, "details": details}
    return Refused(status, error.message, error.code, code=code, data=data, headers=headers)


def _challenge(error: Unauthorized) -> bytes:
    # No resource metadata: it would send clients with a fixed key into an OAuth flow that is not there. And no error
    # for who has presented nothing (RFC 6750, 3.1).
    return b'Bearer realm="chatctx"' + (b"" if isinstance(error, NoCredentials) else b', error="invalid_token"')


def error_body(request_id: str | int | None, code: int, message: str, data: object = None) -> dict[str, Any]:
    """Return a JSON-RPC error response."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def json_reply(status: int, body: object) -> Reply:
    """Return a reply with a JSON body."""
    return Reply(status, _encode(body), JSON, ((b"cache-control", b"no-store"),))


def event_reply(body: object) -> Reply:
    """Return a reply with one server-sent event."""
    # Proxies that collect a stream before they pass it on, or zip it, would hold the answer back.
    headers = ((b"cache-control", b"no-store, no-transform"), (b"x-accel-buffering", b"no"))
    return Reply(200, b"event: message\ndata: " + _encode(body) + b"\n\n", EVENT_STREAM, headers)


async def send_reply(
    send: Send, reply: Reply, *, with_body: bool = True, before_end: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Send a reply; without its body for HEAD, with the length the body would have had.

    Args:
        before_end: awaited when everything has been sent and before the connection may be closed.
    """
    headers = [(b"x-content-type-options", b"nosniff"), *reply.headers]
    if reply.status not in (204, 304):
        headers.append((b"content-length", str(len(reply.body)).encode()))
    if reply.media_type is not None:
        headers.append((b"content-type", reply.media_type))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    body = reply.body if with_body else b""
    if before_end is not None:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await before_end()
        body = b""
    await send({"type": "http.response.body", "body": body})


# ASCII only: some event-stream parsers take U+2028 and its kin for the end of a line.
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


def _encode(body: object) -> bytes:
    return _ENCODER.encode(body).encode("ascii")
