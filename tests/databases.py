"""Databases for tests: cloned from a template that the migrations made once, on a server of the test run's own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, make_url, text

from app.cluster import ClusterAddress
from app.cluster.address import APP, DATABASE
from app.indexing import embedding_texts
from app.ports import Embedder, Vector
from app.record import Record, content_hash
from app.store.engine import owner_engine, server_engine
from app.store.migrating import upgrade
from app.store.publishing import INDEX_FROM_ROWS, PublishInput, PublishPlan, replace_published
from bench.ledgers import ledger_for
from tests.fakes import HashingEmbedder

TEMPLATE = "template_of_tests"
APPROVED_AT = datetime(2026, 11, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Database:
    """A migrated, empty database of one test, as its owner and as the server see it."""

    name: str
    owner: Engine
    server: Engine
    owner_url: str = field(repr=False)
    app_url: str = field(repr=False)

    def publish(self, *records: Record, embedder: Embedder | None = None, **options: Any) -> PublishPlan:
        """Publish records with vectors of a hashing embedder, unless another is given."""
        return publish(self.owner, records, embedder=embedder or HashingEmbedder(), **options)

    def replace(self, inputs: Sequence[PublishInput], **options: Any) -> PublishPlan:
        """Publish inputs as if an owner had approved exactly these, as a demonstration unless said otherwise."""
        ledger = ledger_for(self.owner, inputs)
        return replace_published(self.owner, inputs, ledger=ledger, **{"demo": True, **options})


def approved(
    record: Record,
    version: int = 1,
    *,
    embedder: Embedder | None = None,
    fixtures: Mapping[str, bytes] | None = None,
    by: str = "owner",
) -> PublishInput:
    """Return a record as an approving ledger states it, with vectors if there is an embedder."""
    files = dict(fixtures or {})
    digest = content_hash(record, files)
    vectors = None if embedder is None else vectors_of(record, embedder)
    return PublishInput(record, digest, version, APPROVED_AT, by, "for a test", files, vectors)


def vectors_of(record: Record, embedder: Embedder) -> dict[str, Vector]:
    """Return a record's vectors by part."""
    texts = embedding_texts(record)
    return dict(zip(texts, embedder.embed(list(texts.values())), strict=True))


def publish(
    owner: Engine,
    records: Sequence[Record],
    *,
    embedder: Embedder | None = None,
    version: int = 1,
    index_from_rows: int = INDEX_FROM_ROWS,
    by: str = "owner",
    demo: bool = True,
) -> PublishPlan:
    """Publish records as if somebody had approved exactly these, each `version` times."""
    inputs = [approved(record, version, embedder=embedder, by=by) for record in records]
    return replace_published(
        owner,
        inputs,
        model=embedder.model if embedder else None,
        ledger=ledger_for(owner, inputs),
        demo=demo,
        index_from_rows=index_from_rows,
    )


class DatabaseServer:
    """Makes and drops databases on the test run's own PostgreSQL."""

    def __init__(self, address: ClusterAddress) -> None:
        self._address = address
        self._numbers = itertools.count(1)
        self._admin = owner_engine(address.owner_url).execution_options(isolation_level="AUTOCOMMIT")

    def url(self, database: str, *, app: bool = False) -> str:
        """Return the address of a database, for its owner or for the server's login."""
        url = make_url(self._address.app_url if app else self._address.owner_url).set(database=database)
        return url.render_as_string(hide_password=False)

    def make_template(self) -> None:
        """Make the template, with everything the migrations make."""
        self.create(TEMPLATE, DATABASE)
        engine = owner_engine(self.url(TEMPLATE))
        upgrade(engine, server_login=APP)
        engine.dispose()

    @contextmanager
    def clone(self, template: str = TEMPLATE) -> Iterator[Database]:
        """Lend a copy of the template, dropped at the end together with its connections."""
        name = f"test_{next(self._numbers)}"
        self.create(name, template)
        owner_url, app_url = self.url(name), self.url(name, app=True)
        database = Database(name, owner_engine(owner_url), server_engine(app_url), owner_url, app_url)
        try:
            yield database
        finally:
            database.server.dispose()
            database.owner.dispose()
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    def create(self, name: str, template: str) -> None:
        """Create a database as a copy of another one, to which nobody may be connected."""
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")

    def run(self, statement: str) -> None:
        """Run a statement as the owner, outside of any test's database."""
        with self._admin.connect() as connection:
            connection.execute(text(statement))

    def close(self) -> None:
        """Close our own connections."""
        self._admin.dispose()
