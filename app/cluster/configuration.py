"""The settings that the server is started with."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from app.errors import ClusterError

# Every local login needs its password, whoever knocks at the socket.
ACCESS_RULES = "# Written at every start.\nlocal all all scram-sha-256\n"

_GUARDED = {
    # Reached through the socket only.
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    # No text of a query reaches the log, not even inside an error's message ("invalid input: ..."): errors go to the
    # client that made them, and the log keeps what concerns the server.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_duration": "off",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_lock_waits": "off",
    "debug_print_parse": "off",
    "debug_print_plan": "off",
    "debug_print_rewritten": "off",
    "logging_collector": "off",
    "log_destination": "stderr",
}

_DEFAULTS = {
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "password_encryption": "scram-sha-256",
    # Passwords are 256 random bits: stretching them would only make every connection dearer.
    "scram_iterations": "1",
    # Nothing subscribes to another database: one process less.
    "max_logical_replication_workers": "0",
    # Compiling a plan costs more than any of our queries.
    "jit": "off",
}

_SCRATCH = {
    # Tests throw their data away: nothing has to survive a crash.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, not written to
# Docker gives 64 MB, too little for a parallel index build.
_ENOUGH_SHARED_MEMORY = 512 * 1024**2


def server_settings(chosen: Mapping[str, str], *, durable: bool, access_rules: Path, sockets: Path) -> dict[str, str]:
    """Return all settings of the server, the caller's choices over our defaults.

    Raises:
        ClusterError: the caller chose one that guards privacy or access.
    """
    guarded = {**_GUARDED, "hba_file": str(access_rules), "unix_socket_directories": _quoted(sockets)}
    for name in chosen:
        if name.lower() in guarded:
            raise ClusterError(f"The PostgreSQL setting {name} keeps the database private and cannot be changed.")
    scratch = {} if durable else _SCRATCH
    return {**_DEFAULTS, **_shared_memory(), **scratch, **chosen, **guarded}


def _quoted(folder: Path) -> str:
    """The setting is a list: a comma or a space in the path would split it."""
    return '"' + str(folder).replace('"', '""') + '"'


def _shared_memory() -> dict[str, str]:
    return {} if _has_shared_memory() else {"dynamic_shared_memory_type": "mmap"}


def _has_shared_memory() -> bool:
    if not sys.platform.startswith("linux"):
        return True
    try:
        found = os.statvfs(_SHARED_MEMORY)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize >= _ENOUGH_SHARED_MEMORY
