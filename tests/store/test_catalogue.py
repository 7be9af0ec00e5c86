"""Finding published records by words and by meaning, on a real PostgreSQL."""

from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import event

from app.contract import DegradedReason
from app.indexing import K1, inverse_document_frequency
from app.lexical import query_terms
from app.record import Record
from app.store.catalogue import PostgresCatalogue
from app.store.models import drop_model
from tests.core.records import make_record
from tests.databases import Database
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask, bm25, by_meaning, by_words, corpus, cosines, find

QUESTION = "the cache index was locked while a migration waited for the replica token"


@pytest.fixture
def records(database: Database) -> list[Record]:
    """Publish a corpus of sixty records."""
    made = corpus(60)
    database.publish(*made)
    return made


def test_words_score_is_bm25_of_the_formulas(catalogue: PostgresCatalogue, records: list[Record]) -> None:
    """Every score equals the one computed in Python, to the precision of a stored impact."""
    pool = ask(catalogue, QUESTION, per_leg=100)
    expected = bm25(records, QUESTION)
    found = {candidate.slug: candidate.words for candidate in pool.candidates}
    assert found == pytest.approx(expected, rel=1e-5)
    assert by_words(pool) == sorted(expected, key=lambda slug: (-round(expected[slug], 5), slug))


def test_words_leg_brings_the_best_and_says_which_words_matched(
    catalogue: PostgresCatalogue, records: list[Record]
) -> None:
    """Cut to five, it is the five best; unknown words of the question match nothing."""
    expected = bm25(records, QUESTION)
    pool = ask(catalogue, QUESTION + " zzyzx", per_leg=5)
    assert by_words(pool) == sorted(expected, key=lambda slug: (-expected[slug], slug))[:5]
    best = pool.candidates[0]
    assert best.matched <= set(query_terms(QUESTION))
    assert "zzyzx" not in best.matched


def test_statistics_give_the_words_their_scale(catalogue: PostgresCatalogue, records: list[Record]) -> None:
    """Frequencies are of all served records, an unknown word has none, and no score exceeds the ideal."""
    pool = ask(catalogue, "cache zzyzx", per_leg=100)
    holders = len(bm25(records, "cache"))
    assert pool.document_count == 60
    assert pool.document_frequency == {"cach": holders, "zzyzx": 0}
    assert pool.ideal_words == pytest.approx(inverse_document_frequency(holders, 60) * (K1 + 1))
    assert max(candidate.words or 0 for candidate in pool.candidates) < pool.ideal_words


def test_cosine_is_the_mean_of_the_three_best_of_a_records_vectors(
    catalogue: PostgresCatalogue, records: list[Record], hashing: HashingEmbedder
) -> None:
    """Each candidate's cosine equals the one computed from its own vectors, whichever leg found it."""
    pool = ask(catalogue, QUESTION, hashing.question(QUESTION), per_leg=8)
    expected = cosines(records, hashing, QUESTION)
    for candidate in pool.candidates:
        assert candidate.cosine == pytest.approx(expected[candidate.slug], abs=2e-3)
    nearest = sorted(expected, key=lambda slug: -expected[slug])[:8]
    assert set(nearest) <= {candidate.slug for candidate in pool.candidates}


def test_record_found_by_meaning_alone_has_no_words(catalogue: PostgresCatalogue, database: Database) -> None:
    """A question with no known word still finds by its vector."""
    database.publish(make_record())
    embedder = HashingEmbedder()
    pool = ask(catalogue, "zzyzx", embedder.question("list rows by a stable id"))
    assert pool.candidates[0].words is None
    assert pool.candidates[0].matched == frozenset()
    assert (pool.candidates[0].cosine or 0) > 0.3


