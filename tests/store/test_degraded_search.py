"""A part of the search fails, and the rest answers."""

from __future__ import annotations

import logging

import pytest
from sqlalchemy import text

from app.contract import DegradedReason
from app.store.catalogue import PostgresCatalogue
from tests.core.records import make_record
from tests.databases import Database, approved, publish
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask, by_words, corpus

QUESTION = "cache index migration"


@pytest.fixture
def published(database: Database) -> Database:
    database.publish(*corpus(30))
    return database


def break_with(database: Database, statement: str) -> None:
    with database.owner.begin() as connection:
        connection.execute(text(statement))


def test_unpublished_model_leaves_words_only(catalogue: PostgresCatalogue, published: Database) -> None:
    """Vectors of another model are never compared, even of the same length."""
    pool = ask(catalogue, QUESTION, HashingEmbedder(revision="2").question(QUESTION))
    assert pool.degraded is DegradedReason.EMBEDDING_MODEL_NOT_PUBLISHED
    assert pool.candidates
    assert all(candidate.cosine is None for candidate in pool.candidates)


def test_no_question_vector_is_no_failure_of_the_store(catalogue: PostgresCatalogue, published: Database) -> None:
    """Why there is none is the caller's to say."""
    assert ask(catalogue, QUESTION).degraded is None


def test_record_without_vectors_is_found_by_words_and_said(
    catalogue: PostgresCatalogue, database: Database, hashing: HashingEmbedder
) -> None:
    """The rest is compared as ever."""
    publish(database.owner, [make_record("with-vectors")], embedder=hashing)

    inputs = [approved(make_record("with-vectors")), approved(make_record("without-vectors"))]
    database.replace(inputs, model=hashing.model)
    pool = ask(catalogue, "list rows", hashing.question("list rows"))
    assert pool.degraded is DegradedReason.PARTIAL_EMBEDDINGS
    assert {candidate.slug: candidate.cosine is None for candidate in pool.candidates} == {
        "with-vectors": False,
        "without-vectors": True,
    }


@pytest.mark.parametrize("with_vectors", [True, False])
def test_lost_postings_fall_back_to_the_text_index(
    catalogue: PostgresCatalogue, published: Database, hashing: HashingEmbedder, with_vectors: bool
) -> None:
    """Emptied or dropped, the words are still found, on the same scale."""
    embedding = hashing.question(QUESTION) if with_vectors else None
    sound = ask(catalogue, QUESTION, embedding, per_leg=100)
    for damage in ("DELETE FROM term_posting", "DROP TABLE term_posting"):
        break_with(published, damage)
        pool = ask(catalogue, QUESTION, embedding, per_leg=100)
        assert pool.degraded is DegradedReason.TEXT_SEARCH_ERROR
        assert set(by_words(pool)) == set(by_words(sound))
        assert pool.document_frequency == sound.document_frequency
        assert 0 < max(candidate.words or 0 for candidate in pool.candidates) < pool.ideal_words
        assert (pool.candidates[0].cosine is not None) == with_vectors


def test_unknown_words_are_not_lost_postings(catalogue: PostgresCatalogue, published: Database) -> None:
    """Nothing found is an answer."""
    pool = ask(catalogue, "zzyzx")
    assert (pool.candidates, pool.degraded) == ((), None)


def test_broken_vectors_leave_words_only(
    catalogue: PostgresCatalogue, published: Database, hashing: HashingEmbedder, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is the words', the log has the state and not the question."""
    sound = ask(catalogue, QUESTION)
    break_with(published, "REVOKE SELECT ON record_embedding FROM chatctx_server")
    with caplog.at_level(logging.WARNING, logger="app.store"):
        pool = ask(catalogue, QUESTION, hashing.question(QUESTION))
    assert pool.degraded is DegradedReason.VECTOR_SEARCH_ERROR
    assert pool.candidates == sound.candidates
    assert "42501" in caplog.text
    assert "cache" not in caplog.text


def test_both_legs_broken_still_finds_words(
    catalogue: PostgresCatalogue, published: Database, hashing: HashingEmbedder
) -> None:
    """The text index of the records is left."""
    break_with(published, "REVOKE SELECT ON record_embedding, term_posting FROM chatctx_server")
    pool = ask(catalogue, QUESTION, hashing.question(QUESTION))
    assert pool.degraded is DegradedReason.TEXT_SEARCH_ERROR
    assert by_words(pool)
    assert all(candidate.cosine is None for candidate in pool.candidates)
