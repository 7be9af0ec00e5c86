"""Two ways to the nearest vectors: all compared, or through an index. The answer is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event, make_url, text

from app.store.catalogue import PostgresCatalogue
from app.store.engine import server_engine
from app.store.publishing import INDEX_FROM_ROWS
from app.store.vectors import keep_indexes
from tests.databases import Database
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask, by_meaning, corpus

QUESTIONS = (
    "cache index retry",
    "a worker thread waits for the socket",
    "render effect with reducer",
    "lock migration",
)
INDEX = "hnsw_record_embedding_1"


@pytest.fixture
def eager(database: Database) -> Iterator[Engine]:
    """An engine whose planner takes an index wherever there is one, as it does by itself on a large table."""
    url = make_url(database.app_url).update_query_dict({"options": "-c enable_seqscan=off -c enable_sort=off"})
    engine = server_engine(url.render_as_string(hide_password=False))
    yield engine
    engine.dispose()


def indexes(database: Database) -> list[str]:
    with database.owner.connect() as connection:
        return list(connection.scalars(text("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'hnsw%'")))


def plan_of_a_search(engine: Engine, hashing: HashingEmbedder, **options: Any) -> str:
    """Return how PostgreSQL carries out a search, asked with the statement and the parameters the catalogue sends."""
    sent: list[tuple[str, Any]] = []
    event.listen(engine, "before_cursor_execute", lambda *call: sent.append((call[2], call[3])))
    ask(PostgresCatalogue(engine), QUESTIONS[0], hashing.question(QUESTIONS[0]), **options)
    statement, parameters = sent[-1]
    with engine.connect() as connection:
        return "\n".join(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())


@pytest.mark.parametrize("technologies", [(), ("react",)])
def test_index_and_full_comparison_find_the_same_nearest(
    database: Database, eager: Engine, hashing: HashingEmbedder, technologies: tuple[str, ...]
) -> None:
    """The number of rows alone decides which is used. The index nominates by single vectors, so the tail may differ."""
    records = corpus(300)
    answers = []
    for index_from_rows, indexed in ((1_000_000, False), (1, True)):
        database.publish(*records, index_from_rows=index_from_rows)
        assert (INDEX in plan_of_a_search(eager, hashing, technologies=technologies)) == indexed
        catalogue = PostgresCatalogue(eager)
        answers.append(
            [ask(catalogue, q, hashing.question(q), per_leg=10, technologies=technologies) for q in QUESTIONS]
        )
    for exact, indexed_pool in zip(*answers, strict=True):
        assert by_meaning(exact)[:3] == by_meaning(indexed_pool)[:3]
        assert len(by_meaning(indexed_pool)) >= 10
        known = {candidate.slug: candidate for candidate in exact.candidates}
        assert all(known[entry.slug] == entry for entry in indexed_pool.candidates if entry.slug in known)


def test_index_comes_and_goes_with_the_number_of_vectors(database: Database, hashing: HashingEmbedder) -> None:
    """It is made from the threshold on, and dropped with the records."""
    records = corpus(60)
    rows = 60 * 5
    database.publish(*records, index_from_rows=rows + 1)
    assert indexes(database) == []
    database.publish(*records, index_from_rows=rows)
    assert indexes(database) == [INDEX]
    database.publish(*records[:10], index_from_rows=rows)
    assert indexes(database) == []
    catalogue = PostgresCatalogue(database.server)
    assert by_meaning(ask(catalogue, QUESTIONS[0], hashing.question(QUESTIONS[0])))


def test_planner_takes_the_index_from_the_threshold_on(database: Database, hashing: HashingEmbedder) -> None:
    """At the size from which it is made it is used, without being told to, narrowed or not."""
    database.publish(*corpus(100))
    with database.owner.begin() as connection:
        connection.execute(
            text("""
                INSERT INTO record_embedding (record_no, model_no, part, dims, content_version, text_hash, vector)
                SELECT record.record_no, 1, 'more:' || number, 64, 1, sha256('x'),
                    (SELECT array_agg(sin(place * record.record_no * number)) FROM generate_series(1, 64) AS place)
                FROM record, generate_series(1, CAST(:each AS integer)) AS number
            """),
            {"each": INDEX_FROM_ROWS // 100},
        )
        keep_indexes(connection, INDEX_FROM_ROWS)
        connection.execute(text("UPDATE publication SET generation = generation + 1"))
    with database.owner.begin() as connection:
        connection.execute(text("ANALYZE record_embedding"))
    assert INDEX in plan_of_a_search(database.server, hashing)
    assert INDEX in plan_of_a_search(database.server, hashing, technologies=("react",))


def test_narrow_filter_still_fills_its_leg_through_the_index(
    database: Database, eager: Engine, hashing: HashingEmbedder
) -> None:
    """The scan goes on until enough records pass, instead of filtering what a fixed number of neighbours left."""
    database.publish(*corpus(400), index_from_rows=1)
    catalogue = PostgresCatalogue(eager)
    pool = ask(catalogue, "zzyzx cache", hashing.question("cache"), technologies=("docker",), per_leg=60)
    about = [entry for entry in pool.candidates if not entry.applies_to or entry.applies_to[0].name == "Docker"]
    assert len(about) >= 60
