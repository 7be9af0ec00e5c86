"""Any HTTP service that speaks the OpenAI embeddings format. It sees every question."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any

import numpy as np
from pydantic import SecretStr

from app.contract import DegradedReason
from app.embedding.artefacts import fingerprint
from app.embedding.vectors import unit_rows
from app.errors import EmbeddingFailure
from app.ports import EmbeddingModel, Vector

BATCH = 32
# Nobody waits that long for a question's vector, but the thread that asks must get free again.
# More texts are records being published.
SINGLE_SECONDS = 5.0
BATCH_SECONDS = 60.0
ANSWER_MAX_BYTES = 32 * 1024 * 1024

_PROBE = "What is the length of a vector?"
_BLOCK_BYTES = 65_536
_KEY_STATUSES = frozenset({401, 403})


class EndpointEmbedder:
    """Asks a service over HTTP.

    No text and no answer is logged or repeated in an error; redirects are not followed. Which model
    answers cannot be checked: address, name and length of a vector stand for it, so a service that
    puts another model behind the same name goes unnoticed.

    Args:
        url: the service, with or without the final `/embeddings`.
        name: the model's name, as the service knows it.
        key: bearer key, or None.
        single_seconds: longest wait for the vector of a single text, which is a question.
    """

    provider = "openai-compatible"

    def __init__(
        self,
        url: str,
        name: str,
        key: SecretStr | None = None,
        *,
        single_seconds: float = SINGLE_SECONDS,
    ) -> None:
        self._url = url.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self._name = name
        self._key = key
        self._single_seconds = single_seconds
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._probing = threading.Lock()
        self._model: EmbeddingModel | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model; asks the service once how long its vectors are. Raises EmbeddingFailure."""
        with self._probing:
            if self._model is None:
                self._model = self._described(len(self._ask([_PROBE])[0]))
            return self._model

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32[n, dims], rows of unit length, in the order of the texts.

        Raises:
            EmbeddingFailure: the service cannot be reached, refuses, is late, or gives unusable vectors.
        """
        dims = self.model.dims
        if not texts:
            return np.empty((0, dims), dtype=np.float32)
        starts = range(0, len(texts), BATCH)
        rows = [row for start in starts for row in self._ask(texts[start : start + BATCH])]
        return unit_rows(rows, count=len(texts), dims=dims)

    def _described(self, dims: int) -> EmbeddingModel:
        facts = {"url": self._url, "model": self._name, "dims": dims, "unit_length": True}
        return EmbeddingModel(self._name, fingerprint(facts), dims)

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the service's vectors, one for each text."""
        seconds = self._single_seconds if len(texts) == 1 else BATCH_SECONDS
        rows = _read_rows(_fetch(self._opener, self._request(texts), seconds))
        if len(rows) != len(texts) or not rows[0]:
            raise _invalid("did not give one vector for each text")
        return rows

    def _request(self, texts: Sequence[str]) -> urllib.request.Request:
        question = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        headers = {"Content-Type": "application/json", "User-Agent": "chatctx"}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        body = json.dumps(question).encode()
        # The settings take only http and https addresses.
        return urllib.request.Request(self._url, data=body, headers=headers)  # noqa: S310


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Questions and key go to the address that was set and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse; the redirect then counts as an error answer."""


def _fetch(opener: urllib.request.OpenerDirector, request: urllib.request.Request, seconds: float) -> bytes:
    deadline = time.monotonic() + seconds
    try:
        with opener.open(request, timeout=seconds) as answer:
            return _read(answer, deadline)
    except urllib.error.HTTPError as error:
        error.close()
        raise _refused(error.code) from None
    except (OSError, HTTPException, ValueError) as error:
        raise _unreachable(error) from None


def _read(answer: Any, deadline: float) -> bytes:
    """Read block by block, so that a trickle ends at the deadline and a flood at the limit."""
    content = bytearray()
    while block := answer.read1(_BLOCK_BYTES):
        content += block
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(content) > ANSWER_MAX_BYTES:
            raise ValueError
    return bytes(content)


def _read_rows(content: bytes) -> list[list[float]]:
    try:
        entries = sorted(json.loads(content)["data"], key=lambda entry: int(entry["index"]))
        return [list(entry["embedding"]) for entry in entries]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _invalid("does not answer in the OpenAI embeddings format") from None


def _refused(status: int) -> EmbeddingFailure:
    cause = "API_KEY" if status in _KEY_STATUSES else "URL and CHATCTX_EMBEDDING_MODEL"
    message = f"The embedding endpoint answered with status {status}: check CHATCTX_EMBEDDING_{cause}."
    return EmbeddingFailure(DegradedReason.EMBEDDING_ERROR, message)


def _unreachable(error: Exception) -> EmbeddingFailure:
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        message = "The embedding endpoint did not answer in time."
        return EmbeddingFailure(DegradedReason.EMBEDDING_TIMEOUT, message)
    kind = type(cause).__name__
    message = f"The embedding endpoint cannot be used ({kind}): check CHATCTX_EMBEDDING_URL."
    return EmbeddingFailure(DegradedReason.EMBEDDING_ERROR, message)


def _invalid(what: str) -> EmbeddingFailure:
    return EmbeddingFailure(DegradedReason.EMBEDDING_INVALID, f"The embedding endpoint {what}.")
