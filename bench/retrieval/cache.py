"""Vectors on disk: a text is embedded once by each model, however often it is measured.

`.cache/bench/vectors/<model>/` holds files of two arrays: `keys`, uint8[n, 32], the SHA-256 of each text, and
`vectors`, float32[n, dims]. A run that is stopped loses at most one file's worth of work.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.ports import Embedder, EmbeddingModel, Vector
from bench.retrieval.progress import Progress

FOLDER = Path(__file__).resolve().parents[2] / ".cache/bench/vectors"
TEXTS_PER_FILE = 64


class CachedEmbedder:
    """Implements `app.ports.Embedder` over another one.

    Texts are embedded one by one: with dynamic int8 activations the neighbours in a batch move a vector's last digits.
    """

    def __init__(self, embedder: Embedder, folder: Path = FOLDER) -> None:
        """Read what is cached.

        Args:
            embedder: makes the vectors that are missing; its model names the folder.
            folder: where the folders of all models are.
        """
        self._embedder = embedder
        self._folder = folder / f"{embedder.model.model_id}-{embedder.model.revision[:16]}"
        self._known = _read(self._folder)

    @property
    def provider(self) -> str:
        """Name of what makes the vectors."""
        return self._embedder.provider

    @property
    def model(self) -> EmbeddingModel:
        """The model the vectors come from."""
        return self._embedder.model

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, dims], rows of unit length, in the order of the texts; missing ones are made and kept.

        Raises:
            EmbeddingFailure: the model cannot be loaded or fails.
            OSError: the folder cannot be written.
        """
        wanted = {_key(text): text for text in texts}
        self._make({key: text for key, text in wanted.items() if key not in self._known})
        rows = [self._known[_key(text)] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.model.dims)

    def _make(self, missing: dict[bytes, str]) -> None:
        keys = list(missing)
        progress = Progress(f"embedding with {self._folder.name}", len(keys))
        for start in range(0, len(keys), TEXTS_PER_FILE):
            batch = keys[start : start + TEXTS_PER_FILE]
            vectors = np.concatenate([self._embedder.embed([missing[key]]) for key in batch])
            _write(self._folder, batch, vectors)
            self._known.update(zip(batch, vectors, strict=True))
            progress.advance(len(batch))
        progress.close()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _read(folder: Path) -> dict[bytes, Vector]:
    known: dict[bytes, Vector] = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as stored:
            known.update(zip(map(bytes, stored["keys"]), stored["vectors"], strict=True))
    return known


def _write(folder: Path, keys: Sequence[bytes], vectors: Vector) -> None:
    """Write a file under its content's name, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(b"".join(keys)).hexdigest()[:16]
    scratch = folder / f"{name}.{os.getpid()}.tmp"
    with scratch.open("wb") as file:
        np.savez(file, keys=np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 32), vectors=vectors)
    scratch.replace(folder / f"{name}.npz")
