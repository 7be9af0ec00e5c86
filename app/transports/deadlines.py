"""Connections that do not wait for ever: uvicorn has no limit on how long a request may take to arrive."""

from __future__ import annotations

import asyncio
from asyncio.events import TimerHandle
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\ncontent-type: application/json\r\n"
    b"content-length: 28\r\nconnection: close\r\n\r\n"
    b'{"error":"too many clients"}'
)


class DeadlineProtocol(HttpToolsProtocol):
    """Closes a connection that stays silent, or whose request, head and body, is not whole in time.

    Between requests uvicorn's own keep-alive limit holds. The clock runs from the first byte and is never wound back,
    so a byte now and then does not help.
    """

    FIRST_BYTE_SECONDS: ClassVar[float] = 5.0
    REQUEST_SECONDS: ClassVar[float] = 10.0
    MAX_CONNECTIONS: ClassVar[int] = 1000

    _timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the clock for the first byte."""
        super().connection_made(transport)
        # uvicorn would log addresses wherever the program that runs it has attached a handler to everything.
        self.access_log = False
        if len(self.connections) > self.MAX_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
        else:
            self._start(self.FIRST_BYTE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Start the clock for a request with the first byte that belongs to none yet."""
        if self._timer is None:
            self._start(self.REQUEST_SECONDS)
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Start the clock for this request."""
        self._start(self.REQUEST_SECONDS)
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Stop the clock: the rest is ours."""
        self._cancel()
        super().on_message_complete()

    def _start(self, seconds: float) -> None:
        self._cancel()
        self._timer = self.loop.call_later(seconds, self._expire)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.abort()
