"""The gate: what a request must satisfy before anyone reads what it asks. Pure ASGI, no I/O but reading the body."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from mcp_types.jsonrpc import HEADER_MISMATCH, INVALID_REQUEST

from app.contract import BODY_MAX_BYTES
from app.errors import Forbidden
from app.settings import Settings
from app.transports.replies import EVENT_STREAM, JSON, ASGIMessage, Receive, Refused, Scope, refusal

MAX_HEADERS = 64
MAX_HEADER_BYTES = 16_384
# What proxies pass on unless they are told otherwise; whoever sends more than that is cut off.
DISCARD_MAX_BYTES = 1_048_576
DISCARD_SECONDS = 2.0
# Both without a redirect, on which clients lose the body or the key.
ENDPOINTS = frozenset({"/mcp", "/mcp/"})
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

# Two readers could each take another copy for the true one. A second Authorization is judged with the credentials.
_SINGLETONS = frozenset({"host", "origin", "content-type", "content-length", "content-encoding", "transfer-encoding"})
_ROUTING = frozenset({"mcp-protocol-version", "mcp-method", "mcp-name"})
_STANDARD_PORTS = {"http": 80, "https": 443}
CLOSE = ((b"connection", b"close"),)


class ClientGone(Exception):
    """The client hung up before its request was whole; there is nobody to answer."""


class Headers:
    """The headers of a request by lower-case name, without the white space that may surround a value."""

    def __init__(self, scope: Scope) -> None:
        self.raw: list[tuple[bytes, bytes]] = scope["headers"]
        self._values: dict[str, list[str]] = {}
        for name, value in self.raw:
            self._values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip(" \t"))

    def first(self, name: str) -> str | None:
        """Return the first value, None if there is none."""
        values = self._values.get(name)
        return values[0] if values else None

    def every(self, name: str) -> list[str]:
        """Return all values in the order they came."""
        return self._values.get(name, [])

    def exact(self, name: bytes) -> list[bytes]:
        """Return all values as they came, white space included."""
        return [value for key, value in self.raw if key.lower() == name]

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The first value of every header."""
        return {name: values[0] for name, values in self._values.items()}

    def check_size(self) -> None:
        """Refuse more or longer headers than any real client sends."""
        if len(self.raw) > MAX_HEADERS or sum(len(name) + len(value) for name, value in self.raw) > MAX_HEADER_BYTES:
            raise Refused(
                431,
                f"At most {MAX_HEADERS} headers and {MAX_HEADER_BYTES} bytes of them.",
                "headers_too_large",
                headers=CLOSE,
            )

    def check_single(self) -> None:
        """Refuse a repeated header of which there can be only one."""
        for name, values in self._values.items():
            if len(values) > 1 and (name in _SINGLETONS or name in _ROUTING):
                code = HEADER_MISMATCH if name in _ROUTING else INVALID_REQUEST
                # Whatever read this request otherwise may read what follows on the connection otherwise too.
                raise Refused(400, f"The header {name} must occur once.", "repeated_header", code=code, headers=CLOSE)


class Incoming:
    """ASGI's `receive`, which knows whether the request's body has come in whole.

    Attributes:
        whole: there is nothing more to read.
    """

    def __init__(self, receive: Receive, headers: Headers) -> None:
        self._receive = receive
        self.whole = not headers.every("content-length") and not headers.every("transfer-encoding")

    async def __call__(self) -> ASGIMessage:
        """Return the next message."""
        message = await self._receive()
        self.whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def discard(self) -> None:
        """Read what is left, for a short while, and keep nothing."""
        left = DISCARD_MAX_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_SECONDS):
                while not self.whole and left > 0:
                    left -= len((await self()).get("body", b""))


