"""What one would use instead of the product: grep, PostgreSQL's own text search, and every cosine by hand.

None knows of technologies; where a query names them, their names are words like others.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, text

from app.lexical import analyse
from app.ports import Embedder
from app.store.engine import connected, transaction
from bench.retrieval.collection import NAMED, UNNAMED, Collection, Document, Query, System
from bench.retrieval.parts import Parts
from bench.retrieval.records import slug_of

GREP, TS_RANK_CD, TS_RANK, COSINES = "grep", "ts_rank_cd", "ts_rank", "every cosine, in numpy"
_BOTH = (UNNAMED, NAMED)
_WORD = re.compile(r"\w+")
_FOLDER = Path(__file__).parent


class Grep:
    """Counts whole words in the raw text, in any case: `grep -iow`, once for each word of the query.

    Function words are left out, as somebody who greps would. The document with more distinct words of the query is
    first, then the one where they occur more often, then the one whose id is lower.
    """

    def __init__(self, collection: Collection) -> None:
        """Count the words of every document."""
        self._counts = {document.id: Counter(_words(_raw(document))) for document in collection.documents}

    def rank(self, query: Query) -> list[str]:
        """Return the documents that hold a word of the query, best first."""
        words = {word for word in _words(_asked(query)) if analyse(word)}
        found = [
            (-len(held), -sum(counts[word] for word in held), identifier)
            for identifier, counts in self._counts.items()
            if (held := words & counts.keys())
        ]
        return [identifier for _, _, identifier in sorted(found)]


class TextSearch:
    """PostgreSQL's own ranking of title and text, for a document that holds any lexeme of the query."""

    def __init__(self, owner: Engine, collection: Collection) -> None:
        """Put the texts into a table of their own.

        Args:
            owner: engine of a scratch database.
            collection: its documents are searched.
        """
        self._owner = owner
        rows = [{"id": document.id, "raw": _raw(document)} for document in collection.documents]
        with transaction(owner) as connection:
            for statement in _statement("make_texts").split(";"):
                connection.execute(text(statement))
            connection.execute(text(_statement("add_text")), rows)

    def by_cover(self, query: Query) -> list[str]:
        """Return the documents that match, best first by `ts_rank_cd`."""
        return self._rank(query, cover=True)

    def by_frequency(self, query: Query) -> list[str]:
        """Return the documents that match, best first by `ts_rank`."""
        return self._rank(query, cover=False)

    def _rank(self, query: Query, *, cover: bool) -> list[str]:
        with connected(self._owner) as connection:
            parameters = {"query": _asked(query), "cover": cover}
            return list(connection.scalars(text(_statement("rank_texts")), parameters))


class Cosines:
    """Compares the query with every vector of every document, without the product and without a database."""

    def __init__(self, collection: Collection, parts: Parts, embedder: Embedder) -> None:
        """Embed all.

        Args:
            collection: its documents are searched.
            parts: which texts of a document are embedded; the best one counts.
            embedder: turns them, and the query, into vectors.
        """
        self._embedder = embedder
        # In the order of the slugs, which decide where two are equally near.
        documents = sorted(collection.documents, key=lambda document: slug_of(document.id))
        texts = [parts(document) for document in documents]
        self._ids = [document.id for document in documents]
        self._vectors = embedder.embed([part for one in texts for part in one])
        self._starts = np.cumsum([0, *map(len, texts)])[:-1]

    def rank(self, query: Query) -> list[str]:
        """Return all documents, nearest first."""
        best = np.maximum.reduceat(self._vectors @ self._embedder.embed([query.text])[0], self._starts)
        return [self._ids[place] for place in np.argsort(-best, kind="stable")]


def baselines_of(owner: Engine, collection: Collection) -> list[System]:
    """Return the systems that need no vectors."""
    search = TextSearch(owner, collection)
    return [
        System(GREP, Grep(collection).rank, _BOTH),
        System(TS_RANK_CD, search.by_cover, _BOTH),
        System(TS_RANK, search.by_frequency, _BOTH),
    ]


def _raw(document: Document) -> str:
    return f"{document.title}\n{document.text}"


def _asked(query: Query) -> str:
    return " ".join((query.text, *query.technologies))


def _words(raw: str) -> list[str]:
    return _WORD.findall(raw.casefold())


def _statement(name: str) -> str:
    lines = (_FOLDER / f"{name}.sql").read_text("utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
