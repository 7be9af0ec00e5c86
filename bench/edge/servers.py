"""The servers that are compared, each in a process of its own: `python -m bench.edge.servers KIND CPU [DATABASE_URL]`.

KIND is `echo` (Starlette parses the body as JSON and sends it back) or `product` (the product's edge over an operation
that does nothing; its allowances are kept in memory, or in the database that is named). Both run on the same uvicorn
settings. The process prints its port once it answers, and its log goes to stderr as the product's does.
"""

from __future__ import annotations

import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from app.access import Access, PepperRing
from app.arguments import parse_arguments
from app.operations import OPERATIONS
from app.ports import AccessStore
from app.runtime import SystemClock
from app.settings import Settings
from app.store.access import PostgresAccessStore
from app.store.engine import server_engine
from app.transports import eventlog
from app.transports.http import EdgeServices, create_app
from app.transports.server import bind, serve
from bench.edge.memory import MemoryStore

PLENTY = 1_000_000_000


def main() -> int:
    """Serve what the arguments name until the process is told to stop."""
    kind, cpu, *database = sys.argv[1:]
    psutil.Process().cpu_affinity([int(cpu)])
    if kind == "echo":
        return _serve_echo()
    return _serve_product(database[0] if database else None)


def _serve_echo() -> int:
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    app = Starlette(routes=[Route("/mcp", _echo, methods=["POST"])])
    config = uvicorn.Config(app, http="httptools", ws="none", lifespan="off", access_log=False, log_config=None)
    _tell(listener.getsockname()[1])
    uvicorn.Server(config).run(sockets=[listener])
    return 0


async def _echo(request: Request) -> JSONResponse:
    return JSONResponse(await request.json())


def _serve_product(database_url: str | None) -> int:
    eventlog.start("info")
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), port=0, guest_daily_quota=PLENTY)
        store: AccessStore = PostgresAccessStore(server_engine(database_url)) if database_url else MemoryStore()
        access = Access(store, PepperRing({"p1": bytes(range(32))}), settings, SystemClock())
        services = EdgeServices(settings, access, OPERATIONS, do_nothing, "", {}, lambda: {"database": True})
        return serve(create_app(services), bind(settings), lambda _host, port: _tell(port))


def do_nothing(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check the arguments, as every operation begins, and find nothing."""
    parse_arguments(OPERATIONS[name].request, arguments)
    return {"results": []}


def _tell(port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
