"""Tool calls as nearly every client makes them, answered without the SDK's machinery for one request.

That machinery costs as much as everything else the edge does for a call, and for such a call it decides nothing: the
SDK's own models say here whether it would take the call, and one answer of its own in each version of the protocol is
the pattern for all others. A call that is anything else goes through the SDK, which then also words the refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp_types import methods
from pydantic import ValidationError

from app.transports.jsonrpc import Message
from app.transports.mcp import Dialect, McpServer

_MEMBERS = frozenset({"name", "arguments", "_meta"})


@dataclass(frozen=True)
class PlainCall:
    """A call that the SDK would hand to its tool unchanged."""

    name: str
    arguments: Mapping[str, Any]


def read_plain_call(message: Message, dialect: Dialect) -> PlainCall | None:
    """Return the call that a message plainly is, None if the SDK must judge it."""
    arguments = message.params.get("arguments")
    if not message.params.keys() <= _MEMBERS or not isinstance(arguments, dict | None):
        return None
    # As on the way through the SDK, it never sees the arguments.
    params = {name: value for name, value in message.params.items() if name != "arguments"}
    try:
        methods.validate_client_request("tools/call", dialect.version, params)
        types.CallToolRequestParams.model_validate(params, by_name=False)
    except (ValidationError, KeyError):
        return None
    return PlainCall(params["name"], arguments or {})


class PlainResults:
    """Results of plain calls, shaped as the SDK shapes them. Shared by all requests."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._patterns: dict[str, dict[str, Any]] = {}

    async def of(self, message: Message, dialect: Dialect, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return a tool's result as the answer to a plain call in its version of the protocol."""
        pattern = self._patterns.get(dialect.version)
        if pattern is None:
            pattern = self._patterns[dialect.version] = await self._server.answer(message, dialect, _answer_nothing)
        return {name: result.get(name, value) for name, value in pattern.items()}


async def _answer_nothing(_name: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"resultType": "complete", "content": [], "isError": False}
