"""The openai-compatible provider against a real HTTP server on this machine."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from app.embedding.endpoint import BATCH, EndpointEmbedder
from app.errors import EmbeddingFailure

BOUND_SECONDS = 5.0


class Service(ThreadingHTTPServer):
    """Answers as the OpenAI API does, until a test gives it another answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.answer: Callable[[_Handler, list[str]], None] = good_answer
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.headers.append(dict(self.headers))
        self.server.paths.append(self.path)
        self.server.answer(self, body["input"])

    def do_GET(self) -> None:
        self.server.paths.append(self.path)

    def log_message(self, *_: Any) -> None:
        return

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def send_vectors(self, vectors: list[Any]) -> None:
        data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        # In reverse: the index counts, not the order.
        self.send(200, json.dumps({"data": data[::-1]}).encode())


def good_answer(handler: _Handler, texts: list[str]) -> None:
    handler.send_vectors([[float(len(text)), 1.0, 0.0] for text in texts])


def status(code: int, **headers: str) -> Callable[[_Handler, list[str]], None]:
    return lambda handler, _: handler.send(code, b"canary", **headers)


def vectors(made: Callable[[list[str]], list[Any]]) -> Callable[[_Handler, list[str]], None]:
    return lambda handler, texts: handler.send_vectors(made(texts))


def silence(handler: _Handler, _: list[str]) -> None:
    time.sleep(2)
    handler.close_connection = True


def trickle(handler: _Handler, _: list[str]) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _second in range(40):
        time.sleep(0.1)
        try:
            handler.wfile.write(b" ")
        except OSError:
            return


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def endpoint(service: Service) -> EndpointEmbedder:
    return EndpointEmbedder(service.url, "some-model", SecretStr("key"), single_seconds=0.5)


def test_it_learns_the_length_of_a_vector_and_embeds(service: Service, endpoint: EndpointEmbedder) -> None:
    """Rows of unit length in the order of the texts, by the index of the answer."""
    rows = endpoint.embed(["aa", "a"])
    assert endpoint.model.dims == 3
    assert np.allclose(rows, [[2 / 5**0.5, 1 / 5**0.5, 0], [1 / 2**0.5, 1 / 2**0.5, 0]])
    assert rows.dtype == np.float32
    assert [len(body["input"]) for body in service.asked] == [1, 2]


def test_it_sends_model_and_key_to_the_embeddings_path(service: Service, endpoint: EndpointEmbedder) -> None:
    """Whether or not the address already ends in it."""
    endpoint.embed(["a"])
    EndpointEmbedder(f"{service.url}/embeddings/", "some-model").embed(["a"])
    assert set(service.paths) == {"/v1/embeddings"}
    assert service.asked[0]["model"] == "some-model"
    assert service.headers[0]["Authorization"] == "Bearer key"
    assert "Authorization" not in service.headers[-1]


def test_many_texts_are_sent_in_batches(service: Service, endpoint: EndpointEmbedder) -> None:
    """Services limit how many they take."""
    assert endpoint.embed(["a"] * (BATCH + 1)).shape == (BATCH + 1, 3)
    assert [len(body["input"]) for body in service.asked] == [1, BATCH, 1]


def test_no_texts_give_no_rows(endpoint: EndpointEmbedder) -> None:
    """An empty batch is not an error."""
    assert endpoint.embed([]).shape == (0, 3)


def test_another_model_name_or_address_is_another_revision(service: Service) -> None:
    """It is all there is to tell models apart."""
    revisions = {
        EndpointEmbedder(url, name).model.revision
        for url in (service.url, f"{service.url}/other")
        for name in ("a", "b")
    }
    assert len(revisions) == 4


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(status(401), "embedding_error", id="unauthorized"),
        pytest.param(status(429), "embedding_error", id="too many"),
        pytest.param(status(500), "embedding_error", id="broken"),
        pytest.param(status(200), "embedding_invalid", id="not JSON"),
        pytest.param(lambda handler, _: handler.send(200, b'{"data": [{}]}'), "embedding_invalid", id="shape"),
        pytest.param(lambda handler, _: handler.send(200, b"[" * 200_000), "embedding_invalid", id="deep"),
        pytest.param(vectors(lambda _: []), "embedding_invalid", id="none"),
        pytest.param(vectors(lambda t: [[1.0] * 3] * (len(t) + 1)), "embedding_invalid", id="many"),
        pytest.param(vectors(lambda t: [[1.0] * 4] * len(t)), "embedding_invalid", id="length"),
        pytest.param(vectors(lambda t: [[0.0] * 3] * len(t)), "embedding_invalid", id="zero"),
        pytest.param(vectors(lambda t: [[float("nan")] * 3] * len(t)), "embedding_invalid", id="NaN"),
        pytest.param(vectors(lambda t: ["abc"] * len(t)), "embedding_invalid", id="text"),
        pytest.param(silence, "embedding_timeout", id="silent"),
        pytest.param(trickle, "embedding_timeout", id="trickling"),
    ],
)
def test_a_bad_answer_is_refused_in_time_without_repeating_anything(
    service: Service,
    endpoint: EndpointEmbedder,
    answer: Callable[[_Handler, list[str]], None],
    reason: str,
) -> None:
    """Neither what was asked nor what was answered."""
    assert endpoint.model.dims == 3
    service.answer = answer
    start = time.monotonic()
    with pytest.raises(EmbeddingFailure) as caught:
        endpoint.embed(["canary"])
    assert time.monotonic() - start < BOUND_SECONDS
    assert caught.value.reason == reason
    assert "canary" not in caught.value.message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_refused_key_names_the_setting(service: Service, endpoint: EndpointEmbedder) -> None:
    """The person who set it is the one who reads it."""
    service.answer = status(401)
    with pytest.raises(EmbeddingFailure, match="CHATCTX_EMBEDDING_API_KEY"):
        endpoint.embed(["a"])


def test_a_redirect_is_not_followed(service: Service, endpoint: EndpointEmbedder) -> None:
    """Questions and key go nowhere but to the address that was set."""
    service.answer = status(302, Location=f"{service.url}/elsewhere")
    with pytest.raises(EmbeddingFailure, match="status 302"):
        endpoint.embed(["a"])
    assert set(service.paths) == {"/v1/embeddings"}


def test_an_endpoint_that_is_not_there_is_an_error(service: Service) -> None:
    """Nothing listens on the port of a server that is closed."""
    gone = Service()
    gone.server_close()
    with pytest.raises(EmbeddingFailure, match="CHATCTX_EMBEDDING_URL") as caught:
        _ = EndpointEmbedder(gone.url, "m").model
    assert caught.value.reason == "embedding_error"


def test_nothing_is_written_to_the_log(
    service: Service,
    endpoint: EndpointEmbedder,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Neither when it works nor when it fails."""
    caplog.set_level(logging.DEBUG)
    endpoint.embed(["canary"])
    service.answer = status(500)
    with pytest.raises(EmbeddingFailure):
        endpoint.embed(["canary"])
    assert "canary" not in caplog.text + "".join(capfd.readouterr())
