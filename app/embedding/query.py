"""Questions embedded in bounded time, whatever the model does."""

from __future__ import annotations

import threading
import unicodedata
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from app.contract import DegradedReason
from app.embedding.breaker import Breaker
from app.embedding.cache import VectorCache
from app.embedding.thinning import thin
from app.embedding.vectors import unit_rows
from app.embedding.windows import embed_question
from app.embedding.worker import LineFullError, Worker, WorkerClosedError
from app.errors import EmbeddingFailure
from app.ports import Clock, Embedder, EmbeddingModel, QueryEmbedding

WAITING_QUESTIONS = 8


def normal_form(question: str, *, fold_case: bool) -> str:
    """Return the text that stands for a question: thinned, NFC, single spaces, caseless if case does not count."""
    text = " ".join(unicodedata.normalize("NFC", thin(question)).split())
    return text.casefold() if fold_case else text


@dataclass(frozen=True)
class _Failed:
    """Why a computation gave nothing. Not the exception: its traceback would keep the question."""

    reason: str
    message: str


_Outcome = QueryEmbedding | _Failed


@dataclass
class _Computation:
    """One question being embedded, for all who ask it meanwhile. Guarded by the embedder's lock.

    Attributes:
        waiters: callers still waiting.
        counted: its outcome, or that it took too long, has been told to the breaker.
    """

    key: bytes
    future: Future[_Outcome] = field(default_factory=Future)
    waiters: int = 0
    counted: bool = False


