"""Guests who call without a pause while a day ends and the next begins."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.acceptance.quota_wire import Answer, Sending, connect, exchange, read_answer, request

LONGEST_SECONDS = 60


@dataclass
class Guest:
    """One address and what it was answered.

    Attributes:
        pause: seconds between a call's answer and the next; none for those who want all they can get.
    """

    source: str
    pause: float
    answers: list[Answer] = field(default_factory=list)

    @property
    def served(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.status == 200]


def call_until(guests: Sequence[Guest], ports: Sequence[int], enough: Callable[[], bool]) -> None:
    """Let every guest call at every server, twice at the same time, until it is enough."""
    asyncio.run(_call_until(guests, ports, enough))


async def _call_until(guests: Sequence[Guest], ports: Sequence[int], enough: Callable[[], bool]) -> None:
    over = asyncio.Event()
    lanes = [asyncio.create_task(_call(guest, port, over)) for guest in guests for port in ports for _ in range(2)]
    watch = asyncio.create_task(_end_when(enough, over))
    await asyncio.gather(watch, *lanes)


async def _end_when(enough: Callable[[], bool], over: asyncio.Event) -> None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while not over.is_set():
        if enough() or time.monotonic() > deadline:
            over.set()
        await asyncio.sleep(0.1)


async def _call(guest: Guest, port: int, over: asyncio.Event) -> None:
    while not over.is_set():
        answer = read_answer(await exchange(*await connect(Sending(port, request(port), guest.source))))
        guest.answers.append(answer)
        # Whoever is refused would otherwise take the time of those who are not.
        await asyncio.sleep(guest.pause if answer.status == 200 else 0.05)
