"""Starts one program in confinement. Run as a program of its own (`python -I -S launch.py SPEC`), standard library
only.

It is a separate process so that namespaces, limits and the change of user never touch the caller, which may have
threads. On Linux it takes what the system permits: own mount, network, process and IPC namespaces (as an ordinary
user inside a user namespace), a read-only view of the file system with everything private covered, a working folder
in memory that cannot grow without end, a loopback interface and nothing else. Limits and the change of user always
hold.

Which walls stand, and in a second line why the program could not be started, is said on a descriptor that the program
never has, so that it cannot say so itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any, NoReturn

_CLONE_NEWNS, _CLONE_NEWUTS, _CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_NAMESPACES = _CLONE_NEWNS | _CLONE_NEWUTS | _CLONE_NEWIPC | _CLONE_NEWPID | _CLONE_NEWNET
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = 442, -100, 0x8000, 1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
# Shared memory is asked for at this path alone, by PostgreSQL and by Python's multiprocessing.
_WRITABLE_COVERS = ("/dev/shm",)  # noqa: S108 - an empty one of the program's own
_SHARED_MEMORY = "mode=1777,size=64m,nr_inodes=4k"
_EMPTY = "mode=0755,size=1m"


def main() -> NoReturn:
    """Confine this process as the spec says and become its program."""
    spec = json.loads(sys.argv[1])
    report = dict.fromkeys(("namespaces", "files", "disk", "network", "user"), False)
    # A working folder stays within reach of whoever is in it, also when it is covered.
    os.chdir("/")
    # The folders around what stays visible must be passable, whatever the caller's mask.
    os.umask(0o022)
    if sys.platform == "linux" and spec["namespaces"]:
        report["namespaces"] = _enter_namespaces()
    if report["namespaces"]:
        _become_init_of_a_child()
        report |= _cover_files(spec)
        report["network"] = _raise_loopback()
        _wait_for_a_child()
    _limit(spec["limits"])
    report["user"] = _drop_user(spec["uid"])
    fcntl.fcntl(spec["report"], fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    os.write(spec["report"], json.dumps(report).encode() + b"\n")
    try:
        os.chdir(spec["work"])
        os.execve(spec["argv"][0], spec["argv"], spec["env"])  # noqa: S606 - the point of this program
    except OSError as error:
        os.write(spec["report"], json.dumps(error.strerror).encode() + b"\n")
        sys.exit(1)


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _enter_namespaces() -> bool:
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        return bool(_libc().unshare(_NAMESPACES) == 0)
    if _libc().unshare(_NAMESPACES | _CLONE_NEWUSER) != 0:
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    except OSError:
        return False
    return True


def _become_init_of_a_child() -> None:
    """Go on as the first process of the new process namespace: when it ends, the kernel ends everything in it."""
    _follow(os.fork())
    _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _wait_for_a_child() -> None:
    """Stay behind as init and let a child go on, which then has ordinary signals."""
    _follow(os.fork())


def _follow(child: int) -> None:
    """In the parent: wait for the child and end as it ended. In the child: return."""
    if child == 0:
        return
    with contextlib.suppress(OSError):
        os.closerange(3, 256)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _cover_files(spec: dict[str, Any]) -> dict[str, bool]:
    if _libc().mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return {}
    work = spec["work"]
    places = sorted([*spec["keep"], work], key=len)
    opened = {place: os.open(place, os.O_PATH) for place in places}
    whole = _set_read_only("/", on=True, recursive=True)
    # From the outside in: what is private in a folder that stays visible is covered after that folder is shown again.
    for cover in sorted(spec["cover"], key=len):
        whole &= _cover(cover)
        for place in places:
            if place.startswith(cover + "/"):
                whole &= _bind(opened[place], place)
        # The cover belongs to whoever mounted it, so its mode would not keep that user from writing into it.
        if cover not in _WRITABLE_COVERS:
            whole &= _set_read_only(cover, on=True, recursive=False)
    bounded = _bounded_work(opened[work], spec)
    whole &= bounded or _unlock_work(opened[work], work)
    # Without this the processes outside would be seen; not permitted inside some containers.
    _libc().mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV, None)
    for descriptor in opened.values():
        os.close(descriptor)
    return {"files": whole and spec["coverable"], "disk": bounded}


def _cover(place: str) -> bool:
    """Put an empty folder, or an empty file, in the place of another."""
    if Path(place).is_dir():
        return _mount_memory(place, _SHARED_MEMORY if place in _WRITABLE_COVERS else _EMPTY)
    return bool(_libc().mount(b"/dev/null", place.encode(), None, _MS_BIND, None) == 0)


def _mount_memory(place: str, options: str) -> bool:
    flags = _MS_NOSUID | _MS_NODEV
    return bool(_libc().mount(b"tmpfs", place.encode(), b"tmpfs", flags, options.encode()) == 0)


def _bounded_work(descriptor: int, spec: dict[str, Any]) -> bool:
    """Let the working folder be one in memory, of a limited size, with the same files."""
    work, uid = Path(spec["work"]), spec["uid"]
    owner = "" if uid is None else f",uid={uid},gid={uid}"
    if not _mount_memory(str(work), f"mode=0700,size={spec['work_bytes']},nr_inodes={spec['work_files']}{owner}"):
        return False
    for file in Path(f"/proc/self/fd/{descriptor}").iterdir():
        copy = work / file.name
        copy.write_bytes(file.read_bytes())
        if uid is not None:
            os.chown(copy, uid, uid)
    return True


def _bind(descriptor: int, place: str) -> bool:
    """Show a folder again at its own path inside a covered one."""
    Path(place).mkdir(parents=True, exist_ok=True)
    return bool(_libc().mount(f"/proc/self/fd/{descriptor}".encode(), place.encode(), None, _MS_BIND, None) == 0)


def _unlock_work(descriptor: int, work: str) -> bool:
    mounted = os.path.ismount(work) or _bind(descriptor, work)
    return mounted and _set_read_only(work, on=False, recursive=False)


def _set_read_only(place: str, *, on: bool, recursive: bool) -> bool:
    attributes = struct.pack("QQQQ", _ATTR_RDONLY if on else 0, 0 if on else _ATTR_RDONLY, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    return bool(_libc().syscall(_MOUNT_SETATTR, _AT_FDCWD, place.encode(), flags, attributes, len(attributes)) == 0)


def _raise_loopback() -> bool:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            request = struct.pack("16sh14x", b"lo", 0)
            flags = struct.unpack("16sh14x", fcntl.ioctl(probe, _SIOCGIFFLAGS, request))[1]
            fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))
    except OSError:
        return False
    return True


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # macOS refuses some of these; the others still hold.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (bound, bound))


def _drop_user(uid: int | None) -> bool:
    if uid is not None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return os.geteuid() != 0


if __name__ == "__main__":
    main()
