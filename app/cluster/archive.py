"""A database into a file and back, with PostgreSQL's own programs as the wheel brings them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.cluster.binaries import client_binaries
from app.errors import ArchiveError

_LOCK_MILLISECONDS = 10_000
_SERVICE = "chatctx"
_BEGINNING = b"PGDMP"


@dataclass(frozen=True)
class Login:
    """How to get into a database.

    Attributes:
        parameters: libpq's, without the password.
        major: the server's major version.
    """

    parameters: Mapping[str, str] = field(repr=False)
    password: str = field(repr=False)
    major: int


def write_archive(login: Login, schema: str, path: Path, *, without_rows: Sequence[str]) -> None:
    """Write a schema into a file, as one moment saw it. A file that is there already is written over.

    Args:
        without_rows: tables of the schema of which only the definition is kept.

    Raises:
        ArchiveError: it could not be written; the message is PostgreSQL's.
    """
    left_out = [f"--exclude-table-data={schema}.{table}" for table in without_rows]
    options = ["--format=custom", f"--schema={schema}", "--no-owner", f"--lock-wait-timeout={_LOCK_MILLISECONDS}"]
    _run("pg_dump", login, [*options, *left_out, f"--file={path.absolute()}"])


def is_archive(path: Path) -> bool:
    """Tell whether a file begins as an archive does. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING


def read_archive(login: Login, schema: str, path: Path) -> None:
    """Make what is in an archive in an existing, empty schema: all of it or nothing.

    Raises:
        ArchiveError: the file is damaged, or something in it could not be made; the message is PostgreSQL's.
    """
    options = [f"--schema={schema}", "--no-owner", "--single-transaction", "--exit-on-error"]
    _run("pg_restore", login, [*options, str(path.absolute())])


def _run(program: str, login: Login, options: Sequence[str]) -> None:
    command = [str(client_binaries(login.major).folder / program), f"--dbname=service={_SERVICE}", "--no-password"]
    with _environment(login) as environ:
        done = subprocess.run(
            [*command, *options], env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", check=False,
        )  # fmt: skip
    if done.returncode != 0:
        raise ArchiveError(f"{program} failed: {_reason(done)}")


@contextmanager
def _environment(login: Login) -> Iterator[dict[str, str]]:
    """Lend an environment that says how to connect: everybody may read a command line."""
    with tempfile.TemporaryDirectory(prefix="chatctx-") as folder:
        service = Path(folder) / "service"
        lines = [f"[{_SERVICE}]", *(f"{name}={value}" for name, value in login.parameters.items())]
        service.write_text("\n".join(lines) + "\n", "utf-8")
        password = {"PGPASSWORD": login.password} if login.password else {}
        yield {**os.environ, **password, "PGSERVICEFILE": str(service), "LC_ALL": "C"}


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Return the line that names the error, of which PostgreSQL's programs may say much more."""
    said = [line.partition(": ")[2] for line in done.stderr.splitlines() if ": error: " in line]
    return (said or [f"error: it ended with {done.returncode}"])[0].removeprefix("error: ")
