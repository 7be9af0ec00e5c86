"""The operating system user that PostgreSQL runs as: never root, which it refuses."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from app.errors import ClusterError

# The distribution's own account for PostgreSQL first; nobody exists everywhere. We never make one.
_CANDIDATES = ("postgres", "nobody")


class RunAs(TypedDict, total=False):
    """Arguments of subprocess that make a program run as the account."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Account:
    """Who runs the server.

    Attributes:
        uid: user id of the server's processes.
        gid: their group id.
        switched: we are root and the server is not.
    """

    uid: int
    gid: int
    switched: bool

    def run_as(self) -> RunAs:
        """Return the arguments of subprocess that make a program run as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.switched else {}

    def can_enter(self, folder: Path) -> bool:
        """Tell whether the account may enter a folder, by trying: modes alone do not tell."""
        return self._succeeds('cd -- "$1"', folder)

    def can_execute(self, program: Path) -> bool:
        """Tell whether the account reaches a program and may run it."""
        return self._succeeds('test -x "$1"', program)

    def take(self, path: Path) -> None:
        """Give a file or folder that we just made to the account."""
        if self.switched:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def _succeeds(self, script: str, path: Path) -> bool:
        command = ["/bin/sh", "-c", script, "sh", str(path)]
        try:
            done = subprocess.run(command, check=False, capture_output=True, cwd="/", **self.run_as())
        except PermissionError as error:
            raise ClusterError(
                "PostgreSQL does not run as root, and this root may not change to another user. "
                "Start the server as an ordinary user."
            ) from error
        return done.returncode == 0


def server_account() -> Account:
    """Return the account for the server: ourselves, or an existing unprivileged user when we are root.

    Raises:
        ClusterError: we are root and there is no such user.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid(), switched=False)
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid, switched=True)
    raise ClusterError(
        "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as. "
        "Start the server as an ordinary user."
    )
