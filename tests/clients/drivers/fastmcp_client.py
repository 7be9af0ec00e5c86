"""FastMCP's client."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from dialogue import Connected, run
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], mode: str) -> AsyncIterator[Connected]:
    async with Client(StreamableHttpTransport(url, headers=dict(headers))) as mcp:

        async def tools() -> list[str]:
            return [tool.name for tool in await mcp.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            result = await mcp.call_tool(name, arguments, raise_on_error=False)
            return result.is_error, result.content[0].text

        yield Connected(tools, call)


run(connect)
