"""An embedding service of our own on a real socket: small deterministic models, and faults to be had at will."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes import HashingEmbedder

# The texts of one question alone: it is what callers wait for. More come from a publish.
Fault = Callable[["Handler", list[list[float]]], None]


class Service(ThreadingHTTPServer):
    """Answers as the OpenAI API does, with the model that is named.

    Attributes:
        faults: how a caller's single texts are answered, by its key; who is not in it is answered well.
        asked: how many single texts each caller has sent, by its key.
    """

    daemon_threads = True

    def __init__(self, models: Mapping[str, HashingEmbedder]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.models = models
        self.faults: dict[str, Fault] = {}
        self.asked: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def settings(self, model: str, key: str = "anybody") -> dict[str, str]:
        """Return the environment of a program that uses a model of this service, under a key of its own."""
        return {
            "CHATCTX_EMBEDDING_API_KEY": key,
            "CHATCTX_EMBEDDER": "openai-compatible",
            "CHATCTX_EMBEDDING_URL": self.url,
            "CHATCTX_EMBEDDING_MODEL": model,
            "NO_PROXY": "127.0.0.1",
        }

    def handle_error(self, *_: object) -> None:
        """Say nothing of callers that did not wait; everything else is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(*_)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = self.server.models[body["model"]].embed(body["input"]).tolist()
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        fault = self.server.faults.get(key) if len(rows) == 1 else None
        self.server.asked[key] += len(rows) == 1
        if fault is None:
            self.send(rows)
        else:
            fault(self, rows)

    def send(self, rows: Sequence[Any], status: int = 200) -> None:
        data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
        content = json.dumps({"data": data}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def embedding_service(**models: HashingEmbedder) -> Iterator[Service]:
    """Run a service; its models go by the names of the arguments."""
    with Service(models) as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
