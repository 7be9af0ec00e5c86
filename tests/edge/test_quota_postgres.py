"""Allowances in the real database, with two server processes at one counter."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
from sqlalchemy import text

from app.store.access import KeyRing, PostgresAccessStore
from tests.edge.processes import edge_process
from tests.edge.wire import JSON_HEADERS, call_tool, message

BODY = message("tools/call", {"name": "search_knowledge", "arguments": {"query": "react list keys"}})


async def storm(endpoints: list[str], calls: int) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(timeout=30, limits=limits, verify=False) as client:  # noqa: S501 - no TLS here
        posts = (client.post(endpoints[n % len(endpoints)], json=BODY, headers=JSON_HEADERS) for n in range(calls))
        return await asyncio.gather(*posts)


def test_two_servers_and_400_guests_serve_exactly_250(database, tmp_path):
    """Every number of units left is told once; the counter says 250, and 150 refusals wrote next to nothing."""
    with edge_process(tmp_path, database.app_url) as first, edge_process(tmp_path, database.app_url) as second:
        responses = asyncio.run(storm([first.endpoint, second.endpoint], 400))
        statuses = Counter(response.status_code for response in responses)
        assert statuses == {200: 250, 429: 150}
        served = [response for response in responses if response.status_code == 200]
        assert sorted(int(r.headers["x-guest-quota-remaining"]) for r in served) == list(range(250))
        assert call_tool(first.endpoint, "search_knowledge", {"query": "ab"}).status_code == 429
    with database.owner.connect() as connection:
        assert connection.execute(text("SELECT array_agg(used) FROM quota_use")).scalar_one() == [250]


def test_a_key_is_known_to_the_edge_and_its_use_is_noted(database, start_edge):
    store = PostgresAccessStore(database.server)
    edge = start_edge(store=store, guest_daily_quota=0)
    key = edge.access.mint()
    KeyRing(database.owner).add(key.key_id, key.mac, key.pepper_id, "test", 2)
    bearer = {"authorization": f"Bearer {key.text}"}
    seen = [call_tool(edge.endpoint, "search_knowledge", {"query": "ab"}, **bearer).status_code for _ in range(3)]
    assert seen == [200, 200, 429]
    assert KeyRing(database.owner).all()[0].last_used_on is not None
    KeyRing(database.owner).revoke(key.key_id)
    assert call_tool(edge.endpoint, "search_knowledge", {"query": "ab"}, **bearer).status_code == 401
