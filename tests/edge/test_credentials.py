"""Keys at the door: a bad one is never a guest, and all bad ones look the same."""

from __future__ import annotations

import httpx
import pytest

from tests.edge.wire import answer, call_tool, message, post, tool_answer

SEARCH = {"query": "react list keys"}


@pytest.fixture
def keyed(fresh_edge):
    """A server that knows one key, and the key."""
    key = fresh_edge.new_key()
    fresh_edge.store.add_key(key)
    return fresh_edge, key.text


@pytest.mark.parametrize("query", ["access_token=x", "ACCESS_TOKEN=x", "a=b&access_token=", "access%5Ftoken=x"])
def test_a_token_in_the_address_is_a_bad_credential(edge, query):
    assert post(f"{edge.endpoint}?{query}", message("ping")).status_code == 401


def test_the_challenge_leads_into_no_oauth_flow(edge):
    response = post(edge.endpoint, message("ping"), authorization="Bearer x")
    assert "resource_metadata" not in response.headers["www-authenticate"]
    assert answer(response)["id"] == 1


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_valid_key_is_served_without_guest_headers(keyed, scheme):
    edge, key = keyed
    response = call_tool(edge.endpoint, "search_knowledge", SEARCH, authorization=f"{scheme} {key}")
    assert tool_answer(response)[0] is False
    assert "x-guest-quota-limit" not in response.headers


def test_the_rule_holds_for_every_message(keyed):
    edge, key = keyed
    for body in (
        message("initialize"),
        message("tools/list"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ):
        assert post(edge.endpoint, body, authorization="Bearer nonsense").status_code == 401
    stream = {"accept": "text/event-stream"}
    assert httpx.get(edge.endpoint, headers={**stream, "authorization": "Bearer nonsense"}).status_code == 401
    with httpx.stream("GET", edge.endpoint, headers={**stream, "authorization": f"Bearer {key}"}) as opened:
        assert opened.status_code == 200


def test_guests_can_be_shut_out(start_edge):
    edge = start_edge(guest_access=False)
    key = edge.new_key()
    edge.store.add_key(key)
    assert post(edge.endpoint, message("initialize")).status_code == 401
    assert httpx.get(edge.endpoint, headers={"accept": "text/event-stream"}).status_code == 401
    assert call_tool(edge.endpoint, "search_knowledge", SEARCH, authorization=f"Bearer {key.text}").status_code == 200


def test_who_presents_nothing_is_asked_for_a_key_and_not_told_that_one_is_wrong(start_edge):
    """No error in the challenge, as RFC 6750 says, and no advice that this server would not honour."""
    edge = start_edge(guest_access=False)
    nothing = post(edge.endpoint, message("ping"))
    assert nothing.headers["www-authenticate"] == 'Bearer realm="chatctx"'
    assert "API key" in answer(nothing)["error"]["message"]
    assert answer(nothing)["error"]["data"]["code"] == "unauthorized"
    wrong = [post(edge.endpoint, message("ping"), authorization=value) for value in ("Bearer x", "", "Basic eA==")]
    assert {response.headers["www-authenticate"] for response in wrong} == {
        'Bearer realm="chatctx", error="invalid_token"'
    }
    assert len({response.text for response in wrong}) == 1
    assert not any("guest" in response.text for response in (nothing, *wrong))


def test_a_revoked_key_ends_with_the_next_call(keyed):
    edge, key = keyed
    bearer = f"Bearer {key}"
    assert call_tool(edge.endpoint, "search_knowledge", SEARCH, authorization=bearer).status_code == 200
    edge.store.revoke(key.split("_")[2])
    assert call_tool(edge.endpoint, "search_knowledge", SEARCH, authorization=bearer).status_code == 401


def test_a_key_cannot_be_checked_while_the_database_is_away(keyed):
    """503 and come back: an agent that sees 401 throws its key away."""
    edge, key = keyed
    edge.store.down = True
    for body in (message("initialize"), message("tools/call", {"name": "search_knowledge", "arguments": SEARCH})):
        response = post(edge.endpoint, body, authorization=f"Bearer {key}")
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
    edge.store.down = False
    assert post(edge.endpoint, message("ping"), authorization=f"Bearer {key}").status_code == 200


def test_a_guest_needs_no_database_to_shake_hands(fresh_edge):
    fresh_edge.store.down = True
    assert post(fresh_edge.endpoint, message("tools/list")).status_code == 200
    assert not fresh_edge.store.calls
