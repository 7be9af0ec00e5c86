"""A database that neither answers nor hangs up: the worst kind of away, because nothing ever fails by itself."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from sqlalchemy import make_url, text

from app.store.access import PostgresAccessStore
from app.store.engine import server_engine
from tests.edge.wire import call_tool

SEARCH = {"query": "react list keys"}


class StallingProxy:
    """Passes bytes between a TCP port and PostgreSQL's socket; stalled, it takes them and passes none on."""

    def __init__(self, target: str) -> None:
        self.port = 0
        self._target = target
        self._started = threading.Event()
        self._writers: list[asyncio.StreamWriter] = []
        self._flowing: asyncio.Event
        self._over: asyncio.Event
        self._loop: asyncio.AbstractEventLoop

    def stall(self) -> None:
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def resume(self) -> None:
        self._loop.call_soon_threadsafe(self._flowing.set)

    @contextmanager
    def running(self) -> Iterator[StallingProxy]:
        thread = threading.Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        thread.start()
        assert self._started.wait(5)
        yield self
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
        up_reader, up_writer = await asyncio.open_unix_connection(self._target)
        self._writers += [writer, up_writer]
        # Ended quietly with the proxy; asyncio would report a cancelled connection as an error.
        with suppress(asyncio.CancelledError):
            await asyncio.gather(self._pass_on(reader, up_writer), self._pass_on(up_reader, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
def proxied(database):
    """An access store that reaches the database through a proxy, and the proxy."""
    url = make_url(database.app_url)
    folder, port = url.query["host"], url.query.get("port", "5432")
    with StallingProxy(f"{folder}/.s.PGSQL.{port}").running() as proxy:
        through = url.set(host="127.0.0.1", port=proxy.port, query={})
        engine = server_engine(through.render_as_string(hide_password=False))
        yield PostgresAccessStore(engine), proxy
        engine.dispose()


def test_a_stalled_database_is_answered_for_in_time_and_served_from_again(start_edge, proxied, database):
    """Every answer within three seconds and a bit, all 503 while it lasts, nothing free, back within five seconds."""
    store, proxy = proxied
    edge = start_edge(store=store)
    assert call_tool(edge.endpoint, "search_knowledge", SEARCH).status_code == 200
    proxy.stall()
    with ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda _: timed_call(edge), range(40)))
    assert {status for status, _, _ in answers} == {503}
    assert all(int(headers["retry-after"]) >= 1 for _, headers, _ in answers)
    assert max(seconds for _, _, seconds in answers) < 4
    proxy.resume()
    resumed = time.monotonic()
    while call_tool(edge.endpoint, "search_knowledge", SEARCH).status_code != 200:
        assert time.monotonic() - resumed < 5
        time.sleep(0.1)
    with database.owner.connect() as connection:
        assert connection.execute(text("SELECT sum(used) FROM quota_use")).scalar_one() >= 2


def timed_call(edge):
    started = time.monotonic()
    response = call_tool(edge.endpoint, "search_knowledge", SEARCH)
    return response.status_code, response.headers, time.monotonic() - started
