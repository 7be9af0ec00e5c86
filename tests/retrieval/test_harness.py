"""The harness that measures retrieval: from documents through the product's search to numbers that are known."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from app.ports import Vector
from bench.blocks import BlockNotFound, replace_block, write_block
from bench.retrieval.__main__ import main
from bench.retrieval.baselines import COSINES, GREP, TS_RANK, TS_RANK_CD, Cosines, baselines_of
from bench.retrieval.cache import CachedEmbedder
from bench.retrieval.collection import NAMED, UNNAMED, Collection, Document, Query, System
from bench.retrieval.measuring import Measured, measure, measure_all
from bench.retrieval.metrics import hit, ndcg, recall, reciprocal_rank
from bench.retrieval.parts import sections, split, whole
from bench.retrieval.plot import draw
from bench.retrieval.product import APPLICABLE, FUSED, MEANING, WORDS, systems_of
from bench.retrieval.records import slug_of
from bench.retrieval.report import Report, as_markdown
from bench.retrieval.scratch import publish
from bench.retrieval.sets import MissingData, read_set
from tests.databases import Database
from tests.fakes import HashingEmbedder

DOCUMENTS = (
    Document("https://a.example/Cache", "Cache headers", "A cache keeps a response until it is stale.", ("React",)),
    Document("https://a.example/queue", "Queues", "A worker takes a job from the queue, then another job.", ("Vite",)),
    Document("https://a.example/lock", "Locks", "A worker takes the lock before the job, the cache after.", ("React",)),
)
CACHE, QUEUE, LOCK = (document.id for document in DOCUMENTS)
COLLECTION = Collection(
    "tiny",
    DOCUMENTS,
    (
        Query("1", "stale cache response", {CACHE: 3, LOCK: 1}, ("React",)),
        Query("2", "which worker takes a job", {LOCK: 1}, ("React",)),
    ),
    unanswered=1,
)


class TestMetrics:
    """The values are those of trec_eval, worked out by hand."""

    RANKING = ("a", "b", "c", "d")
    GRADES: ClassVar = {"b": 3, "d": 1, "e": 2}

    def test_ndcg_takes_the_grade_as_gain(self) -> None:
        found = 3 / math.log2(3) + 1 / math.log2(5)
        ideal = 3 + 2 / math.log2(3) + 1 / math.log2(4)
        assert ndcg(10)(self.RANKING, self.GRADES) == pytest.approx(found / ideal)

    def test_ndcg_can_take_the_exponential_gain(self) -> None:
        found, ideal = 7 / math.log2(3) + 1 / math.log2(5), 7 + 3 / math.log2(3) + 1 / math.log2(4)
        assert ndcg(10, exponential=True)(self.RANKING, self.GRADES) == pytest.approx(found / ideal)

    def test_ndcg_looks_no_further_than_its_depth(self) -> None:
        assert ndcg(1)(self.RANKING, self.GRADES) == 0.0
        assert ndcg(1)(("b",), self.GRADES) == 1.0

    def test_recall_and_hit_count_what_is_among_the_first(self) -> None:
        assert recall(3)(self.RANKING, self.GRADES) == pytest.approx(1 / 3)
        assert recall(10)(self.RANKING, self.GRADES) == pytest.approx(2 / 3)
        assert (hit(1)(self.RANKING, self.GRADES), hit(2)(self.RANKING, self.GRADES)) == (0.0, 1.0)

    def test_reciprocal_rank_is_that_of_the_first_relevant_one(self) -> None:
        assert reciprocal_rank(10)(self.RANKING, self.GRADES) == 0.5
        assert reciprocal_rank(1)(self.RANKING, self.GRADES) == 0.0

    def test_nothing_found_is_zero(self) -> None:
        for metric in (ndcg(10), recall(10), reciprocal_rank(10), hit(1)):
            assert metric((), self.GRADES) == 0.0


class TestTheWholeWay:
    """A tiny collection is published, searched and measured."""

    @pytest.fixture
    def rows(self, database: Database, hashing: HashingEmbedder) -> list[Measured]:
        library = publish((database.owner, database.server), COLLECTION, whole, hashing)
        by_hand = System(COSINES, Cosines(COLLECTION, whole, hashing).rank)
        return list(measure_all(COLLECTION, [*systems_of(library), by_hand, *baselines_of(database.owner, COLLECTION)]))

    def test_each_system_is_asked_as_it_should_be(self, rows: list[Measured]) -> None:
        asked = [(row.system, row.asked) for row in rows]
        baselines = [GREP, TS_RANK_CD, TS_RANK]
        assert asked == [
            *((name, UNNAMED) for name in (WORDS, MEANING, FUSED, APPLICABLE, COSINES, *baselines)),
            *((name, NAMED) for name in (APPLICABLE, *baselines)),
        ]

    def test_words_rank_by_bm25_and_leave_out_what_holds_none(self, rows: list[Measured]) -> None:
        words = _row(rows, WORDS)
        assert words.rankings == ((CACHE, LOCK), (QUEUE, LOCK))
        assert words.values == pytest.approx(
            {
                "nDCG@10": (1 + 1 / math.log2(3)) / 2, "Recall@10": 1.0, "MRR@10": 0.75, "hit@1": 0.5, "hit@3": 1.0,
            }
        )  # fmt: skip

    def test_meaning_ranks_as_every_cosine_by_hand(self, rows: list[Measured]) -> None:
        assert _row(rows, MEANING).rankings == _row(rows, COSINES).rankings
        assert len(_row(rows, MEANING).rankings[0]) == len(DOCUMENTS)

    def test_technologies_count_where_they_are_to(self, rows: list[Measured]) -> None:
        assert _row(rows, FUSED).rankings[1][0] == QUEUE
        assert _row(rows, APPLICABLE, NAMED).rankings[1][0] == LOCK

    def test_grep_counts_distinct_words_then_occurrences(self, rows: list[Measured]) -> None:
        assert _row(rows, GREP).rankings == ((CACHE, LOCK), (QUEUE, LOCK))

    def test_an_index_changes_nothing_at_this_size(self, database: Database, hashing: HashingEmbedder) -> None:
        engines = database.owner, database.server
        exact = measure(COLLECTION, systems_of(publish(engines, COLLECTION, whole, hashing))[1])
        indexed = publish(engines, COLLECTION, whole, hashing, index_from_rows=1)
        assert indexed.indexed
        assert measure(COLLECTION, systems_of(indexed)[1]).rankings == exact.rankings

    def test_the_number_of_sections_leaves_words_alone(self, database: Database, hashing: HashingEmbedder) -> None:
        library = publish((database.owner, database.server), COLLECTION, lambda d: tuple(d.text.split(",")), hashing)
        assert measure(COLLECTION, systems_of(library)[0]).rankings == ((CACHE, LOCK), (QUEUE, LOCK))


def test_a_ranking_that_repeats_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        measure(COLLECTION, System("stutter", lambda _: [CACHE, CACHE]))


def test_the_table_says_what_was_measured(tmp_path: Path) -> None:
    measured = measure(COLLECTION, System("always the lock", lambda _: [LOCK]))
    rival = Measured("published", UNNAMED, {**dict.fromkeys(measured.values), "nDCG@10": 0.25})
    table = as_markdown(Report(COLLECTION, (measured, rival), ("A note.",)))
    assert table.startswith("3 documents, 2 queries; 1 queries without an answer left out.\n\n| system | nDCG@10 |")
    assert "| published | 0.250 |  |  |  |  |" in table
    assert table.endswith("\n\nA note.")


def test_the_plot_is_the_same_for_the_same_numbers(tmp_path: Path) -> None:
    report = Report(COLLECTION, (measure(COLLECTION, System(WORDS, lambda _: [LOCK])),))
    for name in ("one.svg", "two.svg"):
        draw([report], tmp_path / name)
    one = (tmp_path / "one.svg").read_bytes()
    assert one == (tmp_path / "two.svg").read_bytes()
    assert b"dc:date" not in one


class TestBlocks:
    DOCUMENT = "before\n<!-- retrieval:a -->\nold\n<!-- /retrieval:a -->\nafter\n"

    def test_only_the_block_is_replaced_and_twice_is_as_once(self, tmp_path: Path) -> None:
        path = tmp_path / "document.md"
        path.write_text(self.DOCUMENT, "utf-8")
        for _ in range(2):
            write_block("a", "| new |\n", path)
            expected = "before\n<!-- retrieval:a -->\n\n| new |\n\n<!-- /retrieval:a -->\nafter\n"
            assert path.read_text("utf-8") == expected

    @pytest.mark.parametrize(
        "document", ["", DOCUMENT * 2, "<!-- /retrieval:a -->\n<!-- retrieval:a -->\n", "<!-- retrieval:a -->\n"]
    )
    def test_marks_that_are_not_there_once_are_told(self, document: str) -> None:
        with pytest.raises(BlockNotFound):
            replace_block(document, "a", "new")


class TestData:
    def test_a_missing_folder_is_told_with_its_place(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--set", "scifact", "--data", str(tmp_path)]) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert f"corpus.jsonl.gz, queries.jsonl, qrels.tsv in {tmp_path / 'scifact'}" in told.err

    def test_queries_whose_documents_are_absent_are_counted_and_left_out(self, tmp_path: Path) -> None:
        folder = tmp_path / "set"
        folder.mkdir()
        page = {"id": "p", "title": "Page", "text": "text", "meta": {"library": "vite"}}
        with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write(json.dumps(page))
        queries = [{"id": name, "text": "text", "meta": {"library": "nobody's"}} for name in "ab"]
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), "utf-8")
        (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\na\tp\t2\nb\tp\t0\n", "utf-8")
        found = read_set("set", tmp_path)
        assert found.documents == (Document("p", "Page", "text", ("Vite",)),)
        assert (found.queries, found.unanswered) == ((Query("a", "text", {"p": 2}),), 1)

    def test_missing_data_is_its_own_error(self, tmp_path: Path) -> None:
        with pytest.raises(MissingData):
            read_set("docsmcp", tmp_path)


class TestTexts:
    def test_a_text_is_cut_at_headings_and_where_it_is_too_long(self) -> None:
        text = "intro\n\n# One\nshort\n\nLibrary\n=======\n" + "\n\n".join(["word " * 10] * 10)
        pieces = split(text, limit=120)
        assert pieces[:2] == ["intro", "# One\nshort"]
        assert pieces[2].startswith("Library\n=======\nword")
        assert max(map(len, pieces)) <= 120
        assert "".join("".join(pieces).split()) == "".join(text.split())

    def test_every_section_carries_the_title_and_an_empty_page_has_one(self) -> None:
        assert sections(Document("a", "Page", "# One\nx\n# Two\ny")) == ("Page. # One\nx", "Page. # Two\ny")
        assert sections(Document("a", "Page", "")) == ("Page",)

    def test_slugs_are_slugs_and_differ(self) -> None:
        long = "https://a.example/" + "x" * 100
        slugs = {slug_of(one) for one in ("4983", "use-stable-keys", long, long + "x", "a/b", "a-b")}
        assert len(slugs) == 6
        assert {"4983", "use-stable-keys", "a-b"} < slugs
        assert all(len(slug) <= 64 for slug in slugs)


class TestCache:
    def test_a_text_is_embedded_once(self, tmp_path: Path) -> None:
        first = CachedEmbedder(_Counting(), tmp_path)
        vectors = first.embed(["one", "two", "one"])
        assert np.array_equal(vectors, HashingEmbedder().embed(["one", "two", "one"]))
        counting = _Counting()
        assert np.array_equal(CachedEmbedder(counting, tmp_path).embed(["two", "three", "one"])[[2, 0]], vectors[:2])
        assert counting.seen == ["three"]

    def test_models_do_not_share(self, tmp_path: Path) -> None:
        CachedEmbedder(HashingEmbedder(), tmp_path).embed(["one"])
        counting = _Counting(revision="2")
        CachedEmbedder(counting, tmp_path).embed(["one"])
        assert counting.seen == ["one"]


class _Counting(HashingEmbedder):
    def __init__(self, revision: str = "1") -> None:
        super().__init__(revision=revision)
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vector:
        self.seen += texts
        return super().embed(texts)


def _row(rows: list[Measured], system: str, asked: str = UNNAMED) -> Measured:
    return next(row for row in rows if (row.system, row.asked) == (system, asked))
