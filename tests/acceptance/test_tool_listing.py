"""What tools are said to do does not change behind anybody's back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import ExitStack

from tests.acceptance.conftest import ROOT, Program, Start
from tests.core.records import make_record
from tests.databases import Database
from tests.edge.wire import answer, call_modern

Note = Callable[[str, object], None]
RESTARTS = 3


def older(program: Program) -> bytes:
    """Return the list of tools as a client with a handshake gets it, in bytes."""
    response = program.rpc("tools/list")
    assert response.status_code == 200
    return json.dumps(answer(response)["result"]["tools"]).encode()


def newer(program: Program) -> bytes:
    """Return the list of tools as a client without one gets it."""
    response = call_modern(f"{program.base}/mcp", "tools/list")
    assert response.status_code == 200
    return json.dumps(answer(response)["result"]["tools"]).encode()


def test_t40_the_list_of_tools_is_the_same_everywhere_and_the_committed_one(
    database: Database, serve: Start, record_property: Note
) -> None:
    """The list of tools is byte for byte the same of two servers and after restarts, in both protocols as committed.

    Names, descriptions and argument schemas are those of api.json, which is part of the repository: a change of any of
    them is a change that somebody reviews.
    """
    database.publish(make_record())
    seen: list[tuple[bytes, bytes]] = []
    for _ in range(RESTARTS):
        with ExitStack() as running:
            programs = [running.enter_context(serve(database)) for _ in range(2)]
            seen += [(older(program), newer(program)) for program in programs]
    assert len(set(seen)) == 1
    in_older, in_newer = map(json.loads, seen[0])
    # The protocols order the members of a schema differently; what they say is the same.
    assert in_older == in_newer
    committed = json.loads((ROOT / "api.json").read_text("utf-8"))["tools"]
    told = [(tool["name"], tool["description"], tool["inputSchema"]) for tool in in_older]
    assert told == [(tool["name"], tool["description"], tool["inputSchema"]) for tool in committed]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    record_property("figure", f"{2 * len(seen)} lists, SHA-256 of all {digest[:16]}")