def test_own_symptom_finds_its_record_first(
    catalogue: PostgresCatalogue, database: Database, hashing: HashingEmbedder
) -> None:
    """Each symptom is a vector of its own: asked word by word, it alone contributes a cosine of one."""
    wanted = make_record(symptoms=["draft text jumps", "focus is lost", "wrong row is deleted"])
    database.publish(*corpus(20), wanted)
    pool = ask(catalogue, "wrong row is deleted", hashing.question("wrong row is deleted"))
    assert by_meaning(pool)[0] == "use-stable-keys"
    assert (find(pool, "use-stable-keys").cosine or 0) >= 1 / 3


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("useEffect", "useEffect"),
        ("useEffect", "effect"),
        ("If-None-Match", "if-none-match"),
        ("If-None-Match", "match"),
        ("node.js", "nodejs"),
        ("C++", "c++"),
        (".cursorrules", ".cursorrules"),
        ("snake_case", "snake_case"),
        ("snake_case", "snake"),
        ("@media", "@media"),
        ("k8s", "kubernetes"),
        ("os.environ", "environ"),
        ("HTTPServer", "server"),
    ],
)
def test_technical_words_are_found(catalogue: PostgresCatalogue, database: Database, written: str, asked: str) -> None:
    """Identifiers survive whole, and by their parts and other spellings."""
    silent = "Nothing of the kind is said here, only what fills the space that a rationale has to fill."
    other = make_record("something-else", title="Say nothing of the kind", applies_to=[], rationale=silent)
    wanted = make_record("the-one", rationale=f"It is {written} that decides this, and nothing else does so at all.")
    database.publish(wanted, other)
    assert by_words(ask(catalogue, asked)) == ["the-one"]


def test_phrase_ranks_above_scattered_words(catalogue: PostgresCatalogue, database: Database) -> None:
    """The question's words in a row count more than the same words apart, and none of them counts nothing."""
    apart = "What the file captures is kept open for as long as the process lives and no longer."
    database.publish(
        make_record("in-a-row", title="Avoid stale closure captures"),
        make_record("scattered", title="Avoid closure of a stale file", rationale=apart),
        make_record("without", title="Something else entirely"),
    )
    pool = ask(catalogue, "stale closure captures", HashingEmbedder().question("stale closure captures"))
    phrase = {candidate.slug: candidate.phrase for candidate in pool.candidates}
    assert phrase["in-a-row"] > phrase["scattered"] > phrase["without"] == 0.0


def test_candidate_carries_what_judging_needs(catalogue: PostgresCatalogue, database: Database) -> None:
    """Scope and task types come back as the record states them."""
    record = make_record(task_types=["debug", "build"])
    database.publish(record)
    (candidate,) = ask(catalogue, "list rows").candidates
    assert candidate.applies_to == record.applies_to
    assert candidate.task_types == record.task_types
    assert (candidate.title, candidate.topic) == (record.title, record.topic)


@pytest.mark.parametrize("with_vectors", [True, False])
def test_named_technologies_are_not_crowded_out(
    catalogue: PostgresCatalogue, records: list[Record], hashing: HashingEmbedder, with_vectors: bool
) -> None:
    """However few are wanted of all, each leg also brings as many about a technology named or about none."""
    embedding = hashing.question(QUESTION) if with_vectors else None
    plain = {candidate.slug for candidate in ask(catalogue, QUESTION, embedding, per_leg=5).candidates}
    pool = ask(catalogue, QUESTION, embedding, technologies={"react", "docker"}, per_leg=5)
    found = {candidate.slug for candidate in pool.candidates}
    wanted = {r.slug for r in records if not r.applies_to or r.applies_to[0].name in ("React", "Docker")}
    best = sorted(wanted & bm25(records, QUESTION).keys(), key=lambda slug: (-bm25(records, QUESTION)[slug], slug))
    assert plain <= found
    assert found - plain <= wanted
    assert set(best[:5]) <= found
    if with_vectors:
        near = cosines(records, hashing, QUESTION)
        assert set(sorted(wanted, key=lambda slug: -near[slug])[:3]) <= found


def test_unknown_technology_changes_nothing(catalogue: PostgresCatalogue, database: Database) -> None:
    """What no record is about leaves the best of all, and the statistics as they are."""
    database.publish(make_record())
    assert ask(catalogue, "list rows", technologies={"haskell"}) == ask(catalogue, "list rows")


