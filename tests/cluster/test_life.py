"""A cluster starts, is shared, stops, and survives what kills it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from app.cluster import Cluster, ClusterError
from app.cluster.account import server_account
from app.cluster.postmaster import wait_until
from tests.cluster.conftest import Holder, count, fill, is_running, kill_server

Hold = Callable[..., Holder]


def test_a_cluster_starts_answers_and_leaves_no_process(home: Path) -> None:
    """What was started is there, and after the stop it is not."""
    with Cluster(home) as cluster:
        server = cluster.status()
        assert server.running
        assert server.in_use
        with psycopg.connect(cluster.address.owner_uri) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert server.pid is not None
    assert not is_running(server.pid)
    assert not cluster.status().running
    assert not cluster.status().in_use


def test_a_second_start_is_fast_and_finds_the_data(home: Path) -> None:
    """The data directory is made once."""
    with Cluster(home) as cluster:
        fill(cluster.address.owner_uri, 3)
    begun = time.monotonic()
    with Cluster(home) as cluster:
        took = time.monotonic() - begun
        assert count(cluster.address.owner_uri) == 3
    assert took < 3


def test_starting_and_stopping_twice_changes_nothing(home: Path) -> None:
    """Both may be called again."""
    cluster = Cluster(home, durable=False)
    assert cluster.start() == cluster.start()
    cluster.stop()
    cluster.stop()
    assert not cluster.status().running


def test_two_clusters_of_one_process_share_the_server(home: Path) -> None:
    """The server stays until the last of them leaves."""
    with Cluster(home, durable=False) as first:
        with Cluster(home, durable=False) as second:
            assert first.status().pid == second.status().pid
        assert first.status().running


def test_the_server_stays_when_its_starter_leaves_first(home: Path, hold: Hold) -> None:
    """Only the last one out stops it."""
    first = hold(home)
    first.said()
    second = hold(home)
    assert second.server == first.server
    first.leave()
    fill(second.uri, 1)
    second.leave()
    assert not is_running(first.server)


def test_six_that_start_at_once_get_one_server(home: Path, hold: Hold) -> None:
    """One makes the data directory, the others wait for it."""
    holders = [hold(home) for _ in range(6)]
    servers = {holder.server for holder in holders}
    assert len(servers) == 1
    for holder in holders:
        holder.leave()
    assert not is_running(servers.pop())


def test_a_killed_server_starts_again_with_all_that_was_committed(home: Path) -> None:
    """The log is replayed, and what is left of the killed server is in nobody's way."""
    cluster = Cluster(home)
    fill(cluster.start().owner_uri, 300)
    pid = cluster.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with Cluster(home) as again:
        assert again.status().pid != pid
        assert count(again.address.owner_uri) == 300
        cluster.stop()


def test_busy_sessions_of_a_killed_server_do_not_stop_the_next(home: Path) -> None:
    """A session that works does not notice that its postmaster is gone; it is ended."""
    cluster = Cluster(home, durable=False)
    uri = cluster.start().owner_uri
    pid = cluster.status().pid
    assert pid is not None
    busy = "SELECT count(*) FROM generate_series(1, 1000000000)"
    client = [sys.executable, "-c", f"import psycopg; psycopg.connect({uri!r}).execute({busy!r})"]
    with subprocess.Popen(client, stderr=subprocess.DEVNULL) as session:
        time.sleep(0.7)
        os.kill(pid, signal.SIGKILL)
        with Cluster(home, durable=False) as again:
            assert again.status().running
            assert session.wait(10) != 0
            cluster.stop()


def test_the_server_of_a_killed_process_is_adopted_and_stopped_by_the_next(home: Path, hold: Hold) -> None:
    """A killed process cannot stop its server; whoever comes next does."""
    killed = hold(home)
    fill(killed.uri, 5)
    killed.kill()
    assert is_running(killed.server)
    heir = hold(home)
    assert heir.server == killed.server
    assert count(heir.uri) == 5
    heir.leave()
    assert not is_running(killed.server)


