"""Pydantic AI's toolset."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from dialogue import Connected, run
from pydantic_ai.mcp import MCPToolset


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], mode: str) -> AsyncIterator[Connected]:
    async with MCPToolset(url, headers=dict(headers)) as mcp:

        async def tools() -> list[str]:
            return [tool.name for tool in await mcp.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            # It raises for an error, and parses a text that holds JSON.
            answer = await mcp.direct_call_tool(name, arguments)
            return False, answer if isinstance(answer, str) else json.dumps(answer)

        yield Connected(tools, call)


run(connect)
