"""Locks: what a set of pinned packages needs besides, at which versions, with the hash of every file.

Resolved once, by uv or npm, and kept in `records/locks/`, so that a check means the same next year and elsewhere. A
lock holds for every platform.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.record import Runner
from review.verify.needs import NotAtHand

PACKAGE_JSON, NPM_LOCK = "package.json", "package-lock.json"
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
# What `make lock` promises too.
_OLDEST_PYTHON = "3.11"
_SECONDS = 300
_TOLD = 160
_FOLDER = "locks"


@dataclass(frozen=True)
class Pins:
    """A set of packages as a check names it: each with its exact version."""

    runner: Runner
    text: str

    def versions(self) -> dict[str, str]:
        """Return the version of each named package."""
        mark = "==" if self.runner is Runner.PYTHON else "@"
        parted = (pin.rpartition(mark) for pin in self.text.split())
        return {name: version for name, _, version in parted}

    def lock_name(self) -> str:
        """Return the name of the lock's file: readable, and another one for each set."""
        digest = hashlib.sha256(f"{self.runner.value} {self.text}".encode()).hexdigest()[:12]
        first = re.sub(r"[^a-z0-9.]+", "-", self.text.split()[0].casefold()).strip("-")[:40]
        return f"{first}-{digest}.{'txt' if self.runner is Runner.PYTHON else 'json'}"

    def package_json(self) -> str:
        """Return the `package.json` that asks for this set."""
        return json.dumps({"name": "check", "version": "1.0.0", "private": True, "dependencies": self.versions()})


def read_lock(records: Path, pins: Pins) -> bytes:
    """Return the lock of a set; resolve and keep it when there is none yet.

    Raises:
        NotAtHand: there is none and it cannot be resolved here and now.
    """
    path = records / _FOLDER / pins.lock_name()
    if not path.exists():
        _keep(path, _python_lock(pins) if pins.runner is Runner.PYTHON else _npm_lock(pins))
    return path.read_bytes()


def _keep(path: Path, content: bytes) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    descriptor, partial = tempfile.mkstemp(prefix=".partial-", dir=path.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    Path(partial).chmod(0o644)
    Path(partial).replace(path)


def _python_lock(pins: Pins) -> bytes:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}")
    if uv is None:
        raise NotAtHand(f"{pins.text} has no lock yet, and making one needs uv: pip install uv")
    with tempfile.TemporaryDirectory(prefix="chatctx-lock-") as work:
        wanted = Path(work, "wanted.in")
        wanted.write_text("\n".join(pins.text.split()) + "\n")
        options = ("--universal", "--python-version", _OLDEST_PYTHON, "--generate-hashes", "--only-binary", ":all:")
        plain = ("--quiet", "--no-header", "--no-annotate", "--output-file", str(Path(work, "lock")))
        run_installer([uv, "pip", "compile", str(wanted), *options, *plain], pins, Path(work))
        return Path(work, "lock").read_bytes()


def _npm_lock(pins: Pins) -> bytes:
    npm = find_npm(pins)
    with tempfile.TemporaryDirectory(prefix="chatctx-lock-") as work:
        Path(work, PACKAGE_JSON).write_text(pins.package_json())
        options = ("--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved")
        run_installer([npm, "install", *options, *QUIET], pins, Path(work))
        return Path(work, NPM_LOCK).read_bytes()


def find_npm(pins: Pins) -> str:
    """Return npm's path. Raises NotAtHand."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotAtHand(f"{pins.text} is not in the cache, and npm, which would fetch it, is not on the PATH")
    return npm


def run_installer(command: list[str], pins: Pins, work: Path, env: Mapping[str, str] | None = None) -> None:
    """Run what fetches packages. Raises NotAtHand with its last words when it does not succeed."""
    said = b""
    try:
        done = subprocess.run(  # noqa: S603 - programs of the caller's PATH; a pin cannot be an option
            command, cwd=work, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
        said = done.stderr or done.stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAtHand(f"{pins.text} cannot be installed here: {type(error).__name__}") from error
    if done.returncode != 0:
        raise NotAtHand(f"{pins.text} cannot be installed here: {_last_words(said)}")


def _last_words(said: bytes) -> str:
    """Return the line of an installer that says why, without what a terminal obeys."""
    lines = ["".join(filter(str.isprintable, line)).strip() for line in said.decode("utf-8", "replace").splitlines()]
    telling = [line for line in lines if re.search(r"\berror\b|no solution", line, re.IGNORECASE)]
    first = (telling or lines or ["it said nothing"])[0]
    return first[:_TOLD]
