"""Coding agents and the libraries that agents are built with: each connects, asks, reads, judges, and is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from tests.clients import installing
from tests.clients.agents import Agent, ClaudeCode, Codex, GeminiCli
from tests.clients.driving import CALLS, SEARCH, TOOLS, Driver, answers_of, session
from tests.clients.service import Noticed

# The first one of each environment installs it.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

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
        driver: a script of `drivers`, or the agent itself.
        era: the newest protocol version it says it speaks with this server.
        instead: what it shows for a refusal, by status, where it does not show our text.
    """

    name: str
    environment: str
    driver: str | type[Agent]
    era: str
    mode: str = ""
    instead: Mapping[int, str] = field(default_factory=dict)


STATUS_ALONE = {401: "401 Unauthorized", 429: "429 Too Many Requests"}
CLIENTS = [
    Client("Claude Code 2.1.332", "node", ClaudeCode, NEWER),
    Client("Codex 0.171.0", "node", Codex, "2025-06-18", instead={401: "Auth required"}),
    # It does not say what it speaks once it has shaken hands, which stands for this version.
    Client("Gemini CLI 0.61.0", "node", GeminiCli, "2025-03-26", instead={401: "Disconnected"}),
    Client("TypeScript SDK 1.32.2", "node", "typescript1.mjs", OLDER),
    Client("TypeScript SDK 2.4.0", "node", "typescript2.mjs", OLDER),
    Client("TypeScript SDK 2.4.0, auto", "node", "typescript2.mjs", NEWER, "auto", instead={401: "HTTP 401"}),
    Client("Python SDK 1.12.4", "mcp-1.12", "mcp1.py", "2025-06-18", instead=STATUS_ALONE),
    Client("Python SDK 1.30.0", "mcp-1.30", "mcp1.py", OLDER, instead=STATUS_ALONE),
    Client("Python SDK 2.3.0", "mcp-2.3", "mcp2.py", NEWER, "auto"),
    Client("Python SDK 2.3.0, legacy", "mcp-2.3", "mcp2.py", OLDER, "legacy"),
    Client("FastMCP 4.2.3", "mcp-2.3", "fastmcp_client.py", NEWER),
    Client("LangChain MCP adapters 0.3.2", "mcp-1.30", "langchain_client.py", OLDER, instead=STATUS_ALONE),
    Client("OpenAI Agents SDK 0.24.0", "mcp-2.3", "openai_agents_client.py", NEWER),
    Client("Pydantic AI 2.68.0", "mcp-2.3", "pydantic_ai_client.py", NEWER),
]

Hold = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


@pytest.fixture(scope="module")
def hold(client, request, service, tmp_path_factory) -> Iterator[Hold]:
    """Return a function that lets the client connect and call, and gives what it saw."""
    program = program_of(client, request)
    if isinstance(client.driver, str):
        with Driver.started(program, client.driver) as driver:
            yield lambda calls, key=None: driver.hold(service.url, calls, key, client.mode)
    else:
        home, agent = tmp_path_factory.mktemp("agent"), client.driver
        homes = (home / str(number) for number in count())
        yield lambda calls, key=None: agent(program, next(homes)).hold(service.url, calls, key)


def program_of(client: Client, request: pytest.FixtureRequest) -> str:
    """Return what runs the client, once the client is installed."""
    if client.driver in (ClaudeCode, Codex):
        the_agents_are_installed()
    try:
        if client.environment != "node":
            return str(installing.python_of(client.environment))
    except installing.NotInstalled as reason:
        pytest.skip(str(reason))
    return str(request.getfixturevalue("node"))


def the_agents_are_installed() -> None:
    try:
        installing.install_agents()
    except installing.NotInstalled as reason:
        pytest.skip(str(reason))


def test_a_guest_asks_reads_and_judges(client, hold, service, record_property):
    """It finds the three tools and an answer, opens the record and judges it; only its three calls are counted."""
    service.notice()
    seen = hold(session(f"{client.name} as a guest"))
    noticed = service.notice()
    assert seen["failure"] is None
    assert sorted(seen["tools"]) == sorted(TOOLS)
    search, read, judged = answers_of(seen)
    assert search["retrieval"]["mode"] == "hybrid"
    assert read["results"][0]["id"] == search["results"][0]["id"]
    assert judged["accepted"] is True
    assert noticed.requests["tools/call"] == CALLS
    # What is left is the allowance for what feedback is kept, of this guest and of all.
    assert noticed.charged == [CALLS, 1, 1]
    assert max(noticed.eras) == client.era
    record_property("client", client.name)
    record_property("speaks", client.era)
    record_property("requests", f"{noticed.total}: {noticed}")


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
    record_property("at 429", told(client, 429, noticed))


def test_a_bad_key_is_told_and_never_becomes_a_guest(client, hold, service, record_property):
    """A key that was revoked is refused at the first request, in words that reach the person; no unit is used."""
    service.notice()
    seen = hold([SEARCH], service.revoked_key())
    noticed = service.notice()
    assert seen["tools"] == []
    assert seen["answers"] == []
    assert_only_refused(noticed)
    assert_told(client, seen["failure"], 401)
    record_property("client", client.name)
    record_property("at 401", told(client, 401, noticed))


@pytest.mark.parametrize(
    ("agent", "says"),
    [(ClaudeCode, "Connected"), (Codex, "enabled"), (GeminiCli, "Connected")],
    ids=["Claude Code", "Codex", "Gemini CLI"],
)
def test_an_agents_own_health_check_finds_the_server(agent, says, node, service, tmp_path, record_property):
    """Adding the server and looking whether it is there costs no unit."""
    if agent is not GeminiCli:
        the_agents_are_installed()
    running = agent(node, tmp_path / "home")
    service.notice()
    running.add(service.url, None)
    assert says in running.check()
    noticed = service.notice()
    assert noticed.charged == []
    record_property("figure", f"{agent.__name__}: {noticed}")


def assert_told(client: Client, shown: str, status: int) -> None:
    """The person is shown our text, or what the client has instead of it, and the table says which."""
    assert client.instead.get(status, TOLD[status]) in shown
    assert (TOLD[status] in shown) is (status not in client.instead)


def assert_only_refused(noticed: Noticed) -> None:
    assert noticed.statuses[401] >= 1
    assert noticed.statuses[200] == 0
    assert noticed.charged == []


def told(client: Client, status: int, noticed: Noticed) -> str:
    """Return what `assert_told` has found, in words for the table."""
    shown = f"“{client.instead[status]}”" if status in client.instead else "our text"
    asked = noticed.statuses[status]
    return shown if asked == 1 else f"{shown}, asked {asked} times"
