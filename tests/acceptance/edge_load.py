"""Agents that go on asking at an even pace while others misbehave, and what their calls came to."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median

from tests.acceptance.quota_wire import Answer, Sending, call_body, connect, exchange, read_answer, replies_to, request

PLENTY = "1000000"
SEARCH = call_body("search_knowledge", {"query": "list rows keep the wrong text after reordering"})


def port_of(base: str) -> int:
    return int(base.rpartition(":")[2])


async def ask_soon(sending: Sending) -> Answer:
    """Send one request and return its answer."""
    return read_answer(await exchange(*await connect(sending)))


def answers_to(sendings: Sequence[Sending]) -> list[Answer]:
    """Connect everybody, let all send at the same moment, and return what each was answered, whatever that is."""
    return [read_answer(data) for data in replies_to(sendings)]


@dataclass
class Paced:
    """The answers to calls that were sent at an even pace."""

    statuses: Counter[int] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    @property
    def told(self) -> str:
        """What came of them, for a reader: the middle and the slowest hundredth."""
        ranked = sorted(self.took)
        slow = ranked[int(len(ranked) * 0.99)]
        return f"{len(ranked)} calls served, median {median(ranked) * 1000:.0f} ms, p99 {slow * 1000:.0f} ms"


@asynccontextmanager
async def paced_calls(port: int, a_second: int, source: str = "127.0.9.9") -> AsyncIterator[Paced]:
    """Send calls at a pace, however long each takes, as long as the context lasts; wait for all of them."""
    paced, asking = Paced(), set()

    async def ask() -> None:
        sent = time.monotonic()
        answer = await ask_soon(Sending(port, request(port, SEARCH), source))
        paced.statuses[answer.status] += 1
        paced.took.append(time.monotonic() - sent)

    async def send_on() -> None:
        while True:
            asking.add(asyncio.create_task(ask()))
            await asyncio.sleep(1 / a_second)

    sending = asyncio.create_task(send_on())
    try:
        yield paced
    finally:
        sending.cancel()
        await asyncio.gather(*asking)
