"""A stand-in for the model behind a coding agent: it asks for the calls it was told to, and keeps what they gave.

It speaks as much of the Anthropic and Gemini interfaces as the agents need. What the agents do with the server is
theirs; only the decision to call is scripted.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOL_MARK = "chatctx_"
FINISHED = "Done."


class ScriptedModel:
    """The script of one conversation, and what was seen of it.

    Attributes:
        tools: the server's tools that the agent offered, without its prefix.
        answers: for each call, whether the agent calls it an error, and the text it handed on.
    """

    def __init__(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        self._calls = calls
        self.tools: list[str] = []
        self.answers: list[tuple[bool, str]] = []
        self.url = ""

    @contextmanager
    def listening(self) -> Iterator[ScriptedModel]:
        """Answer on a port of this machine until the block ends."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def next_call(self, offered: Sequence[str], answers: list[tuple[bool, str]]) -> tuple[str, dict[str, Any]] | None:
        """Return the name, as offered, and the arguments of the next call; None when there is none to make.

        What was answered so far comes with every request, so one that is sent again changes nothing.
        """
        ours = {name.rpartition(TOOL_MARK)[2].lstrip("_"): name for name in offered if TOOL_MARK in name}
        if not ours:
            return None
        self.tools, self.answers = list(ours), answers
        if len(answers) >= len(self._calls) or (answers and answers[-1][0]):
            return None
        name, arguments = self._calls[len(answers)]
        text = json.dumps(arguments)
        if "$ID" in text:
            text = text.replace("$ID", json.loads(self.answers[0][1])["results"][0]["id"])
        return ours[name], json.loads(text)

    def anthropic(self, request: Mapping[str, Any]) -> bytes:
        """Return the stream that answers POST /v1/messages."""
        blocks = [block for turn in request["messages"] for block in turn["content"] if isinstance(block, dict)]
        results = [block for block in blocks if block["type"] == "tool_result"]
        answers = [(bool(result.get("is_error")), _text(result["content"])) for result in results]
        call = self.next_call([tool["name"] for tool in request.get("tools", [])], answers)
        if call is None:
            block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": FINISHED}, "end_turn"
        else:
            block = {"type": "tool_use", "id": f"toolu_{len(self.answers)}", "name": call[0], "input": {}}
            delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}, "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        whole = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": request["model"]}
        events = [
            {"type": "message_start", "message": {**whole, "stop_reason": None, "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()

    def gemini(self, request: Mapping[str, Any]) -> bytes:
        """Return the stream that answers POST .../models/...:streamGenerateContent."""
        parts = [part for turn in request["contents"] for part in turn["parts"] if "functionResponse" in part]
        answers = [_given(part["functionResponse"]["response"]) for part in parts]
        declared = [tool.get("functionDeclarations", []) for tool in request.get("tools", [])]
        call = self.next_call([tool["name"] for tools in declared for tool in tools], answers)
        part = {"text": FINISHED} if call is None else {"functionCall": {"name": call[0], "args": call[1]}}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\r\n\r\n".encode()


def _text(content: Any) -> str:
    return content if isinstance(content, str) else str(content[0]["text"])


def _given(response: Mapping[str, str]) -> tuple[bool, str]:
    """Return a result as the agent means it: what comes from a server stands between two marks."""
    lines = [line for line in response.get("output", "").splitlines() if not line.startswith("<")]
    return "error" in response, response.get("error") or "\n".join(lines)


class _Handler(BaseHTTPRequestHandler):
    model: ScriptedModel

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.partition("?")[0] == "/v1/messages":
            self._send(self.model.anthropic(request), "text/event-stream")
        elif ":streamGenerateContent" in self.path:
            self._send(self.model.gemini(request), "text/event-stream")
        else:
            self._send(b"{}", "application/json")

    def do_HEAD(self) -> None:
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        self._send(b"{}", "application/json")

    def _send(self, body: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Say nothing."""
