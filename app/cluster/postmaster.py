"""The server's main process, as its pid file and the process table show it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from app.cluster.address import PORT

_PAUSE = 0.01
# Lines of postmaster.pid, from PostgreSQL's pidfile.h.
_SOCKET_LINE = 4
_STATUS_LINE = 7


@dataclass(frozen=True)
class Postmaster:
    """What postmaster.pid says.

    Attributes:
        pid: the process.
        socket_folder: where its socket is, None while it has not said so yet.
        status: `starting`, `ready`, `stopping`, or empty while it has not said so yet.
    """

    pid: int
    socket_folder: Path | None
    status: str


def read_pid_file(data: Path) -> Postmaster | None:
    """Read postmaster.pid of a data directory; None when there is none or it is not whole yet."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except FileNotFoundError:
        return None
    if not lines or not lines[0].strip().lstrip("-").isdecimal():
        return None
    lines += [""] * (_STATUS_LINE + 1 - len(lines))
    folder = lines[_SOCKET_LINE].strip()
    return Postmaster(abs(int(lines[0])), Path(folder) if folder else None, lines[_STATUS_LINE].strip())


def living_postmaster(data: Path, uid: int) -> Postmaster | None:
    """Return the postmaster of a data directory if it is alive.

    A pid alone proves nothing: after a crash another program may have been given it.
    """
    found = read_pid_file(data)
    return found if found and is_alive(found.pid) and _serves(found.pid, data, uid) else None


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended and was not collected yet does not."""
    _collect(pid)
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def has_socket(folder: Path) -> bool:
    """Tell whether the socket is there: somebody may have cleaned up the folder of a living server."""
    return (folder / f".s.PGSQL.{PORT}").exists()


def end(postmaster: Postmaster, data: Path, uid: int, *, patience: float) -> None:
    """Stop a postmaster, first politely. The last resort costs no data: the next start replays the log."""
    for number, seconds in ((signal.SIGINT, patience), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0)):
        _send(postmaster.pid, number)
        if wait_until(lambda: not is_alive(postmaster.pid), seconds):
            break
    end_orphans(data, uid)


def end_orphans(data: Path, uid: int) -> None:
    """End what is left of a server whose postmaster was killed: it would keep a new one from starting."""
    orphans = list(_orphans(data, uid))
    for process in orphans:
        _send(process.pid, signal.SIGQUIT)
    wait_until(lambda: not any(is_alive(process.pid) for process in orphans), 2.0)
    for process in orphans:
        if is_alive(process.pid):
            _send(process.pid, signal.SIGKILL)


def collect_orphans() -> None:
    """Collect the ended server processes that became our children, as they do in a container where we are process 1."""
    if os.getpid() != 1:
        return
    for child in psutil.Process().children():
        try:
            if child.name() == "postgres" and child.status() == psutil.STATUS_ZOMBIE:
                _collect(child.pid)
        except psutil.NoSuchProcess:
            continue


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition, looking often; tell whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
    return True


def _serves(pid: int, data: Path, uid: int) -> bool:
    """Tell whether a process is a postmaster for the data directory, by what we started it with."""
    try:
        process = psutil.Process(pid)
        return process.uids().effective == uid and process.name() == "postgres" and str(data) in process.cmdline()
    except psutil.Error:
        return False


def _orphans(data: Path, uid: int) -> Iterator[psutil.Process]:
    """Yield the server's processes: they work in the data directory."""
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and process.uids().effective == uid and process.cwd() == str(data):
                yield process
        except psutil.Error:
            # It ended meanwhile, or it is none of ours.
            continue


def _collect(pid: int) -> None:
    """Collect a process if it is an ended child of ours."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
