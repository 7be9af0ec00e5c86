"""GET /mcp: a stream that says nothing but that it is alive, for clients of the older protocol that hold one open."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from app.transports.replies import EVENT_STREAM, Receive, Send
from app.transports.slots import busy

CONNECTED = b": connected\n\n"
KEEPALIVE = b": keepalive\n\n"
KEEPALIVE_SECONDS = 15.0
LIFE_SECONDS = 600.0
# A client holds one for as long as it lives, and mcp-remote two, for every editor window behind an address.
PER_ADDRESS = 8


class Streams:
    """The open streams of one server process.

    Args:
        limit: how many there may be at once.
        stop: set when the server shuts down; every stream then ends by itself.
    """

    def __init__(
        self,
        limit: int,
        stop: asyncio.Event,
        *,
        keepalive_seconds: float = KEEPALIVE_SECONDS,
        life_seconds: float = LIFE_SECONDS,
    ) -> None:
        self._limit = limit
        self._stop = stop
        self._keepalive_seconds = keepalive_seconds
        self._life_seconds = life_seconds
        self._open: Counter[str] = Counter()

    @property
    def offered(self) -> bool:
        """Whether there are streams at all."""
        return self._limit > 0

    @contextmanager
    def place(self, address: str) -> Iterator[None]:
        """Hold a place for as long as the context lasts.

        Raises:
            Unavailable: there are enough, all told or for this address. Not a quota: the allowance is for calls.
        """
        if self._open.total() >= self._limit or self._open[address] >= PER_ADDRESS:
            raise busy()
        self._open[address] += 1
        try:
            yield
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]

    async def serve(self, receive: Receive, send: Send) -> None:
        """Keep a stream open until the client leaves, its life is over or the server stops."""
        headers = [
            (b"content-type", EVENT_STREAM),
            (b"cache-control", b"no-store, no-transform"),
            (b"x-accel-buffering", b"no"),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        # At once: some clients give up on a stream that has headers but not one byte.
        await send({"type": "http.response.body", "body": CONNECTED, "more_body": True})
        ends = [asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(self._stop.wait())]
        try:
            await self._keep_alive(send, ends)
        finally:
            for end in ends:
                end.cancel()
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _keep_alive(self, send: Send, ends: Sequence[asyncio.Future[object]]) -> None:
        loop = asyncio.get_running_loop()
        over = loop.time() + self._life_seconds
        while (left := over - loop.time()) > 0:
            done, _ = await asyncio.wait(
                ends, timeout=min(self._keepalive_seconds, left), return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
            await send({"type": "http.response.body", "body": KEEPALIVE, "more_body": True})


async def _gone(receive: Receive) -> object:
    while (await receive())["type"] != "http.disconnect":
        pass
    return None
