"""Clients that are slow, that stay, or that leave: nobody else notices."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import text

from app.settings import Settings
from tests.acceptance.conftest import Program, Start
from tests.acceptance.edge_load import PLENTY, SEARCH, answers_to, paced_calls, port_of
from tests.acceptance.quota_wire import HERE, Sending, read_answer, request
from tests.core.records import make_record
from tests.databases import Database

Note = Callable[[str, object], None]

# What a machine with two cores and other work may add to a deadline.
SLACK = 3.0
POOL = Settings.model_fields["pool_size"].default
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.fixture
def program(serve: Start, database: Database):
    """A served database with a record in it, for guests without a limit worth mentioning."""
    database.publish(make_record())
    with serve(database, CHATCTX_GUEST_DAILY_QUOTA=PLENTY) as running:
        yield running


def silent(port: int) -> Sequence[bytes]:
    return []


def half_a_head(port: int) -> Sequence[bytes]:
    return [request(port, SEARCH)[:60]]


def one_byte_at_a_time(port: int) -> Sequence[bytes]:
    return [bytes([byte]) for byte in request(port, SEARCH)]


def half_a_body(port: int) -> Sequence[bytes]:
    return [request(port, SEARCH)[:-20]]


SLOW = (silent, half_a_head, one_byte_at_a_time, half_a_body)


async def hold_on(port: int, source: str, pieces: Sequence[bytes]) -> float:
    """Send pieces with pauses between them, then nothing; return how many seconds until the server hung up."""
    reader, writer = await asyncio.open_connection(HERE, port, local_addr=(source, 0))
    began = time.monotonic()

    async def send() -> None:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.2)

    sending = asyncio.create_task(send())
    try:
        assert await reader.read() == b""
    except ConnectionResetError:
        pass
    finally:
        sending.cancel()
        writer.close()
    return time.monotonic() - began


def test_t21_slow_clients_are_hung_up_on_and_hold_up_nobody(program: Program, record_property: Note) -> None:
    """500 clients that send nothing, half a head, a byte at a time or half a body are hung up on: 5 s or 10 s each.

    Meanwhile everybody else is served without a single failure.
    """
    port = port_of(program.base)

    async def besiege():
        async with paced_calls(port, 25) as quiet:
            await asyncio.sleep(2)
        async with paced_calls(port, 25) as besieged:
            held = [hold_on(port, f"127.0.{kind}.{n + 1}", SLOW[kind](port)) for n in range(125) for kind in range(4)]
            ended = await asyncio.gather(*held)
        return ended, quiet, besieged

    ended, quiet, besieged = asyncio.run(besiege())
    silent_ones, others = ended[0::4], [took for kind in (1, 2, 3) for took in ended[kind::4]]
    assert max(silent_ones) < 5 + SLACK
    assert max(others) < 10 + SLACK
    assert set(quiet.statuses) == set(besieged.statuses) == {200}
    record_property(
        "figure",
        f"{len(ended)} hung up on, the silent after {max(silent_ones):.1f} s at the latest, the others after "
        f"{max(others):.1f} s; meanwhile {besieged.told}; before, {quiet.told}",
    )


Stream = tuple[int, bool, asyncio.StreamWriter]


async def open_stream(port: int, source: str) -> Stream:
    """Ask for a stream; return the status, whether a refusal says when to come back, and what holds the stream open."""
    reader, writer = await asyncio.open_connection(HERE, port, local_addr=(source, 0))
    writer.write(request(port, b"", method="GET", replaced={"Accept": "text/event-stream", "Content-Length": None}))
    answer = read_answer(await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60))
    if answer.status != 200:
        writer.close()
    return answer.status, answer.status == 200 or answer.retry_after >= 1, writer


async def open_streams(port: int, sources: Sequence[str]) -> list[Stream]:
    opened = []
    for first in range(0, len(sources), 100):
        opened += await asyncio.gather(*(open_stream(port, source) for source in sources[first : first + 100]))
    return opened


def test_t28_streams_are_limited_for_each_address_and_in_all(program: Program, record_property: Note) -> None:
    """One address holds 8 of 300 keep-alive streams it asks for, 1,000 addresses hold 64 in all; calls go on.

    A client of the older protocol holds one for as long as it lives, some two, and an office shares an address: so 8,
    not 2. Whoever gets none is told with 503 when to ask again, and may call tools all the same.
    """
    port = port_of(program.base)

    async def crowd():
        async with paced_calls(port, 20) as paced:
            lonely = await open_streams(port, ["127.0.1.1"] * 300)
            many = await open_streams(port, [f"127.0.{2 + n // 250}.{1 + n % 250}" for n in range(1000)])
            for _, _, writer in (*lonely, *many):
                writer.close()
            again = await reopened(port)
        return lonely, many, again, paced

    lonely, many, again, paced = asyncio.run(crowd())
    statuses = [[status for status, _, _ in streams] for streams in (lonely, many)]
    assert all(told for _, told, _ in (*lonely, *many))
    assert statuses[0].count(200) == 8
    assert statuses[1].count(200) == 64 - 8
    assert set(statuses[0] + statuses[1]) == {200, 503}
    assert again
    assert set(paced.statuses) == {200}
    record_property(
        "figure",
        f"{statuses[0].count(200)} of 300 from one address, {statuses[1].count(200)} more of 1,000 from as many; "
        f"meanwhile {paced.told}",
    )


async def reopened(port: int) -> bool:
    """Tell whether the first address gets all its streams once they were closed; that is noticed a moment later."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        streams = await open_streams(port, ["127.0.1.1"] * 8)
        for _, _, writer in streams:
            writer.close()
        if [status for status, _, _ in streams] == [200] * 8:
            return True
        await asyncio.sleep(0.2)
    return False


