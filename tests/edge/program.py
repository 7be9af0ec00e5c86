"""A server in a process of its own: `python -m tests.edge.program SETTINGS_JSON [DATABASE_URL]`.

It prints its port when it answers. A search for `wait N` prints `working` and takes N seconds. Without a database its
store is in memory.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.access import Access, load_peppers
from app.errors import AppError
from app.operations import OPERATIONS
from app.ports import AccessStore
from app.settings import Settings
from app.store.access import PostgresAccessStore
from app.store.engine import server_engine
from app.transports.http import EdgeServices, create_app
from app.transports.server import bind, serve
from tests.access.memorystore import MemoryAccessStore, RealClock
from tests.edge.answers import answer_offline


def main() -> int:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    settings = Settings(**{"port": 0, **json.loads(sys.argv[1])})
    store: AccessStore = MemoryAccessStore()
    if len(sys.argv) > 2:
        store = PostgresAccessStore(server_engine(sys.argv[2]))
    access = Access(store, load_peppers(Path(settings.home) / "pepper"), settings, RealClock())
    try:
        listener = bind(settings)
    except AppError as error:
        sys.stderr.write(error.message + "\n")
        return 1
    app = create_app(EdgeServices(settings, access, OPERATIONS, answer_slowly, "Test.", {}, lambda: {"database": True}))
    return serve(app, listener, lambda _host, port: tell(str(port)))


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def answer_slowly(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    query = arguments.get("query", "")
    # What is no text is for the tool to refuse.
    if isinstance(query, str) and query.startswith("wait "):
        tell("working")
        time.sleep(float(query.removeprefix("wait ")))
    return answer_offline(name, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
