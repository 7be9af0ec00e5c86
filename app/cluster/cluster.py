"""A cluster: started by whoever comes first, shared, stopped by whoever leaves last."""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from app.cluster.account import server_account
from app.cluster.address import ClusterAddress, address_of
from app.cluster.binaries import reachable_binaries
from app.cluster.layout import remove, settle, socket_folder
from app.cluster.locks import Hold, exclusive, is_held
from app.cluster.postmaster import Postmaster, collect_orphans, has_socket, is_alive, read_pid_file
from app.cluster.roles import prove_pgvector, provide_database, verify_data_directory
from app.cluster.server import Server
from app.cluster.serverlog import cap_log
from app.cluster.watch import Watch
from app.errors import ClusterError


@dataclass(frozen=True)
class ClusterStatus:
    """How a cluster is.

    Attributes:
        running: its server runs and takes connections.
        in_use: some process holds it, perhaps this one.
        pid: the server's main process, None when it does not run.
        major: major version of PostgreSQL.
        data_directory: where the data is.
        log_file: where the server reports.
    """

    running: bool
    in_use: bool
    pid: int | None
    major: int
    data_directory: Path
    log_file: Path


class Cluster:
    """An embedded PostgreSQL with its data below `home`, shared by all processes that name the same `home`.

    Args:
        home: folder for the data, the log and the passwords; made when missing.
        major: version of PostgreSQL. Each has its own data.
        settings: PostgreSQL settings over our defaults.
        durable: False trades the safety of data against a crash of the machine for speed.
        patience: seconds to wait for a start, which includes the recovery after a crash.
        spare: where the data goes when the server's account cannot reach `home`, None for the system's place.
    """

    def __init__(
        self,
        home: Path,
        *,
        major: int = 18,
        settings: Mapping[str, str] | None = None,
        durable: bool = True,
        patience: float = 600.0,
        spare: Path | None = None,
    ) -> None:
        self._home = home
        self._major = major
        self._settings = dict(settings or {})
        self._durable = durable
        self._patience = patience
        self._spare = spare
        self._lock = threading.RLock()
        self._hold: Hold | None = None
        self._watch: Watch | None = None
        self._address: ClusterAddress | None = None
        self._postmaster: Postmaster | None = None
        self._process = 0

    def start(self) -> ClusterAddress:
        """Start the server or join the one that runs, and return where it is. A second call changes nothing.

        Raises:
            ClusterError: it cannot be started; the message says why and what to do.
        """
        with self._lock:
            if self._address is not None:
                return self._address
            server = self._server
            with exclusive(server.layout.turnstile, patience=self._patience):
                hold = Hold(server.layout.holders)
                try:
                    self._bring_up(server)
                except BaseException:
                    hold.release()
                    # One that just crashed does not always heed the polite request.
                    self._stop_if_unused(server, patience=3.0)
                    raise
                self._hold = hold
            self._process = os.getpid()
            atexit.register(self.stop)
            return self._current_address(server)

    def stop(self) -> None:
        """Leave the cluster; the server stops when nobody else uses it. A second call does nothing."""
        if self._watch is not None:
            self._watch.stop()
            self._watch = None
        with self._lock:
            # A fork has a copy of this object, but not its share in the cluster.
            if self._hold is None or self._process != os.getpid():
                return
            atexit.unregister(self.stop)
            with exclusive(self._server.layout.turnstile, patience=self._patience):
                self._hold.release()
                self._hold = self._address = self._postmaster = None
                self._stop_if_unused(self._server)

    def status(self) -> ClusterStatus:
        """Tell how the cluster is, without starting it."""
        layout = self._server.layout
        found = self._server.living()
        return ClusterStatus(
            running=found is not None and found.status == "ready",
            in_use=is_held(layout.holders),
            pid=found.pid if found else None,
            major=self._major,
            data_directory=layout.data,
            log_file=layout.log,
        )

    def watch(self) -> None:
        """From now on, bring the server back by itself when it crashes or is killed, until `stop`.

        Raises:
            ClusterError: the cluster was not started.
        """
        if self._address is None:
            raise ClusterError("Only a cluster that was started can be watched: call start() first.")
        if self._watch is None:
            self._watch = Watch(self._is_well, self._revive)

    def destroy(self) -> None:
        """Leave the cluster and delete it with all its data.

        Raises:
            ClusterError: another process uses it.
        """
        self.stop()
        server = self._server
        with exclusive(server.layout.turnstile, patience=self._patience):
            if is_held(server.layout.holders):
                raise ClusterError(f"Another process uses {server.layout.data}: it was not deleted.")
            server.stop(patience=1.0)
            shutil.rmtree(server.sockets, ignore_errors=True)
            remove(server.layout, self._home)
        del self._server

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> ClusterAddress:
        """Where the started cluster is. Raises ClusterError before `start`."""
        if self._address is None:
            raise ClusterError("The cluster has no address before start().")
        return self._address

    @cached_property
    def _server(self) -> Server:
        account = server_account()
        layout = settle(self._home, f"postgres-{self._major}", account, spare=self._spare)
        return Server(
            layout=layout,
            account=account,
            binaries=reachable_binaries(self._major, account, layout.folder),
            sockets=socket_folder(layout, account),
            chosen=self._settings,
            durable=self._durable,
            patience=self._patience,
        )

    def _current_address(self, server: Server) -> ClusterAddress:
        assert self._postmaster is not None  # noqa: S101 - for the type checker: it was just brought up
        self._address = address_of(self._postmaster.socket_folder or server.sockets, server.passwords())
        return self._address

    def _bring_up(self, server: Server) -> None:
        """Join the running server or start one. To be called under the turnstile."""
        found = server.living()
        joined = server.await_ready(found) if found else None
        self._postmaster = joined or server.start()
        sockets = self._postmaster.socket_folder or server.sockets
        passwords = server.passwords()
        verify_data_directory(sockets, passwords, server.layout.data)
        if joined is None:
            provide_database(sockets, passwords, scratch=not self._durable)
            prove_pgvector(sockets, passwords, server.layout.log)

    @staticmethod
    def _stop_if_unused(server: Server, *, patience: float = 20.0) -> None:
        if not is_held(server.layout.holders):
            server.stop(patience=patience)

    def _is_well(self) -> bool:
        """Look at the process, its own word and its socket: each can go without the others."""
        layout = self._server.layout
        cap_log(layout.log)
        collect_orphans()
        found = read_pid_file(layout.data)
        return found is not None and found.status == "ready" and is_alive(found.pid) and self._has_socket()

    def _has_socket(self) -> bool:
        return self._postmaster is not None and has_socket(self._postmaster.socket_folder or self._server.sockets)

    def _revive(self) -> None:
        with self._lock, exclusive(self._server.layout.turnstile, patience=self._patience):
            if self._hold is None:
                return
            found = self._server.living()
            if found is not None and not self._has_socket():
                # It lives, but nobody can reach it any more: somebody cleaned up its folder.
                self._server.stop()
            self._bring_up(self._server)
