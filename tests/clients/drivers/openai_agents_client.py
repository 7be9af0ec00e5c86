"""The OpenAI Agents SDK."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from agents.mcp import MCPServerStreamableHttp
from dialogue import Connected, run


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], mode: str) -> AsyncIterator[Connected]:
    async with MCPServerStreamableHttp({"url": url, "headers": dict(headers)}) as mcp:

        async def tools() -> list[str]:
            return [tool.name for tool in await mcp.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            result = await mcp.call_tool(name, arguments)
            is_error = result.is_error if hasattr(result, "is_error") else result.isError
            return bool(is_error), result.content[0].text

        yield Connected(tools, call)


run(connect)
