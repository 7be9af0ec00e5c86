"""Allowances at the edge: told in headers, and never given away when they cannot be counted."""

from __future__ import annotations

import httpx
import pytest

from tests.edge.wire import META, answer, call_modern, call_tool, message, post, tool_answer

VERSION, CAPABILITIES = META
SEARCH = {"query": "react list keys"}


def search(edge, **headers):
    return call_tool(edge.endpoint, "search_knowledge", SEARCH, **headers)


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


@pytest.mark.parametrize(
    "params",
    [
        {"name": "nonsense", "arguments": {}},
        {"name": 7},
        {},
        {"name": "search_knowledge", "arguments": []},
        {"name": "search_knowledge", "arguments": {"query": 7}},
        {"name": "search_knowledge", "arguments": SEARCH, "_meta": 7},
        {"name": "search_knowledge", "arguments": SEARCH, "task": 7},
    ],
)
def test_a_tool_call_costs_a_unit_whatever_is_wrong_with_it(fresh_edge, params):
    """Before its parameters are looked at, in both protocols: a probe is not to be cheaper than a question."""
    assert post(fresh_edge.endpoint, message("tools/call", params)).headers["x-guest-quota-remaining"] == "249"
    assert fresh_edge.store.calls["take"] == 1
    if isinstance(params.get("name"), str):
        modern = {**params, "_meta": {**META, CAPABILITIES: params["_meta"]} if "_meta" in params else META}
        response = call_modern(fresh_edge.endpoint, "tools/call", modern)
        assert response.headers["x-guest-quota-remaining"] == "248"


@pytest.mark.parametrize(
    ("params", "headers"),
    [
        (
            {"name": "search_knowledge", "_meta": {**META, VERSION: "2099-01-01"}},
            {"mcp_protocol_version": "2099-01-01"},
        ),
        ({"name": "search_knowledge"}, {"mcp_name": "get_guidance"}),
        ({"name": "search_knowledge"}, {"mcp_method": "ping"}),
        ({"name": "search_knowledge"}, {"mcp_protocol_version": "2025-06-18"}),
    ],
)
def test_what_is_refused_before_it_is_a_tool_call_costs_nothing(fresh_edge, params, headers):
    """The protocol without a handshake says with each request what it speaks; what does not add up is no call yet."""
    response = call_modern(fresh_edge.endpoint, "tools/call", params, **headers)
    assert response.status_code == 400
    assert "x-guest-quota-remaining" not in response.headers
    assert fresh_edge.store.calls["take"] == 0


def test_a_used_up_allowance_costs_the_database_nothing(start_edge):
    edge = start_edge(guest_daily_quota=1)
    assert [search(edge).status_code for _ in range(20)] == [200, *[429] * 19]
    assert edge.store.calls["take"] == 2


def test_a_key_has_its_own_allowance(start_edge):
    edge = start_edge(guest_daily_quota=0)
    key = edge.new_key()
    edge.store.add_key(key, daily_quota=2)
    statuses = [search(edge, authorization=f"Bearer {key.text}") for _ in range(3)]
    assert [r.status_code for r in statuses] == [200, 200, 429]
    assert "x-guest-quota-limit" not in statuses[-1].headers


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
