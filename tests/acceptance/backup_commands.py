"""The commands of docs/operations.md, run as a person would paste them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.cluster.binaries import wheel_binaries
from tests.acceptance.conftest import ROOT
from tests.databases import Database

DOCUMENT = ROOT / "docs/operations.md"


def blocks(heading: str, document: Path = DOCUMENT) -> list[str]:
    """Return the command blocks of a section up to the next heading, in their order."""
    sections = re.split(r"\n#{2,} ", document.read_text("utf-8"))
    section = next(part for part in sections if part.startswith(f"{heading}\n"))
    return [re.sub(r"(?m)^ +", "", block) for block in re.findall(r"```sh\n(.*?)```", section, re.DOTALL)]


def paste(block: str, environ: Mapping[str, str], *, code: int = 0) -> str:
    """Run a block in a shell that finds `chatctx` and PostgreSQL's programs, and return what it said."""
    done = subprocess.run(
        ["sh", "-eu", "-c", block], env=shell_environ(environ), cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def shell_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of such a shell."""
    places = [str(Path(sys.executable).parent), str(wheel_binaries(18).folder), os.environ["PATH"]]
    return {**os.environ, "PATH": os.pathsep.join(places), **environ}


@dataclass
class Shell:
    """A shell whose commands find a test's database."""

    database: Database
    folder: Path

    @property
    def backup(self) -> Path:
        return self.folder / "kb.dump"

    @property
    def environ(self) -> dict[str, str]:
        urls = {"DATABASE_URL": self.database.app_url, "CHATCTX_OWNER_DATABASE_URL": self.database.owner_url}
        home = {"CHATCTX_HOME": str(self.folder / "home"), "CHATCTX_EMBEDDER": "none"}
        return shell_environ(urls | home) | {"BACKUP": str(self.backup)}

    def run(self, block: str, *, code: int = 0) -> str:
        return paste(block, self.environ, code=code)

    def back_up(self) -> None:
        self.run(BACK_UP)

    def left(self) -> list[str]:
        """Return the files beside the backup, and the backup."""
        return sorted(path.name for path in self.folder.iterdir() if path.name != "home")


BACK_UP = blocks("Back up")[0]
RESTORE = blocks("Restore")[0]
