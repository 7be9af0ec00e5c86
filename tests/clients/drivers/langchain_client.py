"""LangChain's adapters: every call of a tool is a connection of its own."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from dialogue import Connected, run
from langchain_mcp_adapters.client import MultiServerMCPClient


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], mode: str) -> AsyncIterator[Connected]:
    server = {"transport": "streamable_http", "url": url, "headers": dict(headers)}
    found = {tool.name: tool for tool in await MultiServerMCPClient({"chatctx": server}).get_tools()}

    async def tools() -> list[str]:
        return list(found)

    async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str]:
        blocks = await found[name].ainvoke(arguments)
        return False, blocks[0]["text"]

    yield Connected(tools, call)


run(connect)
