"""Keys in the real database, at the edge."""

from __future__ import annotations

from app.store.access import KeyRing, PostgresAccessStore
from tests.edge.wire import call_tool


def test_a_key_is_known_to_the_edge_and_its_use_is_noted(database, start_edge):
    store = PostgresAccessStore(database.server)
    edge = start_edge(store=store, guest_daily_quota=0)
    key = edge.new_key()
    KeyRing(database.owner).add(key.key_id, key.mac, key.pepper_id, "test", 2)
    bearer = {"authorization": f"Bearer {key.text}"}
    seen = [call_tool(edge.endpoint, "search_knowledge", {"query": "ab"}, **bearer).status_code for _ in range(3)]
    assert seen == [200, 200, 429]
    assert KeyRing(database.owner).all()[0].last_used_on is not None
    KeyRing(database.owner).revoke(key.key_id)
    assert call_tool(edge.endpoint, "search_knowledge", {"query": "ab"}, **bearer).status_code == 401