@dataclass(frozen=True)
class Doors:
    """Names this server answers to, and browser origins that may call it.

    Attributes:
        hosts: values of Host, lower case, with the port unless it is a standard one.
        origins: values of Origin, lower case.
    """

    hosts: frozenset[str]
    origins: frozenset[str]

    def check_host(self, headers: Headers, bound_port: int | None) -> None:
        """Refuse a request meant for another name: a browser tricked by a rebound DNS entry sends one."""
        host = (headers.first("host") or "").lower()
        if host not in self.hosts and host not in _loopback(bound_port):
            raise refusal(Forbidden("This server does not answer to that Host. Name it in CHATCTX_ALLOWED_HOSTS."))

    def check_origin(self, headers: Headers, bound_port: int | None) -> str | None:
        """Return the browser origin that calls, None for other programs; refuse one that is not allowed."""
        origin = headers.first("origin")
        if origin is None:
            return None
        if origin.lower() not in self.origins and origin.lower() not in {
            f"http://{host}" for host in _loopback(bound_port)
        }:
            raise refusal(Forbidden("Calls from this Origin are not allowed. Name it in CHATCTX_ALLOWED_ORIGINS."))
        return origin


def doors_of(settings: Settings) -> Doors:
    """Return the names and origins that the settings allow."""
    hosts = {host.lower() for host in settings.allowed_hosts}
    origins = {origin.lower() for origin in settings.allowed_origins}
    if settings.public_url:
        parts = urlsplit(settings.public_url.lower())
        hosts.update(
            {parts.netloc, f"{parts.netloc}:{_STANDARD_PORTS[parts.scheme]}"} if parts.port is None else {parts.netloc}
        )
        origins.add(f"{parts.scheme}://{parts.netloc}")
    return Doors(frozenset(hosts), frozenset(origins))


def check_version(scope: Scope) -> None:
    """Refuse what is not HTTP/1: the parser takes a request line without a version, which a proxy would not pass so."""
    if scope.get("http_version", "1.1") not in ("1.0", "1.1"):
        raise Refused(400, "Speak HTTP/1.1.", "unsupported_version", headers=CLOSE)


def check_post(headers: Headers) -> None:
    """Refuse a POST whose headers say that it cannot be a message we read, or that its answer cannot be read there."""
    if (headers.first("content-encoding") or "identity").lower() != "identity":
        raise Refused(415, "Send the body uncompressed, without Content-Encoding.", "unsupported_encoding")
    media_type, _, parameters = (headers.first("content-type") or "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if media_type.strip().lower() != JSON.decode() or charset not in ("", "charset=utf-8"):
        raise Refused(415, "Send Content-Type: application/json.", "unsupported_media_type")
    if not admits(headers.every("accept"), EVENT_STREAM.decode()):
        raise Refused(406, "Send Accept: application/json, text/event-stream.", "not_acceptable")
    declared = headers.first("content-length")
    if declared is not None and declared.isdecimal() and int(declared[:20]) > BODY_MAX_BYTES:
        raise _too_large()


def admits(accept: Iterable[str], media_type: str, *, explicitly: bool = False) -> bool:
    """Tell whether an Accept header admits a media type; explicitly: by its own name, not by a wildcard."""
    wildcards = set() if explicitly else {"*/*", media_type.split("/", 1)[0] + "/*"}
    for part in ",".join(accept).split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if (name == media_type or name in wildcards) and not any(
            _is_zero_weight(parameter) for parameter in parameters
        ):
            return True
    return False


async def read_body(receive: Receive) -> bytes:
    """Return the request's body; it is counted as it comes, whatever length was declared.

    Raises:
        ClientGone: the client hung up.
    """
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > BODY_MAX_BYTES:
            raise _too_large()
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _too_large() -> Refused:
    # The rest of the body is not read, so the connection is of no further use.
    return Refused(413, f"The body may have at most {BODY_MAX_BYTES} bytes.", "body_too_large", headers=CLOSE)


def _is_zero_weight(parameter: str) -> bool:
    name, _, weight = parameter.partition("=")
    return name.strip() == "q" and not weight.strip().strip("0.")


def _loopback(port: int | None) -> frozenset[str]:
    """Return the Host values of a server on this machine."""
    bare = frozenset(LOOPBACK_NAMES) if port == _STANDARD_PORTS["http"] else frozenset()
    return bare | {f"{name}:{port}" for name in LOOPBACK_NAMES}
