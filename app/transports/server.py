"""Runs the edge: a listening socket, uvicorn, and an end without broken answers."""

from __future__ import annotations

import asyncio
import errno
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn

from app.errors import AppError, PortTaken, SettingsError
from app.settings import Settings
from app.transports import eventlog
from app.transports.deadlines import DeadlineProtocol
from app.transports.http import EdgeApp

SHUTDOWN_SECONDS = 10
KEEP_ALIVE_SECONDS = 15
BACKLOG = 1024
_LISTENING = "0A"

Started = Callable[[str, int], None]


def bind(settings: Settings) -> socket.socket:
    """Return a listening socket. Call it before anything slow: it is what tells a second server that there is a first.

    Raises:
        PortTaken: the message says who holds the port, where that can be seen.
        SettingsError: the address cannot be had.
    """
    host, port = settings.host, settings.port
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise SettingsError(f"CHATCTX_HOST: {host} is not an address of this machine.") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Here, not later: only listening claims the port.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _cannot_listen(host, port, error) from error
    listener.setblocking(False)  # noqa: FBT003 - positional in the standard library
    return listener


def serve(app: EdgeApp, listener: socket.socket, on_started: Started | None = None) -> int:
    """Serve until SIGTERM or SIGINT and return the exit code. From now on the process leaves no core file.

    Args:
        on_started: called with the address and port once requests are answered; with port 0, the port that was taken.
    """
    _keep_memory_to_itself()
    EdgeServer(app, on_started).run(sockets=[listener])
    return 0


class EdgeServer(uvicorn.Server):
    """uvicorn, told how to end: not ready at once, streams end by themselves, calls at work finish."""

    def __init__(self, app: EdgeApp, on_started: Started | None = None) -> None:
        eventlog.strip_foreign_loggers()
        super().__init__(
            uvicorn.Config(
                app,
                http=DeadlineProtocol,
                ws="none",
                lifespan="off",
                # Who calls is decided by the edge, which believes no header from a stranger.
                proxy_headers=False,
                server_header=False,
                access_log=False,
                log_config=None,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._app = app
        self._on_started = on_started
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        host, port = (sockets or [])[0].getsockname()[:2]
        eventlog.write("started", port=port)
        if self._on_started is not None:
            self._on_started(host, port)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: the last answers leave, then the worker threads."""
        self._app.drain()
        await super().shutdown(sockets)
        self._app.close()
        eventlog.write("stopped")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal. It is not raised again afterwards as uvicorn would: an orderly end is exit code 0."""
        del frame
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.stop()

    def stop(self) -> None:
        """End soon. May be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._app.drain)
        self.should_exit = True


def _keep_memory_to_itself() -> None:
    """Leave no core file in a crash: the keys that callers have sent and the pepper would be in it."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))


def _cannot_listen(host: str, port: int, error: OSError) -> AppError:
    if error.errno == errno.EADDRINUSE:
        holder = next(_listeners(port), None)
        by = f" by process {holder}" if holder is not None else ""
        return PortTaken(f"Port {port} is in use{by}. Stop that, or choose another with CHATCTX_PORT.")
    if error.errno == errno.EACCES:
        return SettingsError(f"Port {port} needs privileges this process does not have. Choose one above 1023.")
    return SettingsError(f"CHATCTX_HOST: cannot listen on {host} port {port}: {error.strerror}.")


def _listeners(port: int) -> Iterator[int]:
    """Yield the processes that listen on a port, as far as Linux shows them to this one."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    for descriptor in Path("/proc").glob("[0-9]*/fd/*") if sockets else ():
        try:
            if str(descriptor.readlink()) in sockets:
                yield int(descriptor.parts[2])
        except OSError:
            continue


def _listening_inodes(port: int) -> Iterator[str]:
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rsplit(":", 1)[1], 16) == port:
                yield fields[9]
