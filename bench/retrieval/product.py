"""The product as systems to be measured: each leg alone, both fused, and with applicability."""

from __future__ import annotations

from collections.abc import Iterable

from app.applicability import Stack, read_stack
from app.lexical import query_terms, technologies_in
from app.ports import CandidateRequest, QueryEmbedding
from app.ranking import Need, Ranked, Weights, rank
from bench.retrieval.collection import NAMED, UNNAMED, Query, System
from bench.retrieval.scratch import Library

WORDS, MEANING, FUSED, APPLICABLE = "words only", "meaning only", "fused", "fused + applicability"
_NOBODY = Need(Stack({}))


class Product:
    """The product's own search over a published collection; technologies count in `applicable` only."""

    def __init__(self, library: Library) -> None:
        """Keep the collection.

        Args:
            library: what is searched.
        """
        self._library = library

    def words(self, query: Query) -> list[str]:
        """Rank by BM25 alone; a document that holds no word of the query is not found."""
        ranked = self._rank(query, terms=query_terms(query.text), weights=Weights(meaning=0.0, phrase=0.0))
        return self._ids(entry for entry in ranked if entry.candidate.words is not None)

    def meaning(self, query: Query) -> list[str]:
        """Rank by cosine alone."""
        ranked = self._rank(query, embedding=self._embed(query.text), weights=Weights(meaning=1.0, phrase=0.0))
        return self._ids(entry for entry in ranked if entry.candidate.cosine is not None)

    def fused(self, query: Query) -> list[str]:
        """Rank by the product's score without verdicts on technologies."""
        return self._ids(self._rank(query, terms=query_terms(query.text), embedding=self._embed(query.text)))

    def applicable(self, query: Query) -> list[str]:
        """Rank as the product does, with the technologies named, and those the text mentions."""
        need = Need(read_stack(query.technologies, query.versions), technologies_in(query.text))
        return self._ids(self._rank(query, terms=query_terms(query.text), embedding=self._embed(query.text), need=need))

    def _rank(
        self,
        query: Query,
        *,
        terms: tuple[str, ...] = (),
        embedding: QueryEmbedding | None = None,
        need: Need = _NOBODY,
        weights: Weights | None = None,
    ) -> list[Ranked]:
        request = CandidateRequest(terms, query.text, embedding, need.whole_stack.reach)
        pool = self._library.catalogue.find_candidates(request)
        if pool.degraded:
            raise RuntimeError(f"a part of the search failed, and would not be measured: {pool.degraded}")
        return rank(pool, need, question=embedding, weights=weights)

    def _embed(self, text: str) -> QueryEmbedding:
        embedder = self._library.embedder
        return QueryEmbedding(embedder.embed([text])[0], embedder.model, "miss")

    def _ids(self, ranked: Iterable[Ranked]) -> list[str]:
        return [self._library.ids[entry.candidate.slug] for entry in ranked]


def systems_of(library: Library, vectors: str = "", *, with_words: bool = True) -> list[System]:
    """Return the systems of a published collection.

    Args:
        library: what is searched.
        vectors: what the vectors stand for, put after the names; "" where there is only one way.
        with_words: the words leg is measured too; it is the same whatever the vectors are.
    """
    product, label = Product(library), f", {vectors}" if vectors else ""
    words = [System(WORDS, product.words)] if with_words else []
    return [
        *words,
        System(f"{MEANING}{label}", product.meaning),
        System(f"{FUSED}{label}", product.fused),
        System(f"{APPLICABLE}{label}", product.applicable, asked=(UNNAMED, NAMED)),
    ]
