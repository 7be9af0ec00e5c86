"""The whole knowledge base into one file, and out of it into an empty database."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.cluster.archive import Login, is_archive, read_archive, write_archive
from app.database import Database, open_database, policy_of
from app.errors import ArchiveError, LedgerError
from app.settings import Settings
from app.store.engine import parameters_of
from app.store.guard import verify_published
from app.store.migrating import current_revision
from app.store.preparing import holds_anything, make_ready
from app.store.served import publication
from app.store.tables import SCHEMA, TRANSIENT


def back_up(settings: Settings, path: Path) -> int:
    """Write the database into a new file that only its owner may read, and return its size in bytes.

    Counts of calls and the salts of their days are left out: they end with their day, in backups too. The file is
    there when it is whole, or not at all.

    Raises:
        ArchiveError: there is nothing to back up, or the file is there already or cannot be written.
        Unavailable, ClusterError: the database does not answer.
    """
    with _partial(path) as partial, open_database(settings) as database:
        if current_revision(database.owner) is None:
            raise ArchiveError("There is nothing to back up: this database holds nothing of ours.")
        write_archive(Login(*parameters_of(database.owner)), SCHEMA, partial, without_rows=TRANSIENT)
        _finish(partial, path)
    return path.stat().st_size


def restore(settings: Settings, path: Path) -> int:
    """Fill an empty database from a file, hold every record against its approval, and return how many are served.

    Raises:
        ArchiveError: the database is not empty, or the file cannot be read.
        LedgerError: everything was restored, and served records are not what was approved.
        Unavailable, ClusterError: the database does not answer.
    """
    policy = policy_of(settings)
    with _naming_reason("read"):
        if not is_archive(path):
            raise ArchiveError("This file is no backup.")
    with open_database(settings) as database:
        if holds_anything(database.owner):
            raise ArchiveError("This database is not empty: restore into a new one. Nothing was changed.")
        _fill(database, path)
        if unsound := verify_published(database.server, policy):
            raise LedgerError(f"Restored, but these are not what was approved, and are withheld: {', '.join(unsound)}.")
        return publication(database.server).records


def _fill(database: Database, path: Path) -> None:
    make_ready(database.owner, database.server_login)
    read_archive(Login(*parameters_of(database.owner)), SCHEMA, path)
    # A backup may be older than this program.
    database.migrate()


@contextmanager
def _partial(path: Path) -> Iterator[Path]:
    """Lend an empty private file beside the one that is wanted, for what is not whole yet."""
    if path.is_symlink() or path.exists():
        raise ArchiveError("The file is there already; it was left as it is.")
    with _naming_reason("written"):
        descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".partial", dir=path.parent)
    os.close(descriptor)
    partial = Path(name)
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def _finish(partial: Path, path: Path) -> None:
    """Give what was written its name, which is taken first, lest it became somebody else's in the meantime."""
    with _naming_reason("written"):
        path.touch(0o600, exist_ok=False)
        partial.replace(path)


@contextmanager
def _naming_reason(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArchiveError(f"The file cannot be {what}: {error.strerror}.") from error
