"""Several models at once: each server finds its own, and the owner says when one goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from app.contract import DegradedReason
from app.errors import InvalidInput
from app.store.catalogue import PostgresCatalogue
from app.store.engine import owner_engine
from app.store.models import drop_model, kept_models
from app.store.served import publication
from tests.core.records import make_record
from tests.databases import Database
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask

QUESTION = "list rows"
OLD = HashingEmbedder()
NEW = HashingEmbedder(dims=48, revision="2")


@pytest.fixture
def both(database: Database) -> Database:
    """A record with the vectors of two models, each under an index."""
    for embedder in (OLD, NEW):
        database.publish(make_record(), embedder=embedder, index_from_rows=1)
    return database


def degraded(catalogue: PostgresCatalogue, embedder: HashingEmbedder) -> DegradedReason | None:
    return ask(catalogue, QUESTION, embedder.question(QUESTION)).degraded


def indexes(database: Database) -> int:
    with database.owner.connect() as connection:
        return int(connection.scalar(text("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'hnsw%'")) or 0)


def test_both_models_are_served(both: Database) -> None:
    """Servers on the old model and on the new one find what is theirs."""
    assert publication(both.owner).models == (OLD.model, NEW.model)
    catalogue = PostgresCatalogue(both.server)
    assert [degraded(catalogue, embedder) for embedder in (OLD, NEW)] == [None, None]


def test_record_published_with_one_model_is_found_by_words_with_the_other(both: Database) -> None:
    """Until it is published with that one too: neither publish takes the other's vectors away."""
    catalogue = PostgresCatalogue(both.server)
    records = [make_record(), make_record("another")]
    both.publish(*records, embedder=NEW, index_from_rows=1)
    assert [degraded(catalogue, embedder) for embedder in (OLD, NEW)] == [DegradedReason.PARTIAL_EMBEDDINGS, None]
    both.publish(*records, embedder=OLD, index_from_rows=1)
    assert [degraded(catalogue, embedder) for embedder in (OLD, NEW)] == [None, None]


def test_dropped_model_leaves_nothing(both: Database) -> None:
    """Neither rows nor index; servers that still use it learn it with their next search."""
    catalogue = PostgresCatalogue(both.server)
    assert degraded(catalogue, OLD) is None
    dropped = drop_model(both.owner, OLD.model.revision)
    assert (dropped.model, dropped.records) == (OLD.model, 1)
    assert [(kept.model, kept.records, kept.served) for kept in kept_models(both.owner)] == [(NEW.model, 1, 1)]
    assert degraded(catalogue, OLD) is DegradedReason.EMBEDDING_MODEL_NOT_PUBLISHED
    assert degraded(catalogue, NEW) is None
    assert indexes(both) == 1
    with both.owner.connect() as connection:
        assert connection.scalars(text("SELECT DISTINCT dims FROM record_embedding")).all() == [48]


def test_only_complete_model_is_not_dropped(both: Database) -> None:
    """Search by meaning would end with it."""
    both.publish(make_record(), make_record("another"), embedder=NEW, index_from_rows=1)
    with pytest.raises(InvalidInput, match="publish with another model first"):
        drop_model(both.owner, NEW.model.revision)
    drop_model(both.owner, OLD.model.revision)
    with pytest.raises(InvalidInput, match="publish with another model first"):
        drop_model(both.owner, NEW.model.revision)


def test_unknown_revision_is_said(both: Database) -> None:
    """And nothing is dropped."""
    with pytest.raises(InvalidInput, match="review models"):
        drop_model(both.owner, "no-such")
    assert len(kept_models(both.owner)) == 2


def test_dropping_begun_again_after_an_interruption_ends(both: Database) -> None:
    """Whatever of it was done: here, that servers were told."""
    with both.owner.begin() as connection:
        connection.execute(text("UPDATE embedding_model SET active = false WHERE revision = '1'"))
    drop_model(both.owner, OLD.model.revision)
    assert [kept.model for kept in kept_models(both.owner)] == [NEW.model]


def test_publish_with_a_model_that_is_being_dropped_waits_and_brings_it_back(both: Database) -> None:
    """A publish between the steps would serve a model whose vectors the last step deletes."""
    elsewhere = owner_engine(both.owner_url)
    with ThreadPoolExecutor(2) as pool, elsewhere.connect() as reader:
        # Whoever reads vectors keeps the index from going, and so the dropping between its steps.
        reader.execute(text("SELECT count(*) FROM record_embedding"))
        dropping = pool.submit(drop_model, both.owner, OLD.model.revision)
        wait_until(lambda: active(both) == {"2"})
        publishing = pool.submit(both.publish, make_record(), embedder=OLD, index_from_rows=1)
        time.sleep(0.5)
        assert not publishing.done()
        reader.rollback()
        dropping.result(timeout=20)
        publishing.result(timeout=20)
    elsewhere.dispose()
    assert {kept.model: (kept.records, kept.vectors > 0) for kept in kept_models(both.owner)} == {
        OLD.model: (1, True),
        NEW.model: (1, True),
    }
    assert degraded(PostgresCatalogue(both.server), OLD) is None


def active(database: Database) -> set[str]:
    with database.owner.connect() as connection:
        return set(connection.scalars(text("SELECT revision FROM embedding_model WHERE active")))


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
