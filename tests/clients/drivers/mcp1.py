"""The Python SDK 1, as its README connects it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from dialogue import Connected, run
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], mode: str) -> AsyncIterator[Connected]:
    async with streamablehttp_client(url, headers=dict(headers)) as (read, write, _), ClientSession(read, write) as mcp:
        await mcp.initialize()

        async def tools() -> list[str]:
            return [tool.name for tool in (await mcp.list_tools()).tools]

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            result = await mcp.call_tool(name, arguments)
            return bool(result.isError), result.content[0].text

        yield Connected(tools, call)


run(connect)