def test_a_process_that_forgets_to_stop_leaves_no_server(home: Path, hold: Hold) -> None:
    """The end of the interpreter is a stop."""
    holder = hold(home, "forget")
    holder.said()
    holder.leave()
    assert not is_running(holder.server)


def test_a_pid_file_that_names_another_living_program_is_no_obstacle(home: Path) -> None:
    """After a crash the old pid may be anybody's; that program is left alone."""
    with Cluster(home) as cluster:
        fill(cluster.address.owner_uri, 2)
        data = cluster.status().data_directory
        pid_file = (data / "postmaster.pid").read_text(encoding="utf-8")
    account = server_account()
    with subprocess.Popen(["sleep", "600"], **account.run_as()) as foreign:
        lines = pid_file.splitlines()
        lines[0] = str(foreign.pid)
        (data / "postmaster.pid").write_text("\n".join(lines) + "\n", encoding="utf-8")
        account.take(data / "postmaster.pid")
        with Cluster(home) as again:
            assert count(again.address.owner_uri) == 2
        assert foreign.poll() is None
        foreign.kill()


def test_an_interrupted_first_start_is_begun_again(home: Path) -> None:
    """A data directory counts only when it is whole."""
    with Cluster(home, durable=False) as cluster:
        folder = cluster.status().data_directory.parent
    (folder / "data").rename(folder / "data.unfinished")
    (folder / "data.unfinished" / "PG_VERSION").unlink()
    with Cluster(home, durable=False) as again:
        assert again.status().running
    assert not (folder / "data.unfinished").exists()


def test_watched_servers_come_back_after_all_their_processes_are_killed(home: Path, hold: Hold) -> None:
    """Nobody has to restart anything."""
    holder = hold(home, "watch", "durable")
    fill(holder.uri, 7)
    kill_server(holder.server)
    assert wait_until(lambda: _counts(holder.uri, 7), 60)
    holder.leave()


def test_watched_servers_come_back_after_somebody_shut_them_down(home: Path) -> None:
    """Neither a polite shutdown from outside nor a lost socket is the end."""
    cluster = Cluster(home, durable=False)
    uri = cluster.start().owner_uri
    fill(uri, 7)
    cluster.watch()
    pid = cluster.status().pid
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    assert wait_until(lambda: cluster.status().pid not in {pid, None} and _counts(uri, 7), 60)
    (cluster.address.socket_folder / ".s.PGSQL.5432").unlink()
    assert wait_until(lambda: _counts(uri, 7), 60)
    cluster.stop()


def test_only_a_started_cluster_can_be_watched(home: Path) -> None:
    """And only a started one has an address."""
    cluster = Cluster(home, durable=False)
    with pytest.raises(ClusterError, match="start"):
        cluster.watch()
    with pytest.raises(ClusterError, match="start"):
        _ = cluster.address


def test_a_watched_server_comes_back_where_we_are_process_one(home: Path, hold: Hold) -> None:
    """In a container nobody else collects the dead; they are not taken for the living."""
    inside = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    if os.geteuid() != 0 or subprocess.run([*inside, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no process namespaces here")
    holder = hold(home, "watch", "durable", before=inside)
    fill(holder.uri, 7)
    data = Cluster(home, durable=False).status().data_directory
    for process in [*_processes(data)]:
        os.kill(process, signal.SIGKILL)
    assert wait_until(lambda: _counts(holder.uri, 7), 60)
    assert wait_until(lambda: not _uncollected(holder.process.pid), 60)
    holder.leave()
    assert not _processes(data)


def _uncollected(parent: int) -> list[psutil.Process]:
    below = psutil.Process(parent).children(recursive=True)
    return [process for process in below if process.status() == psutil.STATUS_ZOMBIE]


def _processes(data: Path) -> list[int]:
    """Return the server's processes as seen from here, outside its namespace."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve(strict=True) == data:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _counts(uri: str, rows: int) -> bool:
    try:
        return count(uri) == rows
    except psycopg.OperationalError:
        return False
