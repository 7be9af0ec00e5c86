"""The Python SDK 2."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from dialogue import Connected, run
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], mode: str) -> AsyncIterator[Connected]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as mcp,
    ):

        async def tools() -> list[str]:
            return [tool.name for tool in (await mcp.list_tools()).tools]

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            result = await mcp.call_tool(name, arguments)
            return bool(result.is_error), result.content[0].text

        yield Connected(tools, call)


run(connect)
