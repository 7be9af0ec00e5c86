"""Throw-away environments for checks that name their packages: built once, outside the confinement, from a lock.

An environment lies in a cache under a key of its lock and of what it is built for. It is built beside its place and
moved there when whole, and what was changed in it since is found before each use: then it is built anew. Nothing in a
package is executed while it is built.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.record import Runner
from review.verify.locks import NPM_LOCK, PACKAGE_JSON, QUIET, Pins, find_npm, read_lock, run_installer
from review.verify.needs import NotAtHand

FOLDER = "check-packages"
_TREE, _SEAL = "tree", "seal"


@dataclass(frozen=True)
class Packages:
    """Where environments are kept, and where their locks.

    Attributes:
        cache: folder of environments; may be deleted at any time.
        records: folder of records, in which `locks/` lies.
    """

    cache: Path
    records: Path

    def ready(self, pins: Pins) -> Path:
        """Return the folder of an environment, as it was built: a virtual environment, or one with `node_modules`.

        Raises:
            NotAtHand: it is not in the cache and cannot be fetched.
            OSError: the cache or the locks cannot be written.
        """
        lock = read_lock(self.records, pins)
        key = _key(pins, lock)
        self.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(self.cache / f".{key}.lock"):
            place = self.cache / key
            if not _is_as_built(place):
                self._build(place, pins, lock)
        return place / _TREE

    def _build(self, place: Path, pins: Pins, lock: bytes) -> None:
        # Whoever was killed here left a part behind, and nobody else is at work on this key.
        for left in (place, *self.cache.glob(f"partial-{place.name}-*")):
            shutil.rmtree(left, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix=f"partial-{place.name}-", dir=self.cache))
        try:
            tree = partial / _TREE
            _install_python(tree, pins, lock) if pins.runner is Runner.PYTHON else _install_node(tree, pins, lock)
            _open_to_others(tree)
            (partial / _SEAL).write_text(_digest(tree))
            partial.rename(place)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _key(pins: Pins, lock: bytes) -> str:
    """Return the key: what is built for another Python or processor is another environment."""
    suits = str(sysconfig.get_config_var("SOABI")) if pins.runner is Runner.PYTHON else sys.platform
    told = [pins.runner.value, pins.text, suits, platform.machine(), sys.base_prefix]
    return hashlib.sha256(json.dumps(told).encode() + lock).hexdigest()[:32]


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until nobody else, here or in another process, works on it."""
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install_python(tree: Path, pins: Pins, lock: bytes) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    run_installer([base, "-I", "-m", "venv", "--without-pip", str(tree)], pins, tree.parent)
    wanted = tree.parent / "lock.txt"
    wanted.write_bytes(lock)
    pip = [sys.executable, "-m", "pip", "--python", str(tree / "bin" / "python"), "--disable-pip-version-check"]
    exact = ("--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-input", "--quiet")
    # What pip would compile, it would compile with times in it.
    run_installer([*pip, "install", *exact, "--no-compile", "-r", str(wanted)], pins, tree.parent, {"PIP_USER": "0"})
    # Their first lines name the place where it was built.
    for script in (tree / "bin").iterdir():
        if not script.is_symlink():
            script.unlink()


def _install_node(tree: Path, pins: Pins, lock: bytes) -> None:
    npm = find_npm(pins)
    _need_hashes(pins, lock)
    tree.mkdir()
    (tree / PACKAGE_JSON).write_text(pins.package_json())
    (tree / NPM_LOCK).write_bytes(lock)
    run_installer([npm, "ci", "--ignore-scripts", *QUIET], pins, tree)


def _need_hashes(pins: Pins, lock: bytes) -> None:
    """Refuse what npm would take: a lock without the hash of a file."""
    try:
        packages = json.loads(lock).get("packages", {})
        bare = [name for name, entry in packages.items() if name and not entry.get("integrity")]
    except (ValueError, AttributeError) as error:
        raise NotAtHand(f"the lock of {pins.text} cannot be read: delete it, and it is made anew") from error
    if bare:
        raise NotAtHand(
            f"the lock of {pins.text} has no hash for {len(bare)} of its files: delete it, and it is made anew"
        )


def _open_to_others(tree: Path) -> None:
    """Checks of root run as a user of their own, who must be able to read it whatever the builder's mask."""
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(stat.S_IMODE(mode) | (0o755 if path.is_dir() or mode & stat.S_IXUSR else 0o644))


def _is_as_built(place: Path) -> bool:
    try:
        return (place / _SEAL).read_text() == _digest(place / _TREE)
    except (OSError, UnicodeDecodeError):
        return False


def _digest(tree: Path) -> str:
    """Return a hash of all there is in a folder: names, kinds, contents and the right to execute."""
    whole = hashlib.sha256()
    for path in sorted(tree.rglob("*")):
        mode = path.lstat().st_mode
        content = _link_or_bytes(path, mode)
        told = (str(path.relative_to(tree)), str(stat.S_IFMT(mode)), str(mode & stat.S_IXUSR))
        whole.update("\0".join(told).encode("utf-8", "surrogateescape") + b"\0" + hashlib.sha256(content).digest())
    return whole.hexdigest()


def _link_or_bytes(path: Path, mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return os.fsencode(path.readlink())
    return path.read_bytes() if stat.S_ISREG(mode) else b""
