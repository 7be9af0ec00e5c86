"""Calls answered past the SDK's machinery: exactly those it would take as they are, and exactly as it would answer."""

from __future__ import annotations

import asyncio
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from app.operations import OPERATIONS
from app.transports.jsonrpc import Kind, Message
from app.transports.mcp import Dialect, McpServer
from app.transports.plaincalls import PlainResults, read_plain_call
from tests.edge.wire import META, MODERN, answer, http_post, post

SERVER = McpServer(OPERATIONS, "Test.")
VERSIONS = [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS]
RESULT = {"resultType": "complete", "content": [{"type": "text", "text": "found\u2028"}], "isError": True}


def spoken(version: str) -> Dialect:
    return Dialect(version, modern=version in MODERN_PROTOCOL_VERSIONS)


def a_call(version: str, **params: object) -> Message:
    envelope = {"_meta": {**META}} if version in MODERN_PROTOCOL_VERSIONS else {}
    return Message(Kind.REQUEST, 1, "tools/call", {**envelope, "name": "search_knowledge", **params})


def through_the_sdk(message: Message, dialect: Dialect) -> tuple[dict[str, object], tuple[str, object]]:
    """Return the SDK's answer, and what it handed to the tool."""
    handed = []

    async def run_tool(name, arguments):
        handed.append((name, arguments))
        return dict(RESULT)

    return asyncio.run(SERVER.answer(message, dialect, run_tool)), handed[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_answer_is_the_one_the_sdk_gives(version):
    """The first in a version is made by it, the second after its pattern."""
    message, dialect = a_call(version, arguments={"query": "ab"}), spoken(version)
    own = PlainResults(SERVER)
    expected, _ = through_the_sdk(message, dialect)
    assert [asyncio.run(own.of(message, dialect, RESULT)) for _ in range(2)] == [expected, expected]


def test_no_answer_is_kept_as_the_pattern():
    own = PlainResults(SERVER)
    asyncio.run(own.of(a_call("2025-11-25"), spoken("2025-11-25"), RESULT))
    assert "found" not in repr(vars(own))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
ENVELOPE = st.fixed_dictionaries(
    {},
    optional={
        **{key: st.just(value) | VALUES for key, value in META.items()},
        "io.modelcontextprotocol/clientInfo": st.just({"name": "x", "version": "1"}) | VALUES,
        "io.modelcontextprotocol/logLevel": st.just("info") | VALUES,
        "progressToken": st.integers() | st.text() | VALUES,
        "other/key": VALUES,
    },
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("search_knowledge") | VALUES,
        "arguments": st.just({"query": "ab"}) | VALUES,
        "_meta": st.just(META) | ENVELOPE | VALUES,
        "task": VALUES,
        "inputResponses": VALUES,
        "requestState": VALUES,
        "other": VALUES,
    },
)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(VERSIONS), PARAMS)
def test_what_is_taken_for_plain_the_sdk_hands_to_the_tool_unchanged(version, params):
    message, dialect = Message(Kind.REQUEST, 1, "tools/call", params), spoken(version)
    plain = read_plain_call(message, dialect)
    if plain is not None:
        _, handed = through_the_sdk(message, dialect)
        assert handed == (plain.name, plain.arguments)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("extra", [{}, {"arguments": None}, {"arguments": {"query": "ab"}}])
def test_what_clients_send_is_plain(version, extra):
    message = a_call(version, **extra)
    message.params.setdefault("_meta", {})
    message.params["_meta"] = {**message.params["_meta"], "progressToken": 7, "vendor/toolUseId": "x"}
    assert read_plain_call(message, spoken(version)) is not None


@pytest.mark.parametrize(
    "params",
    [{"name": 7}, {"arguments": []}, {"_meta": []}, {"_meta": {"progressToken": []}}, {"task": {}}, {"other": 1}],
)
def test_what_the_sdk_may_refuse_or_change_is_not(params):
    assert read_plain_call(a_call("2025-11-25", **params), spoken("2025-11-25")) is None


@pytest.mark.parametrize("version", ["2025-11-25", MODERN])
def test_a_bad_envelope_is_refused_by_the_sdk(version):
    message = a_call(version, _meta={**META, "progressToken": []})
    assert read_plain_call(message, spoken(version)) is None
    with pytest.raises((MCPError, ValidationError)):
        through_the_sdk(message, spoken(version))


def test_a_call_that_is_not_plain_is_charged_and_answered_all_the_same(edge):
    params = {"name": "search_knowledge", "arguments": {"query": "ab"}}
    usual = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answers = [post(edge.endpoint, usual), post(edge.endpoint, {**usual, "params": {**params, "other": 1}})]
    assert answer(answers[0]) == answer(answers[1])
    assert [int(one.headers["x-guest-quota-remaining"]) for one in answers] == [249, 248]


def test_an_answer_leaves_in_one_piece(edge):
    """Head and body in one packet, and in the order of the questions."""
    request = http_post(edge.port, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    with socket.create_connection(("127.0.0.1", edge.port), timeout=5) as connection:
        connection.sendall(request)
        assert connection.recv(65_536).endswith(b'"result":{}}\n\n')