def test_answer_is_the_same_every_time(
    catalogue: PostgresCatalogue, records: list[Record], database: Database, hashing: HashingEmbedder
) -> None:
    """Twenty times, through plans of both kinds, and by another process's catalogue."""
    embedding = hashing.question(QUESTION)
    first = ask(catalogue, QUESTION, embedding)
    assert [candidate.slug for candidate in first.candidates] == sorted(entry.slug for entry in first.candidates)
    assert all(ask(catalogue, QUESTION, embedding) == first for _ in range(20))
    assert ask(PostgresCatalogue(database.server), QUESTION, embedding) == first


def test_equal_records_are_told_apart_by_slug(
    catalogue: PostgresCatalogue, database: Database, hashing: HashingEmbedder
) -> None:
    """Of twelve that say the same, the first by name are taken, in both legs."""
    slugs = [f"twin-{letter}" for letter in "lkjihgfedcba"]
    database.publish(*(make_record(slug) for slug in slugs))
    for embedding in (None, hashing.question("list rows")):
        pool = ask(catalogue, "list rows", embedding, per_leg=4)
        assert [candidate.slug for candidate in pool.candidates] == ["twin-a", "twin-b", "twin-c", "twin-d"]


def test_search_takes_one_round_trip(
    catalogue: PostgresCatalogue, records: list[Record], database: Database, hashing: HashingEmbedder
) -> None:
    """The first search learns what is published; from then on there is one statement each."""
    ask(catalogue, QUESTION)
    statements: list[str] = []
    event.listen(database.server, "before_cursor_execute", lambda *sent: statements.append(sent[2]))
    ask(catalogue, QUESTION, hashing.question(QUESTION))
    assert len(statements) == 1


def test_publish_is_seen_by_the_next_search(
    catalogue: PostgresCatalogue, database: Database, hashing: HashingEmbedder
) -> None:
    """A server that runs on notices a publish by itself, a changed model included."""
    embedding = hashing.question("list rows")
    assert ask(catalogue, "list rows", embedding).document_count == 0
    database.publish(make_record())
    assert ask(catalogue, "list rows", embedding).degraded is None
    newer = HashingEmbedder(dims=32, revision="2")
    database.publish(make_record(), make_record("another"), embedder=newer)
    assert ask(catalogue, "list rows", embedding).degraded is DegradedReason.PARTIAL_EMBEDDINGS
    found = ask(catalogue, "list rows", newer.question("list rows"))
    assert found.degraded is None
    drop_model(database.owner, hashing.model.revision)
    assert ask(catalogue, "list rows", embedding).degraded is DegradedReason.EMBEDDING_MODEL_NOT_PUBLISHED
    assert len(found.candidates) == 2


def test_fetch_answers_by_slug_and_by_id(catalogue: PostgresCatalogue, database: Database) -> None:
    """Under whatever name it was asked for; unknown, malformed and deprecated ones are absent."""
    record = make_record()
    database.publish(record, make_record("goes-away"))
    database.publish(record, version=1)
    served = catalogue.fetch([record.slug])[record.slug]
    identity = str(served.record_id)
    assert served.record == record
    assert (served.content_version, UUID(identity).version) == (1, 5)
    asked = [
        identity,
        record.slug,
        identity.upper(),
        "goes-away",
        "no-such",
        "'; DROP TABLE record; --",
        "\0",
        "x" * 120,
    ]
    assert set(catalogue.fetch(asked)) == {identity, record.slug, identity.upper()}
    assert catalogue.fetch([]) == {}


def test_fetched_record_has_the_approved_hash(catalogue: PostgresCatalogue, database: Database) -> None:
    """What is served is what was approved, through JSON and back."""
    record = make_record(
        examples="```ts\nconst café = `naïve · «quoted»`;\n```", rationale="Zeichen: ä, ≤, 🔑, \\u0000 und 1e10. " * 3
    )
    database.publish(record)
    assert catalogue.fetch([record.slug])[record.slug].record == record
