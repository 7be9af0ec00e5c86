"""A cluster for tests: fast, empty, gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.cluster.cluster import Cluster
from app.cluster.layout import TEMPORARY_DATA


@contextmanager
def scratch_cluster(home: Path, *, major: int = 18, settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Run an empty cluster that survives no crash, and delete it at the end.

    That the server works on its own data directory is checked before it is handed out, so that no test touches a
    database that somebody keeps. The owner may make databases and logins here, so that tests can clone a template.

    Args:
        home: folder of the test, as pytest's `tmp_path_factory` makes.
        major: version of PostgreSQL.
        settings: PostgreSQL settings over those for tests.
    """
    # Root's temporary folders are closed to the server's account.
    spare = Path(tempfile.gettempdir()) / TEMPORARY_DATA
    cluster = Cluster(home, major=major, settings=settings, durable=False, spare=spare)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.destroy()
