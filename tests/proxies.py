"""A line between a program and PostgreSQL that fails as it is told: it stalls, is cut, or dribbles."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import URL, make_url

_CHUNK = 65_536
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class FaultyLine:
    """Passes bytes between a TCP port and PostgreSQL's socket, as long as it is not told otherwise."""

    def __init__(self, target: str) -> None:
        self.port = 0
        self.connections = 0
        self._target = target
        self._started = threading.Event()
        self._writers: list[asyncio.StreamWriter] = []
        self._cut_after: int | None = None
        self._pause: float | None = None
        self._said = 0
        self._told: tuple[int, Callable[[], None]] | None = None
        self._flowing: asyncio.Event
        self._over: asyncio.Event
        self._loop: asyncio.AbstractEventLoop

    def stall(self) -> None:
        """Take bytes and pass none on: whoever sends sees them acknowledged."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def resume(self) -> None:
        """Pass on everything that was taken, and whatever comes."""
        self._cut_after = self._pause = None
        self._loop.call_soon_threadsafe(self._flowing.set)

    def cut_answers_after(self, size: int) -> None:
        """Reset every connection when this many more bytes of PostgreSQL's have passed on it."""
        self._cut_after = size

    def dribble(self, pause: float) -> None:
        """Pass PostgreSQL's answers on one byte at a time, with a pause after each."""
        self._pause = pause

    def when_said(self, times: int, action: Callable[[], None]) -> None:
        """Do something once, instead of passing on what a client says for the n-th time from now."""
        self._said, self._told = 0, (times, action)

    @property
    def said(self) -> int:
        """How often clients have said something since `when_said`."""
        return self._said

    def cut(self) -> None:
        """Reset every connection now."""
        self._loop.call_soon_threadsafe(self._reset_all)

    @contextmanager
    def running(self) -> Iterator[FaultyLine]:
        thread = threading.Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        thread.start()
        assert self._started.wait(5)
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._over.set)
            thread.join(5)
            assert not thread.is_alive()

    async def _serve(self) -> None:
        self._loop, self._over, self._flowing = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        self._flowing.set()
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._over.wait()
        server.close()
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            up_reader, up_writer = await asyncio.open_unix_connection(self._target)
        except OSError:
            return writer.close()
        self._writers += [writer, up_writer]
        # Ended quietly with the proxy; asyncio would report a cancelled connection as an error.
        with suppress(asyncio.CancelledError):
            await asyncio.gather(
                self._pass_on(reader, up_writer, self._ask), self._pass_on(up_reader, writer, self._answering())
            )
        return None

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        send: Callable[[asyncio.StreamWriter, bytes], Coroutine[Any, Any, None]],
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._flowing.wait()
                await send(writer, data)
                await writer.drain()
        writer.close()

    async def _ask(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        self._said += 1
        if self._told is not None and self._said == self._told[0]:
            action, self._told = self._told[1], None
            action()
        else:
            writer.write(data)

    def _answering(self) -> Callable[[asyncio.StreamWriter, bytes], Coroutine[Any, Any, None]]:
        passed = 0

        async def answer(writer: asyncio.StreamWriter, data: bytes) -> None:
            nonlocal passed
            limit = self._cut_after
            if limit is None:
                passed = 0
                return await self._dribbled(writer, data)
            writer.write(data[: max(limit - passed, 0)])
            passed += len(data)
            if passed >= limit:
                await writer.drain()
                _reset(writer)
            return None

        return answer

    async def _dribbled(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        sent = 0
        while sent < len(data) and (pause := self._pause) is not None:
            writer.write(data[sent : sent + 1])
            sent += 1
            await asyncio.sleep(pause)
        writer.write(data[sent:])

    def _reset_all(self) -> None:
        for writer in self._writers:
            _reset(writer)


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection.family == socket.AF_INET and not writer.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()


@contextmanager
def faulty_line_to(*addresses: str) -> Iterator[tuple[FaultyLine, *tuple[str, ...]]]:
    """Run a line to the server of these addresses, and yield it with the addresses that lead through it."""
    urls = [make_url(address) for address in addresses]
    folder, port = urls[0].query["host"], urls[0].query.get("port", "5432")
    with FaultyLine(f"{folder}/.s.PGSQL.{port}").running() as line:
        yield line, *(_through(line, url) for url in urls)


def _through(line: FaultyLine, url: URL) -> str:
    return url.set(host="127.0.0.1", port=line.port, query={}).render_as_string(hide_password=False)
