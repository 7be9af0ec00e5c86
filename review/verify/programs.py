"""Programs that checks ask for: where they are looked for, and which version is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from app.record import Needed

# The PATH of the caller has no say: a check means the same for everybody.
_FOLDERS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/opt/homebrew/bin")
# The launcher of a distribution is a script that asks for more programs.
_BROWSERS = ("/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
# What a shell script may use without asking: POSIX utilities, and what everybody has.
_BASE = (
    "awk", "basename", "cat", "chmod", "cmp", "comm", "cp", "cut", "date", "diff", "dirname", "env", "expr", "false",
    "find", "grep", "head", "id", "kill", "ln", "ls", "mkdir", "mktemp", "mv", "od", "paste", "printf", "pwd", "rm",
    "rmdir", "sed", "seq", "sh", "sleep", "sort", "stat", "tail", "tar", "tee", "test", "touch", "tr", "true", "uname",
    "uniq", "wc", "xargs",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A program and its version."""

    path: str
    version: str


def find_program(needed: Needed) -> Found | None:
    """Return a program in one of its fixed places, None when it is in none of them or does not run."""
    for path in _places(needed):
        if os.access(path, os.X_OK):
            version = ask_version(path, "-v" if needed is Needed.NGINX else "--version")
            if version is not None:
                return Found(path, version)
    return None


def _places(needed: Needed) -> list[str]:
    places = [f"{folder}/{needed.value}" for folder in _FOLDERS]
    if needed is Needed.CHROMIUM:
        return list(_BROWSERS)
    if needed is Needed.HADOLINT:
        # A package of the project's own environment.
        places.insert(0, str(Path(sys.prefix, "bin", "hadolint")))
    return places


def base_programs() -> list[str]:
    """Return the paths of the programs that every shell script may use."""
    found = (
        next((path for path in (f"/usr/bin/{name}", f"/bin/{name}") if os.access(path, os.X_OK)), "") for name in _BASE
    )
    return [path for path in found if path]


def ask_version(program: str, option: str = "--version") -> str | None:
    """Return the version a program says it has, None when it does not run or says none."""
    try:
        done = subprocess.run([program, option], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - a program in a known place
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(done.stdout + done.stderr)
    return match[0] if match else None
