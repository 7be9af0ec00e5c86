"""From settings to a provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.embedding import create_embedder, create_query_embedder
from app.embedding.query import BoundedQueryEmbedder, DisabledQueryEmbedder
from app.errors import SettingsError
from app.settings import Settings, read_settings
from tests.embedding.faulty import FakeClock

URL = "CHATCTX_EMBEDDING_URL"
ENDPOINT = {"CHATCTX_EMBEDDER": "openai-compatible", URL: "https://embed.example/v1"}
NAMED = ENDPOINT | {"CHATCTX_EMBEDDING_MODEL": "m"}
KEYED = NAMED | {"CHATCTX_EMBEDDING_API_KEY": "k"}


def settings(environ: dict[str, str]) -> Settings:
    return read_settings(environ, base=Path("/nowhere"))


@pytest.mark.parametrize(
    ("environ", "provider"),
    [
        ({}, "onnx"),
        ({"CHATCTX_EMBEDDER": "onnx"}, "onnx"),
        ({"CHATCTX_EMBEDDER": "sentence-transformers"}, "sentence-transformers"),
        (NAMED, "openai-compatible"),
        (KEYED, "openai-compatible"),
        (NAMED | {URL: "http://embed:8080/v1"}, "openai-compatible"),
        (KEYED | {URL: "http://127.0.0.1:11434/v1"}, "openai-compatible"),
        (KEYED | {URL: "http://[::1]:11434/v1"}, "openai-compatible"),
    ],
)
def test_the_settings_choose_the_provider(environ: dict[str, str], provider: str) -> None:
    """Without loading its model or asking its service."""
    embedder = create_embedder(settings(environ))
    assert embedder is not None
    assert embedder.provider == provider


def test_none_means_no_embedder() -> None:
    """Questions are then refused as disabled."""
    chosen = settings({"CHATCTX_EMBEDDER": "none"})
    assert create_embedder(chosen) is None
    assert isinstance(create_query_embedder(chosen, None, FakeClock()), DisabledQueryEmbedder)


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"CHATCTX_EMBEDDER": "openai-compatible"}, URL),
        (ENDPOINT, "CHATCTX_EMBEDDING_MODEL"),
        (KEYED | {URL: "http://embed.example/v1"}, URL),
        (KEYED | {URL: "http://127.0.0.1.example/v1"}, URL),
    ],
)
def test_an_endpoint_that_cannot_work_or_would_leak_its_key_is_refused(environ: dict[str, str], variable: str) -> None:
    """At the start, by the name of the setting."""
    with pytest.raises(SettingsError, match=variable):
        create_embedder(settings(environ))


def test_a_query_embedder_takes_deadline_and_cache_from_the_settings() -> None:
    """And folds case for the shipped model, which does not see it."""
    chosen = settings({"CHATCTX_EMBEDDING_TIMEOUT_MS": "10000", "CHATCTX_EMBEDDING_CACHE": "1"})
    queries = create_query_embedder(chosen, create_embedder(chosen), FakeClock())
    assert isinstance(queries, BoundedQueryEmbedder)
    queries.embed_query("Retry with Jitter")
    assert queries.embed_query("retry with jitter").cache == "hit"
    queries.embed_query("another")
    assert queries.embed_query("retry with jitter").cache == "miss"
    queries.close()
