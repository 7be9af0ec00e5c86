"""The real default model, loaded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.embedding.onnx import OnnxEmbedder

if TYPE_CHECKING:
    from app.ports import Embedder


@pytest.fixture(scope="session")
def onnx() -> OnnxEmbedder:
    return OnnxEmbedder()


@pytest.fixture(scope="session")
def embedder(onnx: OnnxEmbedder) -> Embedder:
    return onnx
