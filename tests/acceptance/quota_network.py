"""A network of one machine with a whole IPv6 /64: `unshare --net python -m tests.acceptance.quota_network URL HOME`.

It starts a server there that listens on every address, calls it from a thousand addresses, and prints how often it got
which status, then what an IPv4 client got.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

from app.store.access import PostgresAccessStore
from app.store.engine import server_engine
from tests.acceptance.quota_wire import Sending, ask, read_answer, request
from tests.edge.running import run_edges
from tests.edge.wire import receive_all

NETWORK = "2001:db8:5:6::"
_FREEBIND = 78


def main() -> None:
    url, home = sys.argv[1:]
    # Every address of the network is this machine's.
    for command in ("link set lo up", f"-6 route add local {NETWORK}/64 dev lo"):
        subprocess.run(["ip", *command.split()], check=True)
    edges = run_edges(Path(home))
    engine = server_engine(url)
    port = next(edges)(store=PostgresAccessStore(engine), host="::").port
    statuses = Counter(status_from(f"{NETWORK}{number:x}", port) for number in range(1, 1001))
    ipv4 = ask(Sending(port, request(port))).status
    next(edges, None)
    engine.dispose()
    words = [f"{status} {statuses[status]}" for status in sorted(statuses)]
    sys.stdout.write(" ".join([*words, f"127.0.0.1: {ipv4}"]))


def status_from(address: str, port: int) -> int:
    """Call from one of the network's addresses."""
    with socket.socket(socket.AF_INET6) as connection:
        connection.setsockopt(socket.IPPROTO_IPV6, _FREEBIND, 1)
        connection.bind((address, 0))
        connection.connect((f"{NETWORK}1", port))
        connection.sendall(request(port))
        return read_answer(receive_all(connection)).status


if __name__ == "__main__":
    main()