class BoundedQueryEmbedder:
    """A `ports.QueryEmbedder`: one thread, a line of 8, a deadline, a circuit breaker, a cache.

    Thread-safe. The text that is embedded is the one the cache knows the question by, so that an
    answer never depends on which spelling of a question came first.

    Args:
        embedder: the provider. It is called from one thread only.
        clock: monotonic seconds for the breaker; the deadline itself is waited for in real time.
        timeout_ms: longest wait of a caller, from the call to the answer or the refusal.
        cache_size: vectors kept; 0 keeps none.
        fold_case: upper and lower case are the same question.
        waiting: questions that may wait for the one being embedded.
    """

    def __init__(
        self,
        embedder: Embedder,
        clock: Clock,
        *,
        timeout_ms: int,
        cache_size: int,
        fold_case: bool,
        waiting: int = WAITING_QUESTIONS,
    ) -> None:
        self._embedder = embedder
        self._clock = clock
        self._timeout_seconds = timeout_ms / 1000
        self._fold_case = fold_case
        self._lock = threading.Lock()
        self._cache = VectorCache(cache_size)
        self._breaker = Breaker()
        self._model: EmbeddingModel | None = None
        self._pending: dict[bytes, _Computation] = {}
        self._worker = Worker("embed-query", waiting)

    @property
    def provider(self) -> str:
        """Name of the provider."""
        return self._embedder.provider

    def circuit(self) -> Literal["closed", "open", "half_open"]:
        """State of the breaker now."""
        with self._lock:
            return self._breaker.state(self._clock.monotonic())

    def warm_up(self, patience: float = 0.0) -> None:
        """Load the model in the background, and wait for it up to `patience` seconds.

        A model that cannot be loaded shows at the first question, not here.
        """
        with suppress(LineFullError, WorkerClosedError, TimeoutError, CancelledError):
            self._worker.submit(partial(self._compute_vector, "warm up")).result(patience)

    def embed_query(self, query: str) -> QueryEmbedding:
        """Return the question's vector (read-only float32[dims], unit length), or give up at the deadline.

        Raises:
            EmbeddingFailure: reason `embedding_timeout`, `embedding_busy` (8 questions wait),
                `embedding_circuit_open` (5 failures in a row, the last less than 15 s ago),
                `embedding_invalid` or `embedding_error`.
        """
        text = normal_form(query, fold_case=self._fold_case)
        with self._lock:
            key = self._cache.key(text, self._model)
            kept = self._cache.get(key)
            if kept is not None:
                return replace(kept, cache="hit")
            computation = self._pending.get(key) or self._start(key, text)
            computation.waiters += 1
        return self._await(computation)

    def close(self) -> None:
        """Stop; callers that wait and later ones get `embedding_error`. May be called twice."""
        self._worker.close()

    def _start(self, key: bytes, text: str) -> _Computation:
        """Give a question to the worker, if breaker and line let it. The lock is held."""
        admitted = self._breaker.admit(self._clock.monotonic())
        if admitted is None:
            raise _circuit_open()
        computation = _Computation(key)
        try:
            computation.future = self._worker.submit(partial(self._compute, computation, text))
        except LineFullError:
            raise _busy() from None
        except WorkerClosedError:
            raise _closed() from None
        self._breaker = admitted
        self._pending[key] = computation
        return computation

    def _await(self, computation: _Computation) -> QueryEmbedding:
        try:
            outcome = computation.future.result(self._timeout_seconds)
        except TimeoutError:
            self._give_up(computation)
            raise _too_late() from None
        except CancelledError:
            raise _closed() from None
        if isinstance(outcome, _Failed):
            raise EmbeddingFailure(outcome.reason, outcome.message)
        return outcome

    def _give_up(self, computation: _Computation) -> None:
        """Note a missed deadline, once; the last waiter to leave frees the place in the line."""
        with self._lock:
            computation.waiters -= 1
            # The same question asked again is a new try, which the breaker must see.
            self._forget(computation)
            if computation.waiters == 0:
                computation.future.cancel()
            self._tell_breaker(computation, succeeded=False)

    def _compute(self, computation: _Computation, text: str) -> _Outcome:
        """Embed in the worker's thread. Never raises. A late vector is kept for the next time."""
        outcome = self._compute_vector(text)
        with self._lock:
            self._forget(computation)
            if isinstance(outcome, QueryEmbedding):
                self._model = outcome.model
                self._cache.put(self._cache.key(text, outcome.model), outcome)
            self._tell_breaker(computation, succeeded=isinstance(outcome, QueryEmbedding))
        return outcome

    def _compute_vector(self, text: str) -> _Outcome:
        try:
            model = self._embedder.model
            raw, truncated = embed_question(self._embedder, text)
            vector = unit_rows([raw], count=1, dims=model.dims)[0]
        except EmbeddingFailure as failure:
            return _Failed(failure.reason, failure.message)
        except BaseException as error:  # noqa: BLE001 - a Rust panic is no Exception
            kind = type(error).__name__
            return _Failed(DegradedReason.EMBEDDING_ERROR, f"The embedding model failed ({kind}).")
        vector.setflags(write=False)
        return QueryEmbedding(vector, model, "miss", truncated)

    def _forget(self, computation: _Computation) -> None:
        if self._pending.get(computation.key) is computation:
            del self._pending[computation.key]

    def _tell_breaker(self, computation: _Computation, *, succeeded: bool) -> None:
        if not computation.counted:
            computation.counted = True
            now = self._clock.monotonic()
            self._breaker = self._breaker.succeeded() if succeeded else self._breaker.failed(now)


class DisabledQueryEmbedder:
    """The `ports.QueryEmbedder` of a server that searches by words only."""

    provider = "none"

    def circuit(self) -> Literal["closed"]:
        """Nothing can fail."""
        return "closed"

    def warm_up(self, patience: float = 0.0) -> None:
        """Do nothing."""

    def embed_query(self, query: str) -> QueryEmbedding:  # noqa: ARG002 - the port names it
        """Raise EmbeddingFailure with reason `embedding_disabled`, always."""
        message = "Searching by meaning is switched off."
        raise EmbeddingFailure(DegradedReason.EMBEDDING_DISABLED, message)

    def close(self) -> None:
        """Do nothing."""


def _circuit_open() -> EmbeddingFailure:
    message = "The embedding model failed repeatedly and is left alone for a while."
    return EmbeddingFailure(DegradedReason.EMBEDDING_CIRCUIT_OPEN, message)


def _busy() -> EmbeddingFailure:
    message = "Too many questions wait for the embedding model."
    return EmbeddingFailure(DegradedReason.EMBEDDING_BUSY, message)


def _too_late() -> EmbeddingFailure:
    message = "The embedding model did not answer in time."
    return EmbeddingFailure(DegradedReason.EMBEDDING_TIMEOUT, message)


def _closed() -> EmbeddingFailure:
    message = "The embedding model has been shut down."
    return EmbeddingFailure(DegradedReason.EMBEDDING_ERROR, message)
