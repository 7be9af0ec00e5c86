"""The libraries that agents are built with: each one connects, asks, reads, judges, and is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.clients import installing
from tests.clients.driving import CALLS, SEARCH, TOOLS, Driver, answers_of, session
from tests.clients.service import Noticed, Service

# The first one of each environment installs it.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

BAD_KEY = "kb_live_" + "a" * 12 + "_" + "b" * 49
OLDER, NEWER = "2025-11-25", "2026-07-28"
TOLD = {
    401: "The API key is missing, malformed or revoked.",
    429: "Today's allowance of tool calls is used up.",
}


@dataclass(frozen=True)
class Client:
    """A client of the matrix.

    Attributes:
        environment: the lock file it is installed from; "node" for those of npm.
        era: the newest protocol version it speaks with this server.
        hides: statuses of which it shows the number alone, not our text.
    """

    name: str
    environment: str
    driver: str
    era: str
    mode: str = ""
    hides: tuple[int, ...] = ()


CLIENTS = [
    Client("TypeScript SDK 1.32.2", "node", "typescript1.mjs", OLDER),
    Client("TypeScript SDK 2.4.0", "node", "typescript2.mjs", OLDER),
    Client("TypeScript SDK 2.4.0, auto", "node", "typescript2.mjs", NEWER, "auto", hides=(401,)),
    Client("Python SDK 1.12.4", "mcp-1.12", "mcp1.py", "2025-06-18", hides=(401, 429)),
    Client("Python SDK 1.30.0", "mcp-1.30", "mcp1.py", OLDER, hides=(401, 429)),
    Client("Python SDK 2.3.0", "mcp-2.3", "mcp2.py", NEWER, "auto"),
    Client("Python SDK 2.3.0, legacy", "mcp-2.3", "mcp2.py", OLDER, "legacy"),
    Client("FastMCP 4.2.3", "mcp-2.3", "fastmcp_client.py", NEWER),
    Client("LangChain MCP adapters 0.3.2", "mcp-1.30", "langchain_client.py", OLDER, hides=(401, 429)),
    Client("OpenAI Agents SDK 0.24.0", "mcp-2.3", "openai_agents_client.py", NEWER),
    Client("Pydantic AI 2.68.0", "mcp-2.3", "pydantic_ai_client.py", NEWER),
]

Hold = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


@pytest.fixture(scope="module")
def hold(client: Client, request: pytest.FixtureRequest, service: Service) -> Iterator[Hold]:
    """Return a function that lets the client connect and call, and gives what it saw."""
    with Driver.started(program_of(client, request), client.driver) as driver:
        yield lambda calls, key=None: driver.hold(service.url, calls, key, client.mode)


def program_of(client: Client, request: pytest.FixtureRequest) -> str:
    if client.environment == "node":
        return str(request.getfixturevalue("node"))
    try:
        return str(installing.python_of(client.environment))
    except installing.NotInstalled as reason:
        pytest.skip(str(reason))


def test_a_guest_asks_reads_and_judges(client, hold, service, record_property):
    """It finds the three tools and an answer, opens the record and judges it; only its three calls are counted."""
    service.notice()
    seen = hold(session(f"{client.name} as a guest"))
    noticed = service.notice()
    assert seen["failure"] is None
    assert seen["tools"] == TOOLS
    search, read, judged = answers_of(seen)
    assert search["retrieval"]["mode"] == "hybrid"
    assert read["results"][0]["id"] == search["results"][0]["id"]
    assert judged["accepted"] is True
    assert noticed.requests["tools/call"] == CALLS
    # What is left is the allowance for what feedback is kept, of this guest and of all.
    assert noticed.charged == [CALLS, 1, 1]
    assert max(noticed.eras) == client.era
    record_property("client", client.name)
    record_property("connects", f"{client.era}: {noticed}")


def test_a_key_is_honoured_until_its_allowance_is_used_up(client, hold, service, record_property):
    """With a key for three calls the fourth is refused, and the client says so; the refusal is not counted."""
    service.notice()
    seen = hold([*session(f"{client.name} with a key"), SEARCH], service.new_key(CALLS))
    noticed = service.notice()
    assert len(answers_of(seen)) == CALLS
    assert noticed.statuses[429] >= 1
    assert noticed.charged == [CALLS, 1]
    assert_told(client, seen["failure"], 429)
    record_property("client", client.name)
    record_property("at 429", f"{noticed.statuses[429]} refused, says: {shortened(seen['failure'])}")


def test_a_bad_key_is_told_and_never_becomes_a_guest(client, hold, service, record_property):
    """A key that is not valid is refused at the first request, in words that reach the person; no unit is used."""
    service.notice()
    seen = hold([SEARCH], BAD_KEY)
    noticed = service.notice()
    assert seen["tools"] == []
    assert seen["answers"] == []
    assert_only_refused(noticed)
    assert_told(client, seen["failure"], 401)
    record_property("client", client.name)
    record_property("at 401", f"{noticed.statuses[401]} refused, says: {shortened(seen['failure'])}")


def assert_told(client: Client, shown: str, status: int) -> None:
    """The person is shown our text; where the client hides it, at least the status, and never both by accident."""
    assert (TOLD[status] in shown) is (status not in client.hides)
    assert TOLD[status] in shown or str(status) in shown


def assert_only_refused(noticed: Noticed) -> None:
    assert noticed.statuses[401] >= 1
    assert noticed.statuses[200] == 0
    assert noticed.charged == []


def shortened(shown: str) -> str:
    return " ".join(shown.split())[:160]
