"""What all tests share: an environment of their own, and databases on a PostgreSQL that lives as long as the run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cluster import Cluster, scratch_cluster
from app.embedding.onnx import OnnxEmbedder
from app.recordfile import read_record, record_paths
from app.store.catalogue import PostgresCatalogue
from tests.databases import Database, DatabaseServer
from tests.fakes import HashingEmbedder

_RECORDS = Path(__file__).resolve().parents[1] / "records"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run choose the oldest PostgreSQL that the wheel holds."""
    parser.addoption(
        "--postgres", type=int, choices=(16, 18), default=18, help="major version of PostgreSQL to test on"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Forget the caller's settings: a test must not find somebody's real database."""
    for name in list(os.environ):
        if name.startswith(("CHATCTX_", "PG")) or name in ("DATABASE_URL", "OWNER_DATABASE_URL"):
            del os.environ[name]


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run an empty PostgreSQL in a folder of this test run; another run at the same time has another."""
    with scratch_cluster(tmp_path_factory.mktemp("postgres"), major=request.config.getoption("postgres")) as running:
        yield running


@pytest.fixture(scope="session")
def database_server(cluster: Cluster) -> Iterator[DatabaseServer]:
    """Hand out databases; the migrations run once, into a template."""
    server = DatabaseServer(cluster.address)
    server.make_template()
    yield server
    server.close()


@pytest.fixture
def database(database_server: DatabaseServer) -> Iterator[Database]:
    """Lend a migrated, empty database."""
    with database_server.clone() as lent:
        yield lent


@pytest.fixture
def catalogue(database: Database) -> PostgresCatalogue:
    """Return the catalogue of the database, as the server sees it."""
    return PostgresCatalogue(database.server)


@pytest.fixture
def hashing() -> HashingEmbedder:
    """Return the embedder that `Database.publish` uses."""
    return HashingEmbedder()


@pytest.fixture(scope="session")
def model() -> OnnxEmbedder:
    """Return the shipped model, loaded once."""
    return OnnxEmbedder()


@pytest.fixture(scope="session")
def shipped(database_server: DatabaseServer, model: OnnxEmbedder) -> Iterator[Database]:
    """Lend a database with every shipped record published, once for all that only read it."""
    with database_server.clone() as lent:
        records = [read_record(path).record for path in record_paths(_RECORDS)]
        lent.publish(*records, embedder=model)
        yield lent
