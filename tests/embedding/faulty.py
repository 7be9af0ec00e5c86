"""Embedders that fail in a chosen way, and a clock that stands still until it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from app.ports import EmbeddingModel

DIMS = 4
GOOD = [3.0, 0.0, 4.0, 0.0]
MODEL = EmbeddingModel("scripted", "r1", DIMS)


class FakeClock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime.now(UTC)


class ScriptedEmbedder:
    """Answers each call with what `answer` returns or raises, and counts the calls."""

    provider = "scripted"

    def __init__(self, answer: Callable[[Sequence[str]], Any] | None = None) -> None:
        self.answer = answer or (lambda texts: [GOOD for _ in texts])
        self.model = MODEL
        self.calls: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls.extend(texts)
        return self.answer(texts)


class HangingEmbedder(ScriptedEmbedder):
    """Hangs until it is cured."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self._cured = threading.Event()
        super().__init__(self._hang)

    def cure(self) -> None:
        self._cured.set()

    def _hang(self, texts: Sequence[str]) -> Any:
        self.entered.set()
        self._cured.wait(60)
        return [GOOD for _ in texts]
