"""The one check that every vector passes, whoever made it."""

from __future__ import annotations

import numpy as np

from app.contract import DegradedReason
from app.errors import EmbeddingFailure
from app.ports import Vector

# Far below the norm of any real embedding, far above what rounding leaves of a zero vector.
_SMALLEST_NORM = 1e-6


def unit_rows(raw: object, *, count: int, dims: int) -> Vector:
    """Return a model's output as float32[count, dims] with rows of unit length.

    Args:
        raw: what the model gave: an array or nested sequences.
        count: number of texts that were embedded.
        dims: length that a vector of this model must have.

    Raises:
        EmbeddingFailure: `embedding_invalid`, when shape or values are not those of usable vectors.
            A zero vector is refused because its cosine distance to everything is NaN, which
            PostgreSQL sorts last without a word.
    """
    rows = _as_floats(raw)
    if rows.shape != (count, dims):
        raise _invalid(f"an array of shape {rows.shape} where {(count, dims)} was expected")
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise _invalid("a vector that is not finite")
    if (norms < _SMALLEST_NORM).any():
        raise _invalid("a zero vector")
    unit: Vector = (rows / norms).astype(np.float32)
    return unit


def _as_floats(raw: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    try:
        return np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _invalid("something that is not an array of numbers") from None


def _invalid(what: str) -> EmbeddingFailure:
    return EmbeddingFailure(DegradedReason.EMBEDDING_INVALID, f"The embedding model gave {what}.")
