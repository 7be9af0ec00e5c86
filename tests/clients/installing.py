"""Brings public clients onto this machine, once for each lock file; says why where that is not possible."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
AGENTS = HERE / "agents"
LOCKS = HERE / "python"
ENVIRONMENTS = HERE / ".venvs"
OLDEST_NODE = (22, 19)
LONGEST = 600


class NotInstalled(Exception):
    """The clients cannot be had here; the message says why."""


# By registry: one that failed is not asked again in this run, so that a closed network costs one wait and not many.
_failed: dict[str, NotInstalled] = {}


def find_node() -> str:
    """Install the clients for Node and return a Node that can run them."""
    install_npm(HERE)
    for candidate in [*map(str, sorted(MODULES.glob("node-*/bin/node"))), shutil.which("node") or ""]:
        if candidate and version_of(candidate) >= OLDEST_NODE:
            return candidate
    raise NotInstalled("no Node >= 22.19: npm has none for this machine and none is installed")


def version_of(node: str) -> tuple[int, ...]:
    """Return a Node's version, (0,) for what does not run."""
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return (0,)
    return tuple(int(number) for number in re.findall(r"\d+", told))


def install_npm(folder: Path) -> None:
    """Run `npm ci` in a folder unless it was filled from the same lock file."""
    stamp, fingerprint = folder / "node_modules" / ".installed-from", _digest(folder / "package-lock.json")
    if _says(stamp, fingerprint):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not installed: the public MCP clients cannot be had")
    # No install scripts: what is needed are files whose hashes are in the lock.
    patience = ["--fetch-retries=1", "--fetch-timeout=60000"]
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *patience]
    error = _fetch(command, "npm", folder)
    if error is not None:
        reasons = re.findall(r"npm error (?:code |network )?(\S.*)", error) or ["no reason given"]
        raise _noted("npm", f"npm ci failed, the public MCP clients cannot be had: {reasons[0]}")
    stamp.write_text(fingerprint)


def install_agents() -> None:
    """Install the coding agents that are large programs of their own, where that is asked for or done already."""
    present = (AGENTS / "node_modules").is_dir()
    if not present and not os.environ.get("CI"):
        raise NotInstalled("Claude Code and Codex are 360 MB to fetch: run once with CI=true to have them tested")
    install_npm(AGENTS)


def python_of(environment: str) -> Path:
    """Return the Python of a virtual environment, made from its lock file when it is not there yet.

    The project's own environment cannot lend one: each of these has another release of the same SDK.
    """
    lock, place = LOCKS / f"{environment}.lock", ENVIRONMENTS / environment
    python, stamp = place / "bin" / "python", place / "installed-from"
    # Made for this Python and this place; neither survives a change.
    fingerprint = f"{_digest(lock)} {sys.version_info[:2]} {place}"
    if _says(stamp, fingerprint) and os.access(python, os.X_OK):
        return python
    base = getattr(sys, "_base_executable", sys.executable)
    hashed = ["--require-hashes", "--only-binary", ":all:", "--no-deps", "--requirement", str(lock)]
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--retries", "1", "--timeout", "30"]
    make, fill = [base, "-m", "venv", "--clear", str(place)], [str(python), "-m", "pip", "install", *quiet, *hashed]
    for command in (make, fill):
        error = _fetch(command, "pip", HERE)
        if error is not None:
            last = (error.strip() or "no reason given").splitlines()[-1]
            raise _noted("pip", f"the Python clients of {environment} cannot be had: {last}")
    stamp.write_text(fingerprint)
    return python


def _fetch(command: list[str], registry: str, folder: Path) -> str | None:
    """Run a command that may ask a registry; return what it complains of, None when it succeeds."""
    if registry in _failed:
        raise _failed[registry]
    environ = {**os.environ, "PIP_USER": "0"}
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=LONGEST, check=False
    )
    return None if done.returncode == 0 else done.stderr


def _noted(registry: str, reason: str) -> NotInstalled:
    _failed[registry] = NotInstalled(reason)
    return _failed[registry]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _says(stamp: Path, fingerprint: str) -> bool:
    return stamp.exists() and stamp.read_text() == fingerprint
