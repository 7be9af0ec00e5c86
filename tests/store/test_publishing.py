"""Publishing: the served set becomes what is approved, whole or not at all."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, literal_column, select, text

from app.errors import EmbeddingFailure, LedgerError, Unavailable
from app.indexing import embedding_texts
from app.record import Record, content_hash
from app.store.catalogue import PostgresCatalogue
from app.store.publishing import plan, publication, published_hashes, replace_published, verify_published
from app.store.tables import metadata
from bench.ledgers import ledger_for
from tests.core.records import make_record
from tests.databases import Database, approved
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask, bm25, corpus

TABLES = [
    table for table in metadata.tables.values() if table.name.startswith(("record", "embedding", "term", "publication"))
]


def row_versions(engine: Engine) -> dict[str, Any]:
    """Return which transaction wrote each row and where it lies: any write at all changes it."""
    with engine.connect() as connection:
        return {
            table.name: connection.execute(
                select(literal_column("ctid"), literal_column("xmin")).select_from(table).order_by(text("ctid"))
            ).all()
            for table in TABLES
        }


def changed(record: Record, **fields: Any) -> Record:
    return record.model_copy(update=fields)


def test_plan_says_what_publishing_then_does(database: Database, hashing: HashingEmbedder) -> None:
    """Added, changed, deprecated and unchanged, and what needs a vector; the plan itself changes nothing."""
    kept, edited, gone = make_record("kept"), make_record("edited"), make_record("gone")
    database.publish(kept, edited, gone)
    edited = changed(edited, rationale="A different reason, long enough to be one and to be worth a vector of its own.")
    inputs = [
        approved(kept, embedder=hashing),
        approved(edited, 2, embedder=hashing),
        approved(make_record("new"), embedder=hashing),
    ]
    before = row_versions(database.owner)
    foreseen = plan(database.owner, inputs, hashing.model)
    assert row_versions(database.owner) == before
    assert (foreseen.added, foreseen.changed, foreseen.deprecated) == (("new",), ("edited",), ("gone",))
    assert (foreseen.unchanged, foreseen.to_embed) == (("kept",), ("edited", "new"))
    done = database.replace(inputs, model=hashing.model, demo=False)
    assert done == foreseen
    assert plan(database.owner, inputs, hashing.model).to_embed == ()
    assert set(published_hashes(database.owner)) == {"kept", "edited", "new"}


def test_publishing_twice_writes_no_row(database: Database) -> None:
    """Not one row has a new version, and the time of the publication stays."""
    records = corpus(12)
    database.publish(*records)
    before, said = row_versions(database.owner), publication(database.owner)
    again = database.publish(*records)
    assert row_versions(database.owner) == before
    assert publication(database.owner) == said
    assert len(again.unchanged) == 12


@pytest.mark.parametrize("step", ["records", "vectors", "index", "words"])
def test_failure_at_any_step_leaves_the_served_set_as_it_was(
    database: Database, hashing: HashingEmbedder, step: str
) -> None:
    """An error after each step undoes all of them, and the next publish goes through."""
    database.publish(*corpus(10))
    before = row_versions(database.owner)
    catalogue = PostgresCatalogue(database.server)
    answer = ask(catalogue, "cache index", hashing.question("cache index"))
    inputs = [approved(record, 2, embedder=hashing) for record in corpus(10, seed=8)]

    def fail(name: str, _done: int, _total: int) -> None:
        if name == step:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        database.replace(inputs, model=hashing.model, progress=fail, index_from_rows=1)
    assert row_versions(database.owner) == before
    assert ask(catalogue, "cache index", hashing.question("cache index")) == answer
    database.replace(inputs, model=hashing.model, index_from_rows=1)
    assert verify_published(database.owner) == []


def test_readers_see_the_old_set_until_the_new_one_is_whole(database: Database, hashing: HashingEmbedder) -> None:
    """A search in the middle of a publish answers from the set before, without waiting."""
    database.publish(make_record("before"))
    catalogue = PostgresCatalogue(database.server)
    seen: list[list[str]] = []

    def look(_name: str, _done: int, _total: int) -> None:
        seen.append([candidate.slug for candidate in ask(catalogue, "list rows").candidates])

    inputs = [approved(make_record("after"), embedder=hashing)]
    database.replace(inputs, model=hashing.model, progress=look)
    assert seen
    assert all(slugs == ["before"] for slugs in seen)
    assert [candidate.slug for candidate in ask(catalogue, "list rows").candidates] == ["after"]


def test_content_that_is_not_what_was_approved_is_refused(database: Database) -> None:
    """Nothing is published, and the message names the record."""
    sound, altered = approved(make_record("sound")), approved(make_record("altered"))
    altered = replace(altered, record=changed(altered.record, title="Another title altogether"))
    with pytest.raises(LedgerError, match="altered"):
        database.replace([sound, altered], model=None)
    with pytest.raises(LedgerError, match="altered"):
        plan(database.owner, [sound, altered], None)
    assert published_hashes(database.owner) == {}


def test_check_files_are_part_of_what_is_approved(database: Database) -> None:
    """A changed proof is a changed record, and its hash is in the body."""
    record, files = make_record(), {"right.py": b"print(1)"}
    database.publish()
    inputs = [approved(record, fixtures=files)]
    database.replace(inputs, model=None)
    assert published_hashes(database.owner) == {record.slug: content_hash(record, files)}
    assert verify_published(database.owner) == []
    other = [approved(record, 2, fixtures={"right.py": b"print(2)"})]
    assert plan(database.owner, other, None).changed == (record.slug,)


def test_slug_that_comes_twice_is_refused(database: Database) -> None:
    """One record has one approved state."""
    with pytest.raises(LedgerError):
        database.publish(make_record(), make_record())


def test_version_that_was_published_with_other_content_is_refused(database: Database) -> None:
    """The ledger in hand is then not the one this database was published from."""
    database.publish(make_record())
    with pytest.raises(LedgerError, match="version 1"):
        database.publish(make_record(title="Say something else in the same version"))


def test_every_approval_is_kept_and_a_deprecated_record_can_return(database: Database) -> None:
    """Versions are added and never removed; the number of a record stays."""
    record = make_record()
    edited = changed(record, title="Key list rows by an identifier that stays")
    database.publish(record)
    database.publish(edited, version=2)
    database.publish()
    assert published_hashes(database.owner) == {}
    done = database.publish(edited, version=3)
    assert (done.added, done.changed) == ((record.slug,), ())
    with database.owner.connect() as connection:
        versions = connection.execute(
            text("SELECT content_version, content_hash FROM record_version ORDER BY content_version")
        ).all()
        assert connection.scalar(text("SELECT count(*) FROM record")) == 1
    expected = [content_hash(record), content_hash(edited), content_hash(edited)]
    assert versions == list(zip((1, 2, 3), expected, strict=True))


def test_altered_row_does_not_verify(database: Database) -> None:
    """In the body, or beside it."""
    database.publish(make_record("body"), make_record("title"), make_record("sound"))
    with database.owner.begin() as connection:
        connection.execute(
            text("UPDATE record SET body = jsonb_set(body, '{summary}', '\"Do this.\"') WHERE slug = 'body'")
        )
        connection.execute(text("UPDATE record SET title = 'Do that instead' WHERE slug = 'title'"))
    assert verify_published(database.owner) == ["body", "title"]
    assert verify_published(database.server) == ["body", "title"]


def test_publication_tells_what_is_served(database: Database, hashing: HashingEmbedder) -> None:
    """To owner and server alike, from nothing on."""
    empty = publication(database.server)
    assert (empty.records, empty.published_at, empty.models) == (0, None, ())
    inputs = [approved(make_record(), embedder=hashing)]
    database.replace(inputs, model=hashing.model, demo=False, facts={"gates": {"evidence": 1}})
    served = publication(database.server)
    assert served == publication(database.owner)
    assert (served.records, served.demo) == (1, False)
    assert served.models == (hashing.model,)
    assert served.facts == {"gates": {"evidence": 1}}
    assert served.published_at is not None
    assert served.published_at.utcoffset() is not None


def test_new_ledger_head_alone_is_noted(database: Database, hashing: HashingEmbedder) -> None:
    """The served records are left alone."""
    inputs = [approved(make_record(), embedder=hashing)]
    database.replace(inputs, model=hashing.model)
    before = ledger_for(database.owner, inputs)
    longer = ledger_for(database.owner, [*inputs, approved(make_record("approved-and-not-served"))])
    for ledger in (before, longer):
        replace_published(database.owner, inputs, model=hashing.model, ledger=ledger, demo=True)
        assert publication(database.owner).ledger_head == ledger.head
    assert before.head != longer.head


def test_vectors_of_unchanged_texts_are_kept(database: Database, hashing: HashingEmbedder) -> None:
    """A new approval of the same words, or of words no vector stands for, costs no embedding."""
    record = make_record()
    database.publish(record)
    inputs = [approved(changed(record, pitfalls=("Another pitfall that is long enough.",)), 2)]
    assert plan(database.owner, inputs, hashing.model).to_embed == ()
    database.replace(inputs, model=hashing.model)
    catalogue = PostgresCatalogue(database.server)
    assert ask(catalogue, "list rows", hashing.question("list rows")).degraded is None
    with database.owner.connect() as connection:
        assert connection.scalars(text("SELECT DISTINCT content_version FROM record_embedding")).all() == [2]


def test_switched_off_embedding_keeps_the_vectors_there_are(database: Database, hashing: HashingEmbedder) -> None:
    """They are at hand when it is switched on again."""
    record = make_record()
    database.publish(record)
    inputs = [approved(record), approved(make_record("new"))]
    database.replace(inputs, model=None)
    assert plan(database.owner, inputs, hashing.model).to_embed == ("new",)


@pytest.mark.parametrize("fault", ["missing", "short", "infinite", "zero"])
def test_unusable_vectors_are_refused(database: Database, hashing: HashingEmbedder, fault: str) -> None:
    """Nothing is published with half of its meaning."""
    entry = approved(make_record(), embedder=hashing)
    vectors: dict[str, Any] = dict(entry.vectors or {})
    if fault == "missing":
        del vectors["title"]
    else:
        broken = {"short": np.ones(3), "infinite": np.full(64, np.inf), "zero": np.zeros(64)}[fault]
        vectors["title"] = broken.astype(np.float32)
    unusable = replace(entry, vectors=vectors)
    with pytest.raises(EmbeddingFailure):
        database.replace([unusable], model=hashing.model)
    assert published_hashes(database.owner) == {}


def test_two_publishers_do_not_mix(database: Database, hashing: HashingEmbedder) -> None:
    """The second waits for the first; one that waits too long is told so."""
    inputs = [approved(make_record(), embedder=hashing)]
    entered, leave = threading.Event(), threading.Event()

    def hold(_name: str, _done: int, _total: int) -> None:
        entered.set()
        leave.wait(20)

    first = threading.Thread(target=lambda: database.replace(inputs, model=hashing.model, progress=hold))
    first.start()
    assert entered.wait(20)
    with pytest.raises(Unavailable):
        database.publish(make_record("other"))
    leave.set()
    first.join()
    assert set(published_hashes(database.owner)) == {"use-stable-keys"}


def test_words_follow_the_served_set(database: Database, hashing: HashingEmbedder) -> None:
    """After records came, changed and went, every score is again that of the formulas."""
    records = corpus(40)
    database.publish(*records)
    now = [*records[5:20], *(changed(record, title=f"{record.title} queue socket") for record in records[20:])]
    inputs = [approved(record, 1 if record in records else 2, embedder=hashing) for record in now]
    database.replace(inputs, model=hashing.model)
    pool = ask(PostgresCatalogue(database.server), "queue socket cache", per_leg=100)
    found = {candidate.slug: candidate.words for candidate in pool.candidates}
    assert found == pytest.approx(bm25(now, "queue socket cache"), rel=1e-5)


def test_one_vector_is_stored_for_each_text(database: Database) -> None:
    """The record's own, its title's and each symptom's."""
    record = make_record()
    database.publish(record)
    with database.owner.connect() as connection:
        parts = connection.scalars(text("SELECT part FROM record_embedding")).all()
    assert set(parts) == set(embedding_texts(record))


def test_many_withheld_records_are_named_as_far_as_they_can_be_read(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """Twelve by name, the rest by number: a set that lost its ledger must not bury everything else in the log."""
    database.publish(*corpus(15))
    with database.owner.begin() as connection:
        connection.execute(text("UPDATE publication SET ledger_head = repeat('a', 64)"))
    assert len(verify_published(database.server)) == 15
    told = [record.getMessage() for record in caplog.records if "withheld" in record.getMessage()]
    assert len([line for line in told if line.startswith("record ")]) == 12
    assert told[-1] == "each of 3 more records is withheld: not_approved"
