"""What counts as a usable vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.contract import DegradedReason
from app.embedding.vectors import unit_rows
from app.errors import EmbeddingFailure


def test_rows_come_out_as_float32_of_unit_length() -> None:
    """Whatever scale the model gave."""
    rows = unit_rows([[3.0, 4.0], [0.0, -2e-3]], count=2, dims=2)
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0.0, -1.0]])


def test_no_texts_give_no_rows() -> None:
    """An empty batch is not an error."""
    assert unit_rows(np.empty((0, 3)), count=0, dims=3).shape == (0, 3)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param([[1.0, 2.0, 3.0]], id="too long"),
        pytest.param([[1.0]], id="too short"),
        pytest.param([[1.0, 0.0], [1.0, 0.0]], id="too many"),
        pytest.param([1.0, 0.0], id="flat"),
        pytest.param([[1.0], [1.0, 2.0]], id="ragged"),
        pytest.param([[float("nan"), 1.0]], id="NaN"),
        pytest.param([[float("inf"), 1.0]], id="infinite"),
        pytest.param([[1e200, 1e200]], id="length overflows"),
        pytest.param([[0.0, 0.0]], id="zero"),
        pytest.param([[1e-30, 0.0]], id="as good as zero"),
        pytest.param([["a", "b"]], id="words"),
        pytest.param([[None, 1.0]], id="null"),
        pytest.param(None, id="nothing"),
    ],
)
def test_an_unusable_vector_is_refused_as_invalid(raw: Any) -> None:
    """The reason is the public one for a bad vector."""
    with pytest.raises(EmbeddingFailure) as caught:
        unit_rows(raw, count=1, dims=2)
    assert caught.value.reason == DegradedReason.EMBEDDING_INVALID
