"""How near records are in meaning: computed once for a whole check and handed to the gates as plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from app.indexing import embedding_texts
from app.ports import Embedder
from app.record import Record
from review.gates import pair_key

_BATCH = 8


def pairwise_cosine(
    records: Iterable[Record],
    embedder: Embedder,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Mapping[tuple[str, str], float]:
    """Return the cosine between the texts of every two records. Raises EmbeddingFailure."""
    kept = sorted(records, key=lambda record: record.slug)
    if not kept:
        return {}
    texts = [embedding_texts(record)["text"] for record in kept]
    batches = []
    for start in range(0, len(texts), _BATCH):
        batches.append(embedder.embed(texts[start : start + _BATCH]))
        progress(min(start + _BATCH, len(texts)), len(texts))
    vectors = np.concatenate(batches)  # float32[n, dims], rows of unit length
    cosines = vectors @ vectors.T
    return {
        pair_key(kept[row].slug, kept[column].slug): float(cosines[row, column])
        for row in range(len(kept))
        for column in range(row + 1, len(kept))
    }
