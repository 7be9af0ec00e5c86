"""Running a program that is not trusted: what it may use, how long, and what it said.

What holds everywhere: a temporary folder of its own as working folder and home, an environment made from nothing,
limits on processor time, memory, processes and file size, a wall-clock limit after which it and its children are
killed, and an unprivileged user when the caller is root. On Linux, where namespaces are permitted, moreover: no
network but its own loopback, a read-only file system in which home and temporary folders, sockets, terminals and what
the caller names as private are covered, a working folder of limited size, and no sight of other processes. Where they
are not permitted (and on macOS) the program can reach the network, read what its user can read and fill the disk.
"""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

WALL_SECONDS = 20
_OUTPUT_BYTES = 65_536
_MEBIBYTE = 1024 * 1024
# Users that exist nowhere: each run gets one, so that its limit on processes counts only its own.
_FIRST_UID, _UIDS = 61_000, 4_000
# In the last two lie sockets and terminals, which can be written to in a read-only file system.
_COVERED = ("/tmp", "/var/tmp", "/dev/shm", "/root", "/home", "/run", "/var/run", "/dev/pts")  # noqa: S108 - not used
# Programs need what is in these, or in the whole of them: only a file or folder inside can be covered.
_SYSTEM = frozenset(("/", "/boot", "/etc", "/lib32", "/libx32", "/nix", "/opt", "/srv", "/var", "/var/lib"))
_SYSTEM_TREES = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/dev", "/proc", "/sys")
_WORK_BYTES, _WORK_FILES = 128 * _MEBIBYTE, 16_384
_LAUNCHER_FAILED = "its confinement could not be set up"
# Whole escape sequences, so that no remains of them are shown: CSI, then OSC and the like, then two characters.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[P\]X^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)


@dataclass(frozen=True)
class Program:
    """What to run.

    Attributes:
        files: content of each file put into the working folder before the start.
        keep: folders that stay visible, for reading, though a folder above them is covered.
        private: folders that must not be seen, and files: with them the folder they lie in, unless it is the system's.
        data_limited: count only memory that is written to; for runtimes that reserve far more than they use.
        needs_account: the unprivileged user must exist in the system's list of users; PostgreSQL looks itself up.
    """

    argv: tuple[str, ...]
    files: Mapping[str, bytes]
    env: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    private: tuple[Path, ...] = ()
    data_limited: bool = False
    needs_account: bool = False


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes:
        code: exit status, 128 + n after signal n; None when it was killed for its time.
        output: what it wrote to stdout and stderr, the last part when it was much, without what a terminal obeys.
        confined: which walls stood: `namespaces`, `files`, `disk`, `network`, `user`.
        not_started: why the program could not be started at all, empty when it was.
    """

    code: int | None
    output: str
    confined: frozenset[str]
    not_started: str = ""

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
            confined, not_started = _report(report)
        return Ended(code, _tail(output), confined, "" if code is None else not_started)


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
    keep = [str(Path(place).resolve()) for place in program.keep if Path(place).is_dir()]
    private = [_coverable(path) for path in program.private]
    places = [*(os.path.realpath(place) for place in _COVERED), _coverable(_home()), *private]
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
        "cover": _needed_covers((place for place in places if place and Path(place).exists()), keep),
        "coverable": all(place is not None for place in private),
        "work_bytes": _WORK_BYTES,
        "work_files": _WORK_FILES,
        "limits": _limits(program, private_user=uid is not None),
        "namespaces": namespaces,
        "report": report,
    }


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        # A user that is in no list has none.
        return Path("/")


def _coverable(path: Path) -> str | None:
    """Return what to cover so that a path is not seen: empty when nobody sees it, None for a folder of the system."""
    real = os.path.realpath(path)
    # Not `Path.is_dir`: what the caller may not look at is not there for the program either.
    if os.path.isdir(real):  # noqa: PTH112
        return None if _is_the_systems(real) else real
    if not os.path.isfile(real):  # noqa: PTH113
        return ""
    folder = str(Path(real).parent)
    return real if _is_the_systems(folder) else folder


def _is_the_systems(folder: str) -> bool:
    return folder in _SYSTEM or any(f"{folder}/".startswith(f"{tree}/") for tree in _SYSTEM_TREES)


def _needed_covers(places: Iterable[str], keep: Iterable[str]) -> list[str]:
    """Leave out what another cover hides already, unless a folder between the two is shown again."""
    needed: list[str] = []
    for one in sorted(set(places), key=len):
        above = [other for other in needed if one.startswith(f"{other}/")]
        if not above or any(f"{one}/".startswith(f"{shown}/") and shown.startswith(f"{above[-1]}/") for shown in keep):
            needed.append(one)
    return needed


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


def _report(pipe: IO[bytes]) -> tuple[frozenset[str], str]:
    """Return the walls that stood, and why the program could not be started."""
    walls, *reasons = [json.loads(line) for line in pipe] or [None]
    if walls is None:
        return frozenset(), _LAUNCHER_FAILED
    problem = f"the program cannot be started as the user it would run as: {reasons[0]}" if reasons else ""
    return frozenset(name for name, stands in walls.items() if stands), problem


def _tail(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _OUTPUT_BYTES))
    return _plain(output.read().decode("utf-8", "replace"))


def _plain(text: str) -> str:
    """Return text without what a terminal obeys or does not show: escape sequences, control and format characters."""
    visible = _ESCAPES.sub("", text)
    return "".join(char for char in visible if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf"))
