"""Connections that do not wait for ever, and requests whose head is whole before anyone reads it.

uvicorn has no limit on how long a request may take to arrive, adds trailers to the headers, forgets whom a request line
in absolute form was meant for, answers a broken body a second time, and of several requests in a row tells only the
last that the client is gone.
"""

from __future__ import annotations

import asyncio
import re
from asyncio.events import TimerHandle
from types import SimpleNamespace
from typing import ClassVar

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\ncontent-type: application/json\r\n"
    b"content-length: 28\r\nconnection: close\r\n\r\n"
    b'{"error":"too many clients"}'
)
_INVALID = "Invalid HTTP request received."
_FRAMING = (b"content-length", b"transfer-encoding")
_ABSOLUTE_FORM = re.compile(rb"[A-Za-z][0-9A-Za-z+.\-]*://([^/?#]*)")


class _TooManyError(Exception):
    """Ends the parser: too many requests wait on one connection."""


class DeadlineProtocol(HttpToolsProtocol):
    """Closes a connection that stays silent, whose request, head and body, is not whole in time, or takes no answer.

    Between requests uvicorn's own keep-alive limit holds. The clock runs from the first byte and is never wound back,
    so a byte now and then does not help.

    Trailers are dropped, as RFC 9110 allows: what arrives behind the body must not change whom it is counted for.
    Offers of another protocol are declined, as it allows too; Java's client makes one with each request over plain
    HTTP. The parser stops behind their head and would take the body for the next request, so the body is read by a
    parser of its own, nothing behind it is read, and the connection ends with the answer.
    """

    FIRST_BYTE_SECONDS: ClassVar[float] = 5.0
    REQUEST_SECONDS: ClassVar[float] = 10.0
    # From the moment at which an answer finds no room on its way until all of it has.
    TAKING_SECONDS: ClassVar[float] = 30.0
    MAX_CONNECTIONS: ClassVar[int] = 1000
    # Requests that wait behind another on their connection; each costs memory until it is answered.
    MAX_PIPELINED: ClassVar[int] = 128

    # When the connection is closed, None while it waits for nothing of the client's.
    _latest: float | None = None
    _timer: TimerHandle | None = None
    _taking: TimerHandle | None = None
    # From the end of a request's head to the end of its body.
    _head_is_whole = False
    # The request whose answer is due; `cycle` is the one that came last.
    _at_work: RequestResponseCycle | None = None
    # A request has offered another protocol: it is the last.
    _has_declined = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the clock for the first byte."""
        super().connection_made(transport)
        # So that `pause_writing` tells of every byte that finds no room.
        transport.set_write_buffer_limits(high=0)
        # uvicorn would log addresses wherever the program that runs it has attached a handler to everything.
        self.access_log = False
        if len(self.connections) > self.MAX_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
        else:
            self._start(self.FIRST_BYTE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        self._latest = None
        for timer in (self._timer, self._taking):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)
        self._let_go()

    def pause_writing(self) -> None:
        """Start the clock for a client that does not take its answer."""
        super().pause_writing()
        self._taking = self.loop.call_later(self.TAKING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop it: all has gone out."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.cancel()

    def data_received(self, data: bytes) -> None:
        """Start the clock for a request with the first byte that belongs to none yet."""
        # While an answer is on its way, an empty line is no request that begins: a stream is not to be cut for it.
        if self._latest is None and not self._is_answering():
            self._start(self.REQUEST_SECONDS)
        # As uvicorn has it, except for what follows an offer.
        self._unset_keepalive_if_required()
        try:
            self._read(data)
        except HttpParserError:
            # Behind the last request whatever comes is invalid, and nobody's business.
            if self.transport.is_closing():
                self._let_go()
            elif not self._has_declined or self._head_is_whole:
                self.logger.warning(_INVALID)
                self.send_400_response(_INVALID)

    def _read(self, data: bytes) -> None:
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            self._decline()
            self._read(data[offer.args[0] :])

    def _decline(self) -> None:
        """Go on with a request as if it had offered nothing, and make it the last one of its connection."""
        self._has_declined = True
        self.cycle.keep_alive = False
        framing = [b"%b: %b" % header for header in self.headers if header[0] in _FRAMING]
        self.parser = HttpRequestParser(
            SimpleNamespace(on_body=self.on_body, on_message_complete=self.on_message_complete)
        )
        # What tells where the body ends, and that nothing follows: then this parser takes no more.
        self.parser.feed_data(b"\r\n".join((b"POST / HTTP/1.1", b"Connection: close", *framing, b"", b"")))

    def send_400_response(self, msg: str) -> None:
        """Say that what came is no HTTP, unless that would be a second answer or stand in the middle of one."""
        begun = self._head_is_whole and self.cycle.response_started
        if begun or (self._at_work is not None and self._at_work.response_started and self._is_answering()):
            self.transport.close()
        else:
            super().send_400_response(msg)
        self._let_go()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._at_work = cycle
        super()._start_asgi_task(cycle, app)

    def _is_answering(self) -> bool:
        return self._at_work is not None and not self._at_work.response_complete

    def _let_go(self) -> None:
        """Tell whoever is at work that nothing more is to be written."""
        for cycle in (self._at_work, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def on_message_begin(self) -> None:
        """Start the clock for this request."""
        self._start(self.REQUEST_SECONDS)
        self._head_is_whole = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, drop a trailer."""
        if not self._head_is_whole:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take no more headers, and hand the request on."""
        if len(self.pipeline) >= self.MAX_PIPELINED:
            self.transport.abort()
            raise _TooManyError
        self._name_the_host_of_an_absolute_form()
        super().on_headers_complete()
        self._head_is_whole = True
        if self.scope["method"] == "POST":
            self.cycle.transport = _OneWrite(self.transport)

    def on_message_complete(self) -> None:
        """Stop the clock: the rest is ours."""
        # Of an offer the parser has seen the head only.
        if self.parser.should_upgrade():
            return
        self._latest = None
        self._head_is_whole = False
        if self.cycle.response_complete:
            # Answered before it was whole: no clock of uvicorn's runs for what comes behind.
            self.transport.close()
        super().on_message_complete()

    def _name_the_host_of_an_absolute_form(self) -> None:
        """Make the host of `POST http://host/path` a Host of its own, unless the header says the same.

        Two that differ are refused as any repeated header is; a foreign one as any foreign Host is.
        """
        match = _ABSOLUTE_FORM.match(self.url)
        if match is None:
            return
        named = {value.strip(b" \t").lower() for name, value in self.headers if name == b"host"}
        if named != {match[1].lower()}:
            self.headers.append((b"host", match[1]))

    def _start(self, seconds: float) -> None:
        self._latest = self.loop.time() + seconds
        # One timer that looks again when it is due costs less than one for each request.
        if self._timer is None:
            self._timer = self.loop.call_at(self._latest, self._review)

    def _review(self) -> None:
        self._timer = None
        if self._latest is None:
            return
        if self.loop.time() < self._latest:
            self._timer = self.loop.call_at(self._latest, self._review)
        elif not self.transport.is_closing():
            self.transport.abort()


class _OneWrite(asyncio.Transport):
    """Where an answer with a body is written: its head leaves with the body, in one packet if it fits.

    uvicorn writes the two apart, which costs the system twice as much.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._head: bytes | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep the head until more comes, pass the rest on."""
        if self._head is None and not bytes(data[:12]).endswith(b" 100"):
            self._head = bytes(data)
        else:
            self._transport.write((self._head or b"") + data)
            self._head = b""

    def close(self) -> None:
        """Write what is left, and close."""
        if self._head and not self._transport.is_closing():
            self._transport.write(self._head)
        self._transport.close()

    def is_closing(self) -> bool:
        """Tell whether it is closed or will be."""
        return self._transport.is_closing()
