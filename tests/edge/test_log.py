"""The log: listed fields only, and nothing of what callers send, are called, or come from."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from app.transports import eventlog
from tests.edge.wire import call_modern, call_tool, http_post, message, post, raw

CANARY = "canary7f3a9"


def lines(caplog) -> list[dict]:
    return [json.loads(record.message) for record in caplog.records if record.name == eventlog.LOGGER]


def test_a_call_is_one_line_of_listed_fields(fresh_edge, caplog):
    caplog.set_level(logging.INFO)
    call_modern(fresh_edge.endpoint, "tools/call", {"name": "search_knowledge", "arguments": {"query": "ab"}})
    (line,) = (line for line in lines(caplog) if line["event"] == "request")
    milliseconds = line.pop("ms")
    assert 0 < milliseconds < 5000
    assert line == {
        "event": "request",
        "http": "POST",
        "method": "tools/call",
        "status": 200,
        "tool": "search_knowledge",
        "mode": "no_match",
        "era": "2026-07-28",
    }


def test_nothing_a_caller_sends_gets_into_the_log(fresh_edge, caplog):
    """A canary in every place a request has, through every kind of answer, at the lowest level."""
    caplog.set_level(logging.DEBUG)
    edge = fresh_edge
    text = {"query": CANARY, "technologies": [CANARY], "versions": {CANARY: CANARY}}
    for arguments in (text, {**text, CANARY: 1}, {"query": CANARY + "\0"}, {"query": [CANARY]}, [CANARY], CANARY):
        call_tool(edge.endpoint, "search_knowledge", arguments)
    call_tool(edge.endpoint, CANARY, {})
    call_tool(edge.endpoint, "submit_feedback", {"category": "other", "comment": CANARY, "record": CANARY})
    post(edge.endpoint, message(CANARY, {CANARY: CANARY}, request_id=CANARY))
    post(edge.endpoint, message("initialize", {"protocolVersion": CANARY, "clientInfo": {"name": CANARY}}))
    post(edge.endpoint, {"jsonrpc": "2.0", "method": CANARY})
    post(edge.endpoint, CANARY.encode())
    post(edge.endpoint, [CANARY])
    call_modern(edge.endpoint, CANARY)
    for header in ("host", "origin", "accept", "content-type", "authorization", "mcp-protocol-version", "user-agent"):
        post(edge.endpoint, message("ping"), **{header: CANARY})
    post(edge.endpoint, message("ping"), x_forwarded_for=CANARY, cookie=CANARY)
    httpx.get(f"{edge.url}/{CANARY}?{CANARY}={CANARY}")
    httpx.post(f"{edge.endpoint}?access_token={CANARY}", json={})
    raw(edge.port, http_post(edge.port, b"{}", f"{CANARY} bad header"))
    raw(edge.port, f"{CANARY} / HTTP/9.9\r\n\r\n".encode())
    ours = [r for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert len(lines(caplog)) > 20
    for record in ours:
        assert CANARY not in record.getMessage() + str(record.exc_text) + str(record.exc_info)
        assert "127.0.0.1" not in record.getMessage()


def test_a_key_does_not_get_into_the_log(fresh_edge, caplog):
    caplog.set_level(logging.DEBUG)
    key = fresh_edge.new_key()
    fresh_edge.store.add_key(key)
    call_tool(fresh_edge.endpoint, "search_knowledge", {"query": "ab"}, authorization=f"Bearer {key.text}")
    ours = "".join(r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore")))
    assert key.key_id not in ours
    assert key.text[22:] not in ours


def test_what_every_client_asks_on_connecting_is_quiet(fresh_edge, caplog):
    caplog.set_level(logging.INFO)
    httpx.get(fresh_edge.endpoint)
    httpx.get(fresh_edge.url + "/readyz")
    assert [line for line in lines(caplog) if line["event"] == "request"] == []


def test_a_field_that_was_not_weighed_is_a_mistake():
    with pytest.raises(ValueError, match="not fields of the log"):
        eventlog.write("request", query="x")


def test_a_defect_is_told_by_kind_and_place(caplog):
    try:
        dict[str, str]()[CANARY]
    except KeyError as error:
        eventlog.write_defect(error)
    (line,) = lines(caplog)
    assert line["error"] == "KeyError"
    assert line["place"].startswith("test_log.py:")
    assert CANARY not in caplog.text


def test_libraries_keep_the_text_of_exceptions_to_themselves(caplog):
    eventlog.strip_foreign_loggers()
    eventlog.strip_foreign_loggers()
    for name in ("mcp.server.runner", "uvicorn.error", "asyncio"):
        try:
            int(CANARY)
        except ValueError:
            logging.getLogger(name).exception("handler for %r raised", CANARY)
    assert CANARY not in caplog.text
