"""Where a cluster keeps its files, and who may look into them."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.cluster.account import Account
from app.cluster.address import PORT
from app.cluster.locks import is_held
from app.errors import ClusterError

TEMPORARY_DATA = "chatctx-temporary"
_SYSTEM_DATA = Path("/var/lib/chatctx")
_HOLDERS = "holders.lock"
# Names the home whose data is in a place elsewhere.
_HOME_NOTE = "home.location"
# The shortest limit of the systems we run on (macOS), less the final NUL.
_SOCKET_PATH_LIMIT = 103


@dataclass(frozen=True)
class Layout:
    """The files of one cluster. All but the data and the socket belong to whoever starts it, also when that is root.

    Attributes:
        folder: the cluster's own folder, which holds all but perhaps the socket.
    """

    folder: Path

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def unfinished(self) -> Path:
        """The data directory while it is being made."""
        return self.folder / "data.unfinished"

    @property
    def log(self) -> Path:
        """What the server reports."""
        return self.folder / "postgres.log"

    @property
    def access_rules(self) -> Path:
        """The server's pg_hba.conf, outside the data directory so that the server's account cannot change it."""
        return self.folder / "pg_hba.conf"

    @property
    def secrets(self) -> Path:
        """The passwords by role."""
        return self.folder / "secrets.json"

    @property
    def turnstile(self) -> Path:
        """Lock of whoever starts or stops the server."""
        return self.folder / "starting.lock"

    @property
    def holders(self) -> Path:
        """Lock shared by all who use the server."""
        return self.folder / _HOLDERS


def settle(home: Path, name: str, account: Account, *, spare: Path | None = None) -> Layout:
    """Make the cluster's folder in `home`, or below `spare` when the server's account cannot reach `home`.

    Folders that were there keep their modes. A note in `home` names the other place. Unless told otherwise that is in
    the system's place for data, for a temporary home in another temporary folder.

    Raises:
        ClusterError: the folder cannot be made or belongs to somebody else.
    """
    home = Path(os.path.realpath(home))
    try:
        _make_home(home, account)
        reached = not account.switched or account.can_enter(home)
        parent = home if reached else _elsewhere(home, name, account, spare or _spare_for(home))
        folder = parent / name
        # Root's folder may be crossed, because the server's account has to; its files are private one by one.
        _make(folder, 0o711 if account.switched else 0o700)
    except OSError as error:
        raise ClusterError(
            f"The folder for PostgreSQL cannot be made: {error.filename}: {error.strerror}. "
            "Set CHATCTX_HOME to a folder that you may write to, or DATABASE_URL to a PostgreSQL of your own."
        ) from error
    _check_owner(folder, os.geteuid())
    return Layout(folder)


def socket_folder(layout: Layout, account: Account) -> Path:
    """Make a folder that only the server's account (and root) may enter, with a path short enough for a Unix socket.

    Raises:
        ClusterError: somebody else made a folder of that name.
    """
    folder = next(place for place in _socket_places(layout, account) if _fits(place))
    if _make(folder, 0o700):
        account.take(folder)
    _check_owner(folder, account.uid)
    if folder.lstat().st_mode & 0o077:
        raise ClusterError(f"{folder} is open to other users. Remove it; it is made anew.")
    return folder


def _socket_places(layout: Layout, account: Account) -> Iterator[Path]:
    """Yield where the socket may be, best first; a system that needs no temporary folder may have none."""
    yield layout.folder / "socket"
    digest = hashlib.sha256(os.fsencode(layout.folder)).hexdigest()[:12]
    name = f"chatctx-{account.uid}-{digest}"
    yield Path(tempfile.gettempdir()) / name
    yield Path("/tmp") / name  # noqa: S108 - owner and mode are checked


def remove(layout: Layout, home: Path) -> None:
    """Delete a cluster's folder, and what of its other place is then empty."""
    shutil.rmtree(layout.folder, ignore_errors=True)
    place = layout.folder.parent
    if place != Path(os.path.realpath(home)) and not any(place.glob("postgres-*")):
        shutil.rmtree(place)
        (home / f"{layout.folder.name}.location").unlink(missing_ok=True)


def _fits(folder: Path) -> bool:
    return len(os.fsencode(folder / f".s.PGSQL.{PORT}")) <= _SOCKET_PATH_LIMIT


def _make_home(home: Path, account: Account) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    _make(home, 0o711 if account.switched else 0o700)


def _elsewhere(home: Path, name: str, account: Account, spare: Path) -> Path:
    """Choose a place by the home's path, because two homes may be unreachable."""
    place = spare / hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    _refuse_if_moved(home / f"{name}.location", place)
    spare.parent.mkdir(parents=True, exist_ok=True)
    for folder in (spare, place):
        _make(folder, 0o711)
        _check_owner(folder, os.geteuid())
    if spare != _SYSTEM_DATA:
        _sweep(spare)
    (place / _HOME_NOTE).write_text(str(home), encoding="utf-8")
    if not account.can_enter(place):
        raise ClusterError(
            f"The user that runs PostgreSQL (uid {account.uid}) can enter neither {home} nor {place}. "
            "Set CHATCTX_HOME to a folder below which it may go, or start the server as an ordinary user."
        )
    _write_note(home / f"{name}.location", place)
    return place


def _spare_for(home: Path) -> Path:
    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    return temporary / TEMPORARY_DATA if home.is_relative_to(temporary) else _SYSTEM_DATA


def _sweep(spare: Path) -> None:
    """Delete what belonged to temporary homes that are gone, as tests leave them."""
    for note in spare.glob(f"*/{_HOME_NOTE}"):
        gone = not Path(note.read_text(encoding="utf-8")).exists()
        if gone and not any(is_held(lock) for lock in note.parent.glob(f"*/{_HOLDERS}")):
            shutil.rmtree(note.parent, ignore_errors=True)


def _refuse_if_moved(note: Path, place: Path) -> None:
    """An empty database in place of the full one would look like lost data."""
    if not note.exists():
        return
    noted = Path(note.read_text(encoding="utf-8").strip())
    if noted != place and noted.exists() and not place.exists():
        raise ClusterError(
            f"{note.parent} was moved, but its database is still at {noted}. "
            f"Move it with: mv {noted} {place}. Or delete {note} to begin with an empty database."
        )


def _write_note(note: Path, place: Path) -> None:
    if not note.exists() or note.read_text(encoding="utf-8").strip() != str(place):
        note.write_text(f"{place}\n", encoding="utf-8")


def _make(folder: Path, mode: int) -> bool:
    """Make a folder with exactly this mode. Returns False for one that exists, which is left as it is."""
    try:
        folder.mkdir(mode=mode)
    except FileExistsError:
        return False
    # The umask may have taken away more.
    folder.chmod(mode)
    return True


def _check_owner(folder: Path, uid: int) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise ClusterError(f"{folder} is not a folder. Remove it; it is made anew.")
    if found.st_uid != uid:
        raise ClusterError(
            f"{folder} belongs to another user (uid {found.st_uid}, not {uid}). "
            "Start the server as the user who made it, or set CHATCTX_HOME to another folder."
        )
