"""Both eras of MCP on one endpoint, spoken by the official client and by hand."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from app.contract import SERVER_NAME, SERVER_TITLE, SERVER_VERSION
from app.errors import InternalError, Unavailable
from app.operations import OPERATIONS
from app.toolschema import input_schema
from tests.edge.answers import answer_offline
from tests.edge.wire import META, MODERN, answer, call_modern, call_tool, message, post, tool_answer

SEARCH = {"query": "react list keys"}
HELLO = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_a_handshake_settles_on_the_version_asked_for(edge, version):
    result = answer(post(edge.endpoint, message("initialize", {"protocolVersion": version, **HELLO})))["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == SERVER_NAME == "chatctx-knowledge"
    assert result["serverInfo"]["version"] == SERVER_VERSION
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert result["instructions"] == "Test records."


@pytest.mark.parametrize("asked", ["2099-01-01", "nonsense", MODERN])
def test_a_handshake_for_an_unknown_version_is_offered_the_newest(edge, asked):
    result = answer(post(edge.endpoint, message("initialize", {"protocolVersion": asked, **HELLO})))["result"]
    assert result["protocolVersion"] == "2025-11-25"


def test_a_handshake_issues_no_session(edge):
    response = post(edge.endpoint, message("initialize", {"protocolVersion": "2025-06-18", **HELLO}))
    assert "mcp-session-id" not in response.headers


def test_old_answers_are_events_that_no_proxy_holds_back(edge):
    response = post(edge.endpoint, message("tools/list"))
    assert response.headers["content-type"] == "text/event-stream"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["cache-control"] == "no-store, no-transform"
    assert re.fullmatch(r"event: message\ndata: [\x20-\x7e]+\n\n", response.text)


def test_an_event_is_one_line_whatever_characters_the_answer_holds(start_edge):
    edge = start_edge(call=lambda _name, _arguments: {"results": ["a\u2028b\u2029c\x85d\né\U0001f642"]})
    response = call_tool(edge.endpoint, "search_knowledge", SEARCH)
    assert response.text.isascii()
    assert tool_answer(response)[1] == {"results": ["a\u2028b\u2029c\x85d\né\U0001f642"]}


def test_tools_are_listed_alike_in_both_eras(edge):
    old = answer(post(edge.endpoint, message("tools/list"), mcp_protocol_version="2025-11-25"))["result"]
    new = answer(call_modern(edge.endpoint, "tools/list"))["result"]
    assert old["tools"] == new["tools"]
    assert [tool["name"] for tool in new["tools"]] == ["search_knowledge", "get_guidance", "submit_feedback"]
    for tool in new["tools"]:
        operation = OPERATIONS[tool["name"]]
        assert tool["inputSchema"] == input_schema(operation.request)
        assert tool["title"] == operation.title
        assert "outputSchema" not in tool
        assert tool["annotations"] == {
            "readOnlyHint": tool["name"] != "submit_feedback",
            "destructiveHint": False,
            "openWorldHint": False,
        }


def test_the_list_says_how_long_it_keeps(edge):
    result = answer(call_modern(edge.endpoint, "tools/list"))["result"]
    assert result["ttlMs"] > 0
    assert result["cacheScope"] == "public"
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["title"] == SERVER_TITLE
    assert "ttlMs" not in answer(post(edge.endpoint, message("tools/list")))["result"]


def test_there_is_one_page(edge):
    assert answer(post(edge.endpoint, message("tools/list", {"cursor": "next"})))["error"]["code"] == -32602


def test_new_answers_are_plain_json_unless_that_is_not_accepted(edge):
    plain = call_modern(edge.endpoint, "tools/call", {"name": "search_knowledge", "arguments": SEARCH})
    assert plain.headers["content-type"] == "application/json"
    assert tool_answer(plain)[0] is False
    event = call_modern(
        edge.endpoint, "tools/call", {"name": "search_knowledge", "arguments": SEARCH}, accept="text/event-stream"
    )
    assert event.headers["content-type"] == "text/event-stream"
    assert tool_answer(event)[0] is False


def test_discovery_names_what_is_served(edge):
    result = answer(call_modern(edge.endpoint, "server/discover"))["result"]
    assert result["supportedVersions"] == [MODERN]
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert result["instructions"] == "Test records."


MISMATCHED = [
    ("no version header", {"mcp_protocol_version": ""}, -32020),
    ("an older version in the header", {"mcp_protocol_version": "2025-11-25"}, -32020),
    ("another method in the header", {"mcp_method": "tools/list"}, -32020),
    ("the method in capitals", {"mcp_method": "TOOLS/CALL"}, -32020),
    ("another tool in the header", {"mcp_name": "get_guidance"}, -32020),
    ("broken base64", {"mcp_name": "=?base64?%%%?="}, -32020),
]


@pytest.mark.parametrize(("headers", "code"), [c[1:] for c in MISMATCHED], ids=[c[0] for c in MISMATCHED])
def test_headers_that_contradict_the_message_are_refused(edge, headers, code):
    params = {"name": "search_knowledge", "arguments": SEARCH}
    response = call_modern(edge.endpoint, "tools/call", params, **headers)
    assert response.status_code == 400
    assert answer(response)["error"]["code"] == code


def test_a_name_may_come_in_base64(edge):
    params = {"name": "search_knowledge", "arguments": SEARCH}
    response = call_modern(edge.endpoint, "tools/call", params, mcp_name="=?base64?c2VhcmNoX2tub3dsZWRnZQ==?=")
    assert response.status_code == 200


@pytest.mark.parametrize("missing", list(META))
def test_a_message_without_its_envelope_is_told_what_is_missing(edge, missing):
    meta = {key: value for key, value in META.items() if key != missing}
    body = message("tools/list", {"_meta": meta})
    response = post(edge.endpoint, body, mcp_protocol_version=MODERN, mcp_method="tools/list")
    assert response.status_code == 400
    assert answer(response)["error"]["code"] == -32602
    assert missing in answer(response)["error"]["message"]


@pytest.mark.parametrize("version", ["2099-01-01", "1999-01-01", "v999.0.0"])
def test_an_unknown_version_is_told_which_are_known(edge, version):
    """With the envelope of the protocol without a handshake: what discovery lists. Otherwise: all."""
    meta = {**META, "io.modelcontextprotocol/protocolVersion": version}
    served = [MODERN, *reversed(HANDSHAKE_PROTOCOL_VERSIONS)]
    for body, known in ((message("tools/list", {"_meta": meta}), [MODERN]), (message("tools/list"), served)):
        response = post(edge.endpoint, body, mcp_protocol_version=version, mcp_method="tools/list")
        assert response.status_code == 400
        assert answer(response)["error"]["code"] == -32022
        assert answer(response)["error"]["data"] == {"supported": known, "requested": version}


def test_a_version_that_is_a_text_does_not_come_back(edge):
    text = "canary text with blanks"
    for params in ({"_meta": {**META, "io.modelcontextprotocol/protocolVersion": text}}, {}):
        response = post(
            edge.endpoint, message("tools/list", params), mcp_protocol_version=text, mcp_method="tools/list"
        )
        assert response.status_code == 400
        assert "canary" not in response.text


@pytest.mark.parametrize(
    "method", ["ping", "initialize", "resources/list", "logging/setLevel", "no/such", "subscriptions/listen"]
)
def test_what_the_new_protocol_has_not_is_not_found(edge, method):
    response = call_modern(edge.endpoint, method, {"notifications": {}} if method == "subscriptions/listen" else None)
    assert response.status_code == 404
    assert answer(response)["error"] == {"code": -32601, "message": "Method not found."}


@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("resources/list", {"resources": []}),
        ("resources/templates/list", {"resourceTemplates": []}),
        ("prompts/list", {"prompts": []}),
        ("ping", {}),
    ],
)
def test_old_clients_find_empty_lists_where_they_look(edge, method, result):
    assert answer(post(edge.endpoint, message(method)))["result"] == result


@pytest.mark.parametrize("method", ["no/such", "prompts/get", "completion/complete", "logging/setLevel", "a canary"])
def test_what_the_old_protocol_has_not_is_an_error_in_an_event(edge, method):
    response = post(edge.endpoint, message(method, {"name": "x", "level": "info"}))
    assert response.status_code == 200
    assert answer(response)["error"]["code"] in (-32601, -32602)
    assert "canary" not in response.text


def test_an_unknown_tool_is_an_error_of_the_protocol(edge):
    old = call_tool(edge.endpoint, "canary", {})
    new = call_modern(edge.endpoint, "tools/call", {"name": "canary", "arguments": {}})
    assert (old.status_code, new.status_code) == (200, 400)
    for response in (old, new):
        assert answer(response)["error"]["code"] == -32602
        assert "canary" not in response.text


@pytest.mark.parametrize("params", [{}, {"name": 7}, {"name": "search_knowledge", "arguments": ["canary"]}])
def test_a_call_that_is_none_is_an_error_of_the_protocol(edge, params):
    response = post(edge.endpoint, message("tools/call", params))
    assert answer(response)["error"]["code"] == -32602
    assert "canary" not in response.text


def test_a_call_without_arguments_is_one_with_none(edge):
    is_error, envelope = tool_answer(post(edge.endpoint, message("tools/call", {"name": "search_knowledge"})))
    assert is_error
    assert envelope["error"]["code"] == "validation_error"


class CanaryError(Exception):
    """Something of ours that fails with the caller's words in it."""


@pytest.mark.parametrize(
    "failure", [CanaryError("canary"), KeyError("canary"), RecursionError("canary"), InternalError("canary")]
)
def test_a_failure_of_ours_is_told_without_a_word_of_it(start_edge, failure, caplog):
    def fail(name, arguments):
        raise failure

    edge = start_edge(call=fail)
    caplog.set_level("DEBUG")
    old = call_tool(edge.endpoint, "search_knowledge", SEARCH)
    new = call_modern(edge.endpoint, "tools/call", {"name": "search_knowledge", "arguments": SEARCH})
    for response in (old, new):
        assert response.status_code == 200
        is_error, envelope = tool_answer(response)
        assert is_error
        assert envelope["error"]["code"] == "internal_error"
        assert "canary" not in response.text
    assert "canary" not in caplog.text
    assert type(failure).__name__ in caplog.text
    assert "test_protocol.py:" in caplog.text


def test_a_database_that_is_away_is_503_in_both_eras(start_edge):
    def fail(name, arguments):
        raise Unavailable("The database cannot be reached just now. Try again.", details={"retry_after_seconds": 3})

    edge = start_edge(call=fail)
    for response in (
        call_tool(edge.endpoint, "search_knowledge", SEARCH),
        call_modern(edge.endpoint, "tools/call", {"name": "search_knowledge", "arguments": SEARCH}),
    ):
        assert response.status_code == 503
        assert response.headers["retry-after"] == "3"
        assert answer(response)["id"] == 1
        assert response.headers["x-guest-quota-remaining"] in ("249", "248")


