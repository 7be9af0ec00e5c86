"""What we rely on of the MCP SDK that its documentation does not promise.

A failure here means: read its changes before moving the pin.
"""

from __future__ import annotations

import asyncio
import inspect
from importlib.metadata import requires, version

import mcp_types as types
import pytest
from mcp.server import runner
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.shared import inbound
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import version as versions
from packaging.requirements import Requirement
from pydantic import ValidationError

from app.transports.mcp import _Exchange


def test_the_pin_is_tight():
    pins = [Requirement(line) for line in requires("chatctx") or [] if Requirement(line).name == "mcp"]
    assert [str(pin.specifier) for pin in pins] == ["<2.4,>=2.3"]
    assert version("mcp").startswith("2.3.")


def test_the_versions_are_those_we_know():
    assert versions.HANDSHAKE_PROTOCOL_VERSIONS == ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
    assert versions.MODERN_PROTOCOL_VERSIONS == ("2026-07-28",)


def test_one_request_can_be_served_by_itself():
    assert "serve_one" in runner.__all__
    assert list(inspect.signature(runner.serve_one).parameters) == [
        "server", "dctx", "method", "params", "connection", "lifespan_state",
    ]  # fmt: skip


def serve(server, method, params, protocol, request=None):
    exchange = _Exchange(1, ServerMessageMetadata(request_context=request))
    connection = Connection.from_envelope(protocol, None, None)
    return asyncio.run(runner.serve_one(server, exchange, method, params, connection=connection, lifespan_state=None))


META = {"_meta": {types.PROTOCOL_VERSION_META_KEY: "2026-07-28", types.CLIENT_CAPABILITIES_META_KEY: {}}}


@pytest.mark.parametrize(("protocol", "around"), [("2025-11-25", {}), ("2026-07-28", META)])
def test_a_handler_gets_what_was_attached_and_may_return_a_plain_dict(protocol, around):
    async def call(context, params):
        return {"resultType": "complete", "content": [{"type": "text", "text": f"{params.name} {context.request}"}]}

    server = Server("x", on_call_tool=call)
    result = serve(server, "tools/call", {"name": "tool", **around}, protocol, "attached")
    assert result["content"] == [{"type": "text", "text": "tool attached"}]
    assert ("resultType" in result) == (protocol == "2026-07-28")


def test_what_a_handler_raises_comes_out_as_it_is():
    class OursError(Exception):
        pass

    async def call(context, params):
        raise OursError

    with pytest.raises(OursError):
        serve(Server("x", on_call_tool=call), "tools/call", {"name": "tool"}, "2025-11-25")


def test_an_unknown_method_and_malformed_parameters_have_errors_of_their_own():
    server = Server("x")
    with pytest.raises(MCPError) as unknown:
        serve(server, "no/such", {}, "2025-11-25")
    assert unknown.value.error.code == types.METHOD_NOT_FOUND
    with pytest.raises(ValidationError):
        serve(server, "tools/call", {"name": 7}, "2025-11-25")


def test_tracing_is_a_middleware_that_can_be_taken_out():
    server = Server("x")
    assert [type(entry).__name__ for entry in server.middleware] == ["OpenTelemetryMiddleware"]
    server.middleware.clear()
    assert serve(server, "ping", {}, "2025-11-25") == {}


def test_hints_reach_new_clients_only():
    async def tools(context, params):
        return types.ListToolsResult(tools=[])

    server = Server("x", on_list_tools=tools, cache_hints={"tools/list": CacheHint(5, "public")})
    assert serve(server, "tools/list", META, "2026-07-28")["ttlMs"] == 5
    assert serve(server, "tools/list", {}, "2025-11-25") == {"tools": []}


def test_the_ladder_of_the_new_protocol_names_its_rungs():
    assert dict(inbound.ERROR_CODE_HTTP_STATUS)[types.METHOD_NOT_FOUND] == 404
    refused = inbound.classify_inbound_request({"method": "ping", "params": {}}, headers={})
    assert isinstance(refused, inbound.InboundLadderRejection)
    assert refused.code == types.INVALID_PARAMS
