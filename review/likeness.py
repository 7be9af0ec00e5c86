"""How near records are in meaning: computed once for a whole check and handed to the gates as plain numbers."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np

from app.indexing import embedding_texts
from app.ports import Embedder, Vector
from app.record import Record
from review.gates import pair_key

_BATCH = 8

Progress = Callable[[int, int], None]


def _silence(_done: int, _total: int) -> None:
    """Tell nobody."""


class VectorCache:
    """Vectors of texts read before, in one file: approving eighty records must not embed eighty records eighty times.

    Whatever is wrong with the file, the vectors are made again; a file that cannot be written is done without.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._vectors = self._read()

    def get(self, text: str) -> Vector | None:
        """Return the vector of a text, None when it has not been read before."""
        return self._vectors.get(_key(text))

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Replace what is kept: texts that are no longer in any record are forgotten."""
        fresh = {_key(text): vector for text, vector in vectors.items()}
        if fresh.keys() == self._vectors.keys():
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._path.parent, suffix=".part")
            with os.fdopen(descriptor, "wb") as part:
                np.savez(part, **fresh)  # type: ignore[arg-type]
            Path(name).replace(self._path)
        except OSError:
            return

    def _read(self) -> dict[str, Vector]:
        try:
            with self._path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
            return {}


def cache_path(home: Path, embedder: Embedder) -> Path:
    """Return where the vectors of this very model are kept. Raises EmbeddingFailure when it cannot be loaded."""
    model = embedder.model
    name = hashlib.sha256(f"{model.model_id}\0{model.revision}\0{model.dims}".encode()).hexdigest()
    return home / "review" / f"likeness-{name[:16]}.npz"


def pairwise_cosine(
    records: Iterable[Record],
    embedder: Embedder,
    *,
    cache: VectorCache | None = None,
    progress: Progress = _silence,
) -> Mapping[tuple[str, str], float]:
    """Return the cosine between the texts of every two records. Raises EmbeddingFailure."""
    texts = {record.slug: embedding_texts(record)["text"] for record in records}
    if not texts:
        return {}
    vectors = embedded(sorted(set(texts.values())), embedder, cache, progress)
    slugs = sorted(texts)
    matrix = np.stack([vectors[texts[slug]] for slug in slugs])  # float32[n, dims], rows of unit length
    cosines = matrix @ matrix.T
    return {
        pair_key(one, other): float(cosines[row, column])
        for row, one in enumerate(slugs)
        for column, other in enumerate(slugs)
        if row < column
    }


def embedded(
    texts: list[str], embedder: Embedder, cache: VectorCache | None, progress: Progress = _silence
) -> dict[str, Vector]:
    """Return the vector of each text, from the cache where it is there. Raises EmbeddingFailure."""
    known = {text: cache.get(text) for text in texts} if cache else {}
    vectors = {text: vector for text, vector in known.items() if vector is not None}
    unread = [text for text in texts if text not in vectors]
    for start in range(0, len(unread), _BATCH):
        batch = unread[start : start + _BATCH]
        vectors |= dict(zip(batch, embedder.embed(batch), strict=True))
        progress(start + len(batch), len(unread))
    if cache:
        cache.keep(vectors)
    return vectors


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
