"""Which provider the settings ask for. A provider's libraries are loaded only if it is chosen."""

from __future__ import annotations

from urllib.parse import urlsplit

from app.embedding.query import BoundedQueryEmbedder, DisabledQueryEmbedder
from app.errors import SettingsError
from app.ports import Clock, Embedder
from app.settings import Settings

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def create_embedder(settings: Settings) -> Embedder | None:
    """Return the provider that `CHATCTX_EMBEDDER` names, or None for `none`.

    No model is loaded yet: the first use of `.model` or `.embed` loads it, or raises EmbeddingFailure.

    Raises:
        SettingsError: the provider needs a setting that is missing, or would send its key unprotected.
    """
    if settings.embedder == "onnx":
        return _onnx()
    if settings.embedder == "sentence-transformers":
        return _sentence_transformers(settings)
    if settings.embedder == "openai-compatible":
        return _endpoint(settings)
    return None


def create_query_embedder(
    settings: Settings, embedder: Embedder | None, clock: Clock
) -> BoundedQueryEmbedder | DisabledQueryEmbedder:
    """Return what embeds questions; without a provider it refuses all as `embedding_disabled`.

    Call `warm_up()` when the server starts and `close()` when it ends.
    """
    if embedder is None:
        return DisabledQueryEmbedder()
    return BoundedQueryEmbedder(
        embedder,
        clock,
        timeout_ms=settings.embedding_timeout_ms,
        cache_size=settings.embedding_cache,
        # The shipped tokenizer lowercases anyway. Another model may tell `Polish` from `polish`.
        fold_case=settings.embedder == "onnx",
        # As many as can ask at once: a burst that the server takes on is not turned into a search by words.
        waiting=settings.max_concurrent_calls,
    )


def _onnx() -> Embedder:
    from app.embedding.onnx import OnnxEmbedder  # noqa: PLC0415

    return OnnxEmbedder()


def _sentence_transformers(settings: Settings) -> Embedder:
    from app.embedding.sentencetransformer import SentenceTransformersEmbedder  # noqa: PLC0415

    return SentenceTransformersEmbedder(settings.embedding_model)


def _endpoint(settings: Settings) -> Embedder:
    from app.embedding.endpoint import EndpointEmbedder  # noqa: PLC0415

    url, name, key = settings.embedding_url, settings.embedding_model, settings.embedding_api_key
    if url is None:
        raise SettingsError("CHATCTX_EMBEDDING_URL: set the address of the openai-compatible service")
    if name is None:
        raise SettingsError("CHATCTX_EMBEDDING_MODEL: set the name by which the service knows the model")
    if key is not None and not _is_private_way(url):
        raise SettingsError("CHATCTX_EMBEDDING_URL: a key is sent over https or to this machine only; use https")
    return EndpointEmbedder(url, name, key)


def _is_private_way(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK
