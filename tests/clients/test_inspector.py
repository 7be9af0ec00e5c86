"""The MCP Inspector's command line: portable schemas, calls, and a bad key told as one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.installing import MODULES

# The first one installs the clients.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

TOOL_IS_ERROR = 5
UNAUTHORIZED = 3


@pytest.fixture
def inspect(edge, run_node):
    """Run the Inspector against the server."""
    package = MODULES / "@modelcontextprotocol/inspector"

    def run(*arguments):
        program = package / json.loads((package / "package.json").read_text())["bin"]["mcp-inspector"]
        place = str(Path(program).relative_to(MODULES))
        return run_node(place, "--cli", edge.endpoint, "--transport", "http", *arguments)

    return run


@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_schemas_are_portable(inspect, era):
    done = inspect("--method", "tools/list", "--strict", "--protocol-era", era, "-q")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == [
        "search_knowledge", "get_guidance", "submit_feedback",
    ]  # fmt: skip


def test_a_tool_is_called(inspect):
    done = inspect("--method", "tools/call", "--tool-name", "search_knowledge", "--tool-arg", "query=react list keys")
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(json.loads(done.stdout)["content"][0]["text"])["retrieval"]["mode"] == "no_match"


def test_an_error_of_a_tool_is_seen_as_one(inspect):
    done = inspect("--method", "tools/call", "--tool-name", "search_knowledge", "--tool-arg", "query=r")
    assert done.returncode == TOOL_IS_ERROR
    assert "validation_error" in done.stdout


def test_a_bad_key_is_told_in_our_words(inspect):
    bad = ("--header", "Authorization: Bearer bad", "--stored-auth-only")
    done = inspect("--method", "tools/list", *bad)
    assert done.returncode == UNAUTHORIZED, done.stdout[-2000:] + done.stderr[-2000:]
    assert "The API key is missing, malformed or revoked." in done.stdout + done.stderr
