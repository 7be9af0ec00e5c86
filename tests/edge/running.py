"""A real server on a real socket, over an honest store in memory and the real operations table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.access import Access, NewKey, PepperRing, new_key
from app.operations import OPERATIONS
from app.ports import AccessStore
from app.settings import Settings
from app.transports.http import EdgeApp, EdgeServices, create_app
from app.transports.server import EdgeServer, bind
from tests.access.memorystore import MemoryAccessStore, RealClock
from tests.edge.answers import answer_offline

PEPPERS = PepperRing({"p1": bytes(range(32))})
PUBLIC_FILES = {
    "/": ("text/html; charset=utf-8", b"<!doctype html><title>chatctx</title><style>p{margin:0}</style><p>hello</p>"),
    "/llms.txt": ("text/plain; charset=utf-8", b"# chatctx\n"),
    "/api.json": ("application/json", b"{}"),
}


@dataclass
class RunningEdge:
    """A server that answers on a port of this machine."""

    port: int
    app: EdgeApp
    server: EdgeServer
    thread: threading.Thread
    access: Access
    store: AccessStore
    ready: dict[str, bool] = field(default_factory=dict)
    peppers: PepperRing = PEPPERS

    def new_key(self) -> NewKey:
        """Return a key that the server takes once it is kept."""
        return new_key(self.peppers)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def endpoint(self) -> str:
        return self.url + "/mcp"


StartEdge = Callable[..., RunningEdge]


def run_edges(home: Path) -> Iterator[StartEdge]:
    """Yield a function that starts servers; end them all afterwards."""
    running: list[tuple[EdgeServer, threading.Thread]] = []

    def start(
        *,
        store: AccessStore | None = None,
        call: Callable[[str, Mapping[str, Any]], dict[str, Any]] = answer_offline,
        peppers: PepperRing = PEPPERS,
        **changes: Any,
    ) -> RunningEdge:
        settings = Settings(home=home, port=0, **changes)
        access_store = store or MemoryAccessStore()
        access = Access(access_store, peppers, settings, RealClock())
        ready = {"database": True}
        app = create_app(EdgeServices(settings, access, OPERATIONS, call, "Test records.", PUBLIC_FILES, lambda: ready))
        listener = bind(settings)
        port = listener.getsockname()[1]
        started = threading.Event()
        server = EdgeServer(app, lambda _host, _port: started.set())
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        assert started.wait(10)
        running.append((server, thread))
        return RunningEdge(port, app, server, thread, access, access_store, ready, peppers)

    yield start
    for server, _ in running:
        server.stop()
    for _, thread in running:
        thread.join(15)
        assert not thread.is_alive()
