"""Lets a client be told what to do: each line of standard input is one connection, each line of output what it saw.

In: `{"url": ..., "key": ... or null, "mode": ..., "calls": [[tool, arguments], ...]}`. `"$ID"` in an argument stands
for the first record that the first answer named. Out: `{"tools": [...], "answers": [[is_error, text], ...],
"failure": null or the text a person would be shown}`. A connection ends with its first failure.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

LONGEST_CONNECTION = 30.0


@dataclass
class Connected:
    """A client that is connected: how it names the tools, and how it calls one."""

    tools: Callable[[], Awaitable[list[str]]]
    call: Callable[[str, dict[str, Any]], Awaitable[tuple[bool, str]]]


Connect = Callable[[str, Mapping[str, str], str], AbstractAsyncContextManager[Connected]]


def run(connect: Connect) -> None:
    """Hold the connections that standard input asks for, one after the other."""
    for line in sys.stdin:
        seen = asyncio.run(_hold(connect, json.loads(line)))
        sys.stdout.write(json.dumps(seen) + "\n")
        sys.stdout.flush()


async def _hold(connect: Connect, wish: Mapping[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = {"tools": [], "answers": [], "failure": None}
    headers = {"Authorization": f"Bearer {wish['key']}"} if wish["key"] else {}
    try:
        async with asyncio.timeout(LONGEST_CONNECTION), connect(wish["url"], headers, wish["mode"]) as client:
            seen["tools"] = await client.tools()
            for name, arguments in wish["calls"]:
                seen["answers"].append(await client.call(name, _filled(arguments, seen["answers"])))
    except Exception as error:  # noqa: BLE001 - whatever the client makes of a refusal is what is looked for
        seen["failure"] = "; ".join(_texts(error))
    return seen


def _filled(arguments: Mapping[str, Any], answers: list[tuple[bool, str]]) -> dict[str, Any]:
    text = json.dumps(arguments)
    if "$ID" in text:
        text = text.replace("$ID", json.loads(answers[0][1])["results"][0]["id"])
    filled: dict[str, Any] = json.loads(text)
    return filled


def _texts(error: BaseException) -> Iterator[str]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _texts(inner)
    else:
        yield f"{type(error).__name__}: {error}"