@pytest.mark.parametrize(("mode", "version"), [("auto", MODERN), ("legacy", "2025-11-25")])
def test_the_official_client_connects_lists_and_calls(edge, mode, version):
    async def talk():
        async with Client(edge.endpoint, mode=mode) as client:
            assert client.protocol_version == version
            tools = (await client.list_tools()).tools
            found = await client.call_tool("search_knowledge", SEARCH)
            refused = await client.call_tool("search_knowledge", {"query": "x"})
            with pytest.raises(MCPError, match="No tool has this name"):
                await client.call_tool("no_such_tool", {})
            return client.server_info, tools, found, refused

    server, tools, found, refused = asyncio.run(talk())
    assert server.name == SERVER_NAME
    assert len(tools) == 3
    assert json.loads(found.content[0].text) == answer_offline("search_knowledge", SEARCH)
    assert refused.is_error
    assert json.loads(refused.content[0].text)["error"]["code"] == "validation_error"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_answers_of_many_clients_are_not_mixed_up(start_edge, mode):
    edge = start_edge(call=lambda _name, arguments: {"echo": arguments["query"]}, guest_daily_quota=10_000)

    async def client(number):
        async with Client(edge.endpoint, mode=mode) as session:
            for turn in range(10):
                result = await session.call_tool("search_knowledge", {"query": f"{number}/{turn}"})
                assert json.loads(result.content[0].text) == {"echo": f"{number}/{turn}"}

    async def crowd():
        await asyncio.gather(*(client(number) for number in range(8)))

    asyncio.run(crowd())
