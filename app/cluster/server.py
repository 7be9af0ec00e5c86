"""Making a data directory, starting a server on it and stopping it. The caller sees to it that only one does so."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.cluster import postmaster
from app.cluster.account import Account
from app.cluster.address import APP, OWNER, SUPERUSER
from app.cluster.binaries import Binaries
from app.cluster.configuration import ACCESS_RULES, server_settings
from app.cluster.layout import Layout
from app.cluster.postmaster import Postmaster
from app.cluster.serverlog import cap_log, open_log, tail
from app.errors import ClusterError

_BUILTIN_LOCALES_SINCE = 17
# The shell leaves at once, so that the server is nobody's child who would have to collect it.
_DETACH = '"$@" >&2 </dev/null & echo $!'
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
# What is left of a killed server may need a moment to notice that its postmaster is gone.
_ATTEMPTS = 20
_BUSY = "shared memory block"


@dataclass(frozen=True)
class Server:
    """One data directory and how to run a server on it.

    Attributes:
        layout: where its files are.
        account: who runs it.
        binaries: its programs.
        sockets: folder of its socket.
        chosen: settings that the caller wants.
        durable: whether data has to survive a crash of the machine.
        patience: seconds to wait for a start, which includes the recovery after a crash.
    """

    layout: Layout
    account: Account
    binaries: Binaries
    sockets: Path
    chosen: Mapping[str, str]
    durable: bool
    patience: float

    def living(self) -> Postmaster | None:
        """Return the postmaster if one runs, ready or not."""
        return postmaster.living_postmaster(self.layout.data, self.account.uid)

    def passwords(self) -> dict[str, str]:
        """Return the passwords by role that the last start wrote down."""
        try:
            found: dict[str, str] = json.loads(self.layout.secrets.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"{self.layout.secrets} cannot be read. Stop all programs that use this database and start again: "
                "the passwords are made anew."
            ) from error
        return found

    def start(self) -> Postmaster:
        """Start the server, making its data directory if there is none, and wait until it takes connections.

        Raises:
            ClusterError: it does not start; the message has the last lines of its log.
        """
        self._prepare()
        for attempt in range(_ATTEMPTS):
            self._clear_remains()
            try:
                return self._await_ready(self._launch())
            except ClusterError:
                # One whose starter was killed at once may have come up after we looked.
                if rival := self.living():
                    return self._await_ready(rival.pid)
                if _BUSY not in tail(self.layout.log) or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.25)
        raise AssertionError("the loop returns or raises")

    def await_ready(self, found: Postmaster) -> Postmaster | None:
        """Wait for a server that somebody else started; None when it stops instead."""
        if found.status == "stopping":
            # It may be waiting for its clients to leave: they would wait for ever for it.
            postmaster.end(found, self.layout.data, self.account.uid, patience=self.patience)
            return None
        try:
            return self._await_ready(found.pid)
        except ClusterError:
            if self.living() is None:
                return None
            raise

    def stop(self, *, patience: float = 20.0) -> None:
        """Stop the server if it runs."""
        found = self.living()
        if found is not None:
            postmaster.end(found, self.layout.data, self.account.uid, patience=patience)

    def _prepare(self) -> None:
        known = self.layout.secrets.exists()
        if not known:
            _write_private(self.layout.secrets, json.dumps(_new_passwords()))
        self.layout.access_rules.write_text(ACCESS_RULES, encoding="utf-8")
        self.layout.access_rules.chmod(0o644)
        cap_log(self.layout.log)
        if not self.layout.data.exists():
            self._make_data()
        elif not known:
            self._reset_superuser()

    def _make_data(self) -> None:
        """Make the data directory under another name first: one that was interrupted is begun again."""
        unfinished = self.layout.unfinished
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        self.account.take(unfinished)
        password = self.layout.folder / "password.once"
        try:
            _write_private(password, self.passwords()[SUPERUSER])
            self.account.take(password)
            self._run(
                [
                    str(self.binaries.initdb), f"--pgdata={unfinished}", f"--username={SUPERUSER}",
                    f"--pwfile={password}", "--auth=scram-sha-256", "--encoding=UTF8", "--data-checksums",
                    *self._locale(), *([] if self.durable else ["--no-sync"]),
                ]
            )  # fmt: skip
        finally:
            password.unlink(missing_ok=True)
        unfinished.rename(self.layout.data)

    def _locale(self) -> list[str]:
        """The same order and case on every system: the built-in locale, or the like of it before it existed."""
        if self.binaries.major >= _BUILTIN_LOCALES_SINCE:
            return ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        return ["--locale=C.UTF-8" if _system_has("C.UTF-8") else "--locale=C"]

    def _reset_superuser(self) -> None:
        """Give the superuser the new password when the file with the old one is lost; the other roles follow later."""
        self._clear_remains()
        statement = f"ALTER ROLE {SUPERUSER} PASSWORD '{self.passwords()[SUPERUSER]}'\n"
        command = [str(self.binaries.postgres), "--single", "-D", str(self.layout.data), *self._options(), "template1"]
        self._run(command, given=statement)

    def _run(self, command: list[str], *, given: str = "") -> None:
        done = subprocess.run(
            command, input=given, text=True, errors="replace", capture_output=True, check=False, cwd="/",
            env=_ENVIRONMENT, umask=0o077, **self.account.run_as(),
        )  # fmt: skip
        if done.returncode != 0:
            program = Path(command[0]).name
            raise ClusterError(f"{program} failed: {done.stderr.strip() or done.stdout.strip() or done.returncode}")

    def _clear_remains(self) -> None:
        """Remove what a killed server left: processes, and the socket's files. Its pid file it judges itself."""
        if postmaster.read_pid_file(self.layout.data) is not None:
            postmaster.end_orphans(self.layout.data, self.account.uid)
        for path in self.sockets.glob(".s.PGSQL.*"):
            path.unlink(missing_ok=True)

    def _launch(self) -> int:
        stale = postmaster.read_pid_file(self.layout.data)
        # PostgreSQL takes any living process with the pid in its file for a rival, unless it is told that this one is
        # its own grandparent. We know that it is another program that was given the pid since.
        environment = {**_ENVIRONMENT, **({"PG_GRANDPARENT_PID": str(stale.pid)} if stale else {})}
        command = ["/bin/sh", "-c", _DETACH, "sh", str(self.binaries.postgres), "-D", str(self.layout.data)]
        with open_log(self.layout.log) as log:
            done = subprocess.run(
                [*command, *self._options()], stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL, check=True,
                cwd="/", env=environment, umask=0o077, start_new_session=True, **self.account.run_as(),
            )  # fmt: skip
        return int(done.stdout)

    def _options(self) -> list[str]:
        settings = server_settings(
            self.chosen, durable=self.durable, access_rules=self.layout.access_rules, sockets=self.sockets
        )
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _await_ready(self, pid: int) -> Postmaster:
        """Wait as long as it lives: after a crash it first has to replay its log, which may take minutes."""
        deadline = time.monotonic() + self.patience
        while postmaster.is_alive(pid):
            found = postmaster.read_pid_file(self.layout.data)
            if found and found.pid == pid and found.status == "ready":
                return found
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"PostgreSQL (process {pid}) is still starting after {self.patience:.0f} seconds. It goes on by "
                    f"itself: try again later. Its log is {self.layout.log}."
                )
            time.sleep(0.01)
        raise ClusterError(f"PostgreSQL did not start. Its log, {self.layout.log}, ends with:\n{tail(self.layout.log)}")


def _system_has(locale: str) -> bool:
    lister = shutil.which("locale", path=_ENVIRONMENT["PATH"])
    if lister is None:
        return False
    done = subprocess.run([lister, "-a"], capture_output=True, text=True, check=False, env=_ENVIRONMENT)
    return locale.replace("-", "").lower() in done.stdout.replace("-", "").lower().split()


def _new_passwords() -> dict[str, str]:
    return {role: secrets.token_urlsafe(32) for role in (SUPERUSER, OWNER, APP)}


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
