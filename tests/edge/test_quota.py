"""Allowances at the edge: exact under load, told in headers, and never given away when they cannot be counted."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
import pytest

from tests.edge.wire import JSON_HEADERS, MODERN, answer, call_modern, call_tool, message, post, tool_answer

SEARCH = {"query": "react list keys"}


def search(edge, **headers):
    return call_tool(edge.endpoint, "search_knowledge", SEARCH, **headers)


async def storm(endpoint: str, calls: int) -> list[httpx.Response]:
    """Call a tool many times at once, each over a connection of its own."""
    body = message("tools/call", {"name": "search_knowledge", "arguments": SEARCH})
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=30, limits=limits) as client:
        return await asyncio.gather(*(client.post(endpoint, json=body, headers=JSON_HEADERS) for _ in range(calls)))


def test_of_400_guests_at_once_exactly_250_are_served(fresh_edge):
    responses = asyncio.run(storm(fresh_edge.endpoint, 400))
    assert Counter(response.status_code for response in responses) == {200: 250, 429: 150}
    remaining = [int(r.headers["x-guest-quota-remaining"]) for r in responses if r.status_code == 200]
    assert sorted(remaining) == list(range(250))
    for refused in (r for r in responses if r.status_code == 429):
        assert refused.headers["x-guest-quota-remaining"] == "0"
        assert 1 <= int(refused.headers["retry-after"]) <= 86_460
        assert told_seconds(refused) == int(refused.headers["retry-after"])
    assert len({told_seconds(refused) for refused in responses if refused.status_code == 429}) > 1


def told_seconds(refused: httpx.Response) -> int:
    return answer(refused)["error"]["data"]["details"]["retry_after_seconds"]


def test_every_guest_answer_tells_what_is_left(start_edge):
    edge = start_edge(guest_daily_quota=3)
    seen = [search(edge), call_tool(edge.endpoint, "search_knowledge", {}), call_tool(edge.endpoint, "nonsense", {})]
    assert [r.headers["x-guest-quota-remaining"] for r in seen] == ["2", "1", "0"]
    assert {r.headers["x-guest-quota-limit"] for r in seen} == {"3"}
    refused = post(
        edge.endpoint, message("tools/call", {"name": "search_knowledge", "arguments": SEARCH}, request_id="mine")
    )
    assert refused.status_code == 429
    assert refused.headers["content-type"] == "application/json"
    assert answer(refused)["id"] == "mine"
    assert answer(refused)["error"]["data"]["code"] == "quota_exhausted"
    assert (
        call_modern(edge.endpoint, "tools/call", {"name": "search_knowledge", "arguments": SEARCH}).status_code == 429
    )


def test_a_used_up_allowance_costs_the_database_nothing(start_edge):
    edge = start_edge(guest_daily_quota=1)
    assert [search(edge).status_code for _ in range(20)] == [200, *[429] * 19]
    assert edge.store.calls["take"] == 2


def test_a_key_has_its_own_allowance(start_edge):
    edge = start_edge(guest_daily_quota=0)
    key = edge.access.mint()
    edge.store.add_key(key, daily_quota=2)
    statuses = [search(edge, authorization=f"Bearer {key.text}") for _ in range(3)]
    assert [r.status_code for r in statuses] == [200, 200, 429]
    assert "x-guest-quota-limit" not in statuses[-1].headers


CALL = {"name": "search_knowledge", "arguments": SEARCH}
CHARGED = [
    ("a search", message("tools/call", CALL)),
    ("an unknown tool", message("tools/call", {"name": "nonsense"})),
    (
        "arguments that break the contract",
        message("tools/call", {"name": "search_knowledge", "arguments": {"query": 7}}),
    ),
    ("arguments that are no object", message("tools/call", {"name": "search_knowledge", "arguments": [1]})),
    ("a call without a name", message("tools/call", {})),
    (
        "an escaped method name",
        b'{"jsonrpc":"2.0","id":1,"method":"tools\\/call","params":{"name":"search_knowledge"}}',
    ),
]
FREE = [
    ("initialize", message("initialize"), {}),
    ("ping", message("ping"), {}),
    ("tools/list", message("tools/list"), {}),
    ("an unknown method", message("no/such"), {}),
    ("a notification", {"jsonrpc": "2.0", "method": "tools/call", "params": CALL}, {}),
    ("a null id", {"jsonrpc": "2.0", "id": None, "method": "tools/call", "params": CALL}, {}),
    ("a boolean id", {"jsonrpc": "2.0", "id": True, "method": "tools/call", "params": CALL}, {}),
    ("a batch", [message("tools/call", CALL)] * 3, {}),
    ("a method named twice", b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', {}),
    ("a bad key", message("tools/call", CALL), {"authorization": "Bearer x"}),
    ("a foreign host", message("tools/call", CALL), {"host": "evil.net"}),
    ("a foreign origin", message("tools/call", CALL), {"origin": "https://evil.net"}),
    ("an unreadable answer", message("tools/call", CALL), {"accept": "text/html"}),
    ("an unread body", message("tools/call", CALL), {"content-type": "text/plain"}),
    ("too much", b" " * 70_000, {}),
    ("headers that contradict the body", message("tools/call", CALL), {"mcp-protocol-version": MODERN}),
]


@pytest.mark.parametrize(("body"), [c[1] for c in CHARGED], ids=[c[0] for c in CHARGED])
def test_a_call_costs_one_unit_whatever_comes_of_it(fresh_edge, body):
    assert post(fresh_edge.endpoint, body).headers["x-guest-quota-remaining"] == "249"
    assert fresh_edge.store.calls["take"] == 1


def test_nothing_else_costs_a_unit(fresh_edge):
    for _, body, headers in FREE:
        assert "x-guest-quota-remaining" not in post(fresh_edge.endpoint, body, **headers).headers
    assert fresh_edge.store.calls["take"] == 0


def test_what_cannot_be_counted_is_not_served(fresh_edge):
    fresh_edge.store.down = True
    response = search(fresh_edge)
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) == told_seconds(response) >= 1
    assert answer(response)["error"]["data"]["code"] == "unavailable"
    fresh_edge.store.down = False
    assert search(fresh_edge).headers["x-guest-quota-remaining"] == "249"


def test_feedback_has_a_second_allowance_that_only_real_feedback_uses(start_edge):
    edge = start_edge(feedback_guest_quota=1)
    for _ in range(3):
        assert tool_answer(call_tool(edge.endpoint, "submit_feedback", {"category": "nonsense"}))[0]
    assert tool_answer(call_tool(edge.endpoint, "submit_feedback", {"category": "helpful"}))[0] is False
    is_error, envelope = tool_answer(call_tool(edge.endpoint, "submit_feedback", {"category": "helpful"}))
    assert is_error
    assert envelope["error"]["code"] == "feedback_closed"
    assert tool_answer(search(edge))[0] is False


def test_forwarded_addresses_open_no_new_allowances(start_edge):
    """A stranger's X-Forwarded-For is a lie; a trusted proxy's is the client."""
    untrusting = start_edge(guest_daily_quota=2)
    assert [search(untrusting, x_forwarded_for=f"203.0.113.{n}").status_code for n in range(4)] == [200, 200, 429, 429]
    trusting = start_edge(guest_daily_quota=1, trusted_proxies=("127.0.0.0/8",))
    assert [search(trusting, x_forwarded_for=f"203.0.113.{n}").status_code for n in range(3)] == [200, 200, 200]
    assert search(trusting, x_forwarded_for="198.51.100.1, 203.0.113.1").status_code == 429
