"""What is measured on each set: the systems that apply, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from app.embedding.onnx import OnnxEmbedder
from app.ports import Embedder
from bench.corpus import scratch_engines
from bench.questions import Split
from bench.retrieval.baselines import COSINES, Cosines, baselines_of
from bench.retrieval.cache import CachedEmbedder
from bench.retrieval.collection import NAMED, UNNAMED, Collection, System
from bench.retrieval.embedders import CARD_TOKENS, ShortEmbedder
from bench.retrieval.measuring import METRICS, Measured, measure_all
from bench.retrieval.metrics import Metric, hit, ndcg
from bench.retrieval.own import read_own
from bench.retrieval.parts import Parts, as_record, sections, whole
from bench.retrieval.product import MEANING, WORDS, Product, systems_of
from bench.retrieval.report import Report
from bench.retrieval.scratch import Library, publish
from bench.retrieval.sets import read_set

ONE, RECORD, SECTIONS = "one vector", "as a record", "by section"
_PARTS: Mapping[str, Parts] = {ONE: whole, RECORD: as_record, SECTIONS: sections}
_RIVAL_METRICS: Mapping[str, Metric] = {**METRICS, "nDCG@5": ndcg(5, exponential=True), "hit@5": hit(5)}


def run_scifact(data: Path) -> Report:
    """Measure SciFact, on which published numbers exist. Raises MissingData."""
    collection = read_set("scifact", data)
    embedder = CachedEmbedder(OnnxEmbedder())
    rows, note = _on_one_vector(collection, embedder)
    rows += _on(collection, f"{ONE} of {CARD_TOKENS} tokens", ShortEmbedder(embedder), parts=whole)
    published = (
        _published("published: all-MiniLM-L6-v2, 256 tokens, 32 bit", {"nDCG@10": 0.6451, "Recall@10": 0.7833}),
        _published("published: bm25s, k1 1.5, b 0.75", {"nDCG@10": 0.6874, "Recall@10": 0.8187}),
    )
    return Report(collection, (*rows, *published), (_digits((*rows, *published)), note))


def run_docsmcp(data: Path) -> Report:
    """Measure pages of programming documentation, which others measured their search on. Raises MissingData."""
    collection = read_set("docsmcp", data)
    embedder = CachedEmbedder(OnnxEmbedder())
    rows = _on(collection, ONE, embedder, _RIVAL_METRICS, whole_set=True)
    for vectors in (RECORD, SECTIONS):
        rows += _on(collection, vectors, embedder, _RIVAL_METRICS)
    rivals = (
        _rival("published: docs-mcp-server", {"MRR@10": 0.747, "nDCG@5": 0.699, "hit@5": 0.881}),
        _rival("published: Context7", {"MRR@10": 0.733, "nDCG@5": 0.704, "hit@5": 0.847}),
    )
    return Report(collection, (*_in_order(rows), *rivals))


def run_own(split: Split) -> Report:
    """Measure the shipped records with the questions of a split. Raises MissingData."""
    collection = read_own(split)
    with scratch_engines() as engines:
        library = publish(engines, collection, as_record, CachedEmbedder(OnnxEmbedder()))
        systems = [*systems_of(library), *baselines_of(library.owner, collection)]
        return Report(collection, tuple(measure_all(collection, systems)))


RUNS: Mapping[str, Callable[[Path], Sequence[Report]]] = {
    "scifact": lambda data: [run_scifact(data)],
    "docsmcp": lambda data: [run_docsmcp(data)],
    "own": lambda _: [run_own("dev"), run_own("test")],
}


def _on(
    collection: Collection,
    vectors: str,
    embedder: Embedder,
    metrics: Mapping[str, Metric] = METRICS,
    *,
    parts: Parts | None = None,
    whole_set: bool = False,
) -> list[Measured]:
    """Measure the product with one way of making vectors; with `whole_set` also what needs none."""
    with scratch_engines() as engines:
        library = publish(engines, collection, parts or _PARTS[vectors], embedder)
        systems = systems_of(library, vectors, with_words=whole_set)
        systems += baselines_of(library.owner, collection) if whole_set else []
        return list(measure_all(collection, systems, metrics))


def _on_one_vector(collection: Collection, embedder: Embedder) -> tuple[list[Measured], str]:
    """Measure everything on one vector per document, and the same vectors with an index and without the product."""
    with scratch_engines() as engines:
        library = publish(engines, collection, whole, embedder)
        systems = [*systems_of(library, ONE), System(COSINES, Cosines(collection, whole, embedder).rank)]
        rows = list(measure_all(collection, [*systems, *baselines_of(library.owner, collection)]))
        indexed = publish(engines, collection, whole, embedder, index_from_rows=1)
        rows += measure_all(collection, [System(f"{MEANING}, {ONE}, HNSW index", Product(indexed).meaning)])
        return rows, _agreement(rows, library, indexed)


def _agreement(rows: Sequence[Measured], exact: Library, indexed: Library) -> str:
    """Tell how often the product gives the same ten documents in the same order as every cosine by hand."""
    by_hand = next(row for row in rows if row.system == COSINES).rankings
    shares = []
    for name in (f"{MEANING}, {ONE}", f"{MEANING}, {ONE}, HNSW index"):
        found = next(row for row in rows if row.system == name).rankings
        shares.append(sum(one == other for one, other in zip(found, by_hand, strict=True)))
    assert not exact.indexed
    assert indexed.indexed
    return (
        f"At {exact.vectors:,} vectors the product compares all of them. It gives the same ten documents in the same "
        f"order as numpy for {shares[0]} of {len(by_hand)} queries; through an HNSW index for {shares[1]}."
    )


def _digits(rows: Sequence[Measured]) -> str:
    """Tell to four digits what is to be compared with published numbers."""
    metric = "nDCG@10"
    leg = f"{MEANING}, {ONE}"
    names = [WORDS, leg, f"{leg} of {CARD_TOKENS} tokens"]
    shown = {
        row.system: f"{row.values[metric]:.4f}" for row in rows if row.system in names or "published" in row.system
    }
    return f"{metric} to four digits: {'; '.join(f'{name} {value}' for name, value in shown.items())}."


def _in_order(rows: Sequence[Measured]) -> list[Measured]:
    """Return the rows with those without technologies first, each half in the order it was measured."""
    return sorted(rows, key=lambda row: row.asked == NAMED)


def _published(system: str, values: Mapping[str, float]) -> Measured:
    return Measured(system, UNNAMED, {name: values.get(name) for name in METRICS})


def _rival(system: str, values: Mapping[str, float]) -> Measured:
    return Measured(system, NAMED, {name: values.get(name) for name in _RIVAL_METRICS})
