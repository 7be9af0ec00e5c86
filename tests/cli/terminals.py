"""Commands as real processes, on a terminal of their own or with none at all.

Importing the program takes most of a command's time, so a nursery imports it once and forks for each command.
"""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Takes arguments, environment and three streams, forks twice, and tells the process's id and how it ended.
_NURSERY = """
import json, os, socket, sys
import app.runtime, review.cli, review.desk.office, argon2
from app.main import main

requests = socket.socket(fileno=int(sys.argv[1]))
while True:
    message, fds, _, _ = socket.recv_fds(requests, 1 << 20, 4)
    if not message:
        sys.exit()
    middle = os.fork()
    if middle:
        os.waitpid(middle, 0)
        for fd in fds:
            os.close(fd)
        continue
    if os.fork():
        os._exit(0)
    requests.close()
    worker = os.fork()
    if worker:
        os.write(fds[3], f"{worker}\\n".encode())
        os.write(fds[3], str(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])).encode())
        os._exit(0)
    told = json.loads(message)
    os.setsid()
    os.environ.clear()
    os.environ.update(told["environ"])
    if told["terminal"]:
        # A process gets its terminal by opening it as the leader of a session that has none.
        os.close(os.open(told["terminal"], os.O_RDWR))
    for place in range(3):
        os.dup2(fds[place], place)
    for fd in fds:
        os.close(fd)
    sys.argv = ["chatctx", *told["arguments"]]
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
"""


class Nursery:
    """Where commands are born."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _NURSERY, str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()]
        )
        theirs.close()

    def close(self) -> None:
        """End it."""
        self._requests.close()
        self._process.wait(30)

    def start(self, environ: Mapping[str, str], arguments: tuple[str, ...], streams: list[int], tty: str | None) -> int:
        """Start a command and return the end of a pipe that tells its id, and how it ended."""
        ended, ends = os.pipe()
        told = {"environ": {**os.environ, **environ}, "arguments": arguments, "terminal": tty}
        socket.send_fds(self._requests, [json.dumps(told).encode()], [*streams, ends])
        os.close(ends)
        return ended

    def run(self, environ: Mapping[str, str], *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command as an agent's shell does: no terminal at all."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin.encode())
            given.seek(0)
            ended = self.start(environ, arguments, [given.fileno(), out.fileno(), err.fileno()], None)
            with os.fdopen(ended, "rb") as told:
                code = int(told.read().split()[1])
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, code, out.read().decode(), err.read().decode())


class Terminal:
    """A command at a terminal. Where `stdin` or `stdout` is given, the terminal is still there as /dev/tty."""

    def __init__(
        self, nursery: Nursery, environ: Mapping[str, str], *arguments: str, stdin: int = -1, stdout: int = -1
    ) -> None:
        self.master, self._slave = pty.openpty()
        streams = [self._slave if stdin < 0 else stdin, self._slave if stdout < 0 else stdout, self._slave]
        self._ended = nursery.start(environ, arguments, streams, os.ttyname(self._slave))
        self._told = b""
        self.seen = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._code() is None:
            self.kill()
        for descriptor in (self.master, self._slave, self._ended):
            os.close(descriptor)

    @property
    def echoes(self) -> bool:
        """Whether what is typed is shown."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def answer(self, prompt: str, line: str) -> None:
        """Wait for a prompt, and type a line."""
        self.wait_for(prompt)
        self.seen = self.seen.split(prompt, 1)[1]
        os.write(self.master, line.encode() + b"\n")

    def press(self, prompt: str, key: bytes) -> None:
        """Wait for a prompt, and press a key."""
        self.wait_for(prompt)
        os.write(self.master, key)

    def wait_for(self, words: str, seconds: float = 30) -> None:
        """Read until words are shown."""
        deadline = time.monotonic() + seconds
        while words not in self.seen:
            assert time.monotonic() < deadline, self.seen
            assert self._code() is None or self._read(0.1), self.seen
            self._read(0.02)

    def end(self, seconds: float = 30) -> int:
        """Return the exit code; what was shown last is in `seen`."""
        deadline = time.monotonic() + seconds
        while (code := self._code()) is None:
            assert time.monotonic() < deadline, self.seen
            self._read(0.02)
        while self._read(0.02):
            pass
        return code

    def kill(self) -> None:
        """End it as a power cut would."""
        while b"\n" not in self._told:
            self._told += os.read(self._ended, 64)
        with suppress(ProcessLookupError):
            os.kill(int(self._told.split()[0]), signal.SIGKILL)
        while self._code() is None:
            time.sleep(0.02)

    def _code(self) -> int | None:
        while select.select([self._ended], [], [], 0)[0]:
            data = os.read(self._ended, 64)
            if not data:
                return int(self._told.split()[1])
            self._told += data
        return None

    def _read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        self.seen += os.read(self.master, 65_536).decode("utf-8", "replace").replace("\r\n", "\n")
        return True
