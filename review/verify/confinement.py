"""Running a program that is not trusted: what it may use, how long, and what it said.

What holds everywhere: a temporary folder of its own as working folder and home, an environment made from nothing,
limits on processor time, memory, processes and file size, a wall-clock limit after which it and its children are
killed, and an unprivileged user when the caller is root. On Linux, where namespaces are permitted, moreover: no
network but its own loopback, a read-only file system in which home and temporary folders are covered, and no sight
of other processes. Where they are not permitted (and on macOS) the program can reach the network and read what its
user can read.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from review.verify.launch import NOT_STARTED

WALL_SECONDS = 20
_OUTPUT_BYTES = 65_536
_MEBIBYTE = 1024 * 1024
# Users that exist nowhere: each run gets one, so that its limit on processes counts only its own.
_FIRST_UID, _UIDS = 61_000, 4_000
_COVERED = ("/tmp", "/var/tmp", "/dev/shm", "/root", "/home")  # noqa: S108 - covered, not used


@dataclass(frozen=True)
class Program:
    """What to run.

    Attributes:
        files: content of each file put into the working folder before the start.
        keep: folders that stay visible, for reading, though a folder above them is covered.
        data_limited: count only memory that is written to; for runtimes that reserve far more than they use.
        needs_account: the unprivileged user must exist in the system's list of users; PostgreSQL looks itself up.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes]
    env: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    data_limited: bool = False
    needs_account: bool = False


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes:
        code: exit status, 128 + n after signal n; None when it was killed for its time.
        output: what it wrote to stdout and stderr, the last part when it was much.
        confined: which walls stood: `namespaces`, `files`, `network`, `user`.
    """

    code: int | None
    output: str
    confined: frozenset[str]

    @property
    def not_started(self) -> bool:
        """Whether the program could not be started at all."""
        return NOT_STARTED in self.output

    @property
    def timed_out(self) -> bool:
        """Whether it ran out of time."""
        return self.code is None


def run_confined(program: Program, *, seconds: float = WALL_SECONDS, namespaces: bool = True) -> Ended:
    """Run a program in confinement and wait for it, at most `seconds`.

    Args:
        namespaces: False leaves the walls out that only Linux has.
    """
    with _workplace(program) as (work, uid), tempfile.TemporaryFile() as output:
        read_end, write_end = os.pipe()
        try:
            spec = _spec(program, work, uid, write_end, namespaces=namespaces)
            code = _run(
                [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")), json.dumps(spec)],
                output,
                write_end,
                seconds,
            )
        finally:
            os.close(write_end)
        with os.fdopen(read_end, "rb") as report:
            confined = _report(report)
        return Ended(code, _tail(output), confined)


@contextmanager
def _workplace(program: Program) -> Iterator[tuple[str, int | None]]:
    work = str(Path(tempfile.mkdtemp(prefix="chatctx-check-")).resolve())
    uid = _unprivileged(program) if os.geteuid() == 0 else None
    try:
        for name, content in program.files.items():
            Path(work, name).write_bytes(content)
        if uid is not None:
            for path in (Path(work), *(Path(work, name) for name in program.files)):
                os.chown(path, uid, uid)
        yield work, uid
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _unprivileged(program: Program) -> int:
    if program.needs_account:
        return pwd.getpwnam("nobody").pw_uid
    return _FIRST_UID + int.from_bytes(os.urandom(4), "big") % _UIDS


def _spec(program: Program, work: str, uid: int | None, report: int, *, namespaces: bool) -> dict[str, object]:
    home = str(Path.home().resolve())
    places = dict.fromkeys((*_COVERED, home))
    cover = [place for place in places if place != "/" and Path(place).is_dir() and not Path(place).is_symlink()]
    keep = [str(Path(place).resolve()) for place in program.keep if Path(place).is_dir()]
    env = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": work,
        "TMPDIR": work,
        "USER": "check",
        "LOGNAME": "check",
    }
    return {
        "argv": program.argv,
        "env": {**env, **program.env},
        "work": work,
        "uid": uid,
        "keep": list(dict.fromkeys(keep)),
        "cover": _outermost(cover),
        "limits": _limits(program, private_user=uid is not None),
        "namespaces": namespaces,
        "report": report,
    }


def _outermost(folders: Sequence[str]) -> list[str]:
    return [one for one in folders if not any(one.startswith(other + "/") for other in folders)]


def _limits(program: Program, *, private_user: bool) -> dict[str, int]:
    memory = "RLIMIT_DATA" if program.data_limited else "RLIMIT_AS"
    return {
        "RLIMIT_CPU": WALL_SECONDS,
        memory: 2048 * _MEBIBYTE,
        "RLIMIT_FSIZE": 64 * _MEBIBYTE,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
        # An ordinary user's limit counts all of that user's processes, so it can only be a generous one.
        "RLIMIT_NPROC": 4096 if not private_user else 512 if program.needs_account else 128,
    }


def _run(argv: list[str], output: IO[bytes], report: int, seconds: float) -> int | None:
    process = subprocess.Popen(  # noqa: S603 - argv is ours, without a shell
        argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={}, pass_fds=(report,), start_new_session=True
    )
    try:
        code = process.wait(timeout=seconds)
        return code if code >= 0 else 128 - code
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()


def _report(pipe: IO[bytes]) -> frozenset[str]:
    try:
        walls = json.loads(pipe.read() or b"{}")
    except ValueError:
        return frozenset()
    return frozenset(name for name, stands in walls.items() if stands)


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _OUTPUT_BYTES))
    return output.read().decode("utf-8", "replace")