async def ask_and_leave(port: int, source: str, after: float) -> None:
    """Send a whole call and reset the connection, as a client that is killed does."""
    _, writer = await asyncio.open_connection(HERE, port, local_addr=(source, 0))
    writer.write(request(port, SEARCH))
    await asyncio.sleep(after)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()


async def leave_all(port: int) -> None:
    # A quarter each: at once, and after 5, 20 and 50 ms, while their calls are at any stage.
    for first in range(0, 1000, 50):
        leaving = (
            ask_and_leave(port, f"127.0.{n // 250}.{1 + n % 250}", (0, 0.005, 0.02, 0.05)[n % 4])
            for n in range(first, first + 50)
        )
        await asyncio.gather(*leaving)


ACTIVE = text(
    "SELECT count(*) FILTER (WHERE state <> 'idle'), count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND usename <> current_user"
)


def at_work(database: Database) -> tuple[int, int]:
    """Return how many connections of the server do something, and how many there are."""
    with database.owner.connect() as connection:
        active, all_of_them = connection.execute(ACTIVE).one()
    return active, all_of_them


def test_t32_clients_that_leave_in_the_middle_leave_nothing_behind(
    program: Program, database: Database, record_property: Note
) -> None:
    """1,000 clients reset their connection during a call: 2 s later no query of theirs runs and every place is free.

    The log has a line for each at most, and no traceback.
    """
    port = port_of(program.base)
    asyncio.run(leave_all(port))
    began = time.monotonic()
    while at_work(database)[0] and time.monotonic() - began < 10:
        time.sleep(0.02)
    quiet = time.monotonic() - began
    assert quiet < 2 + SLACK
    lines = len(program.lines)
    answers = answers_to([Sending(port, request(port, SEARCH), f"127.0.8.{n + 1}") for n in range(4 * POOL)])
    assert [answer.status for answer in answers] == [200] * (4 * POOL)
    active, connections = at_work(database)
    assert active == 0
    assert 1 <= connections <= POOL
    assert lines < 1000 + 10
    assert "Traceback" not in program.output
    assert '"error"' not in program.output
    record_property(
        "figure",
        f"no query left after {quiet:.2f} s; {lines} log lines; {len(answers)} calls at once served afterwards over "
        f"{connections} connections",
    )
