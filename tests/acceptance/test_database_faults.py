"""The line to PostgreSQL, its disk, its connections and its logins fail while agents are asking."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from sqlalchemy import text

from tests.acceptance.conftest import Program, Start
from tests.acceptance.outage_load import (
    LONGEST_ANSWER,
    SLACK,
    Asker,
    check_refusals,
    load_on,
    served,
    units_kept,
)
from tests.core.records import make_record
from tests.databases import Database
from tests.proxies import FaultyLine, faulty_line_to

POOL = 8
RECOVERY = 5.0
Note = Callable[[str, object], None]


@pytest.fixture
def far(serve: Start, database: Database) -> Iterator[tuple[Program, FaultyLine]]:
    """A server that reaches the database over a line that can be made to fail."""
    database.publish(make_record())
    with faulty_line_to(database.app_url, database.owner_url) as (line, app_url, owner_url):
        through = replace(database, app_url=app_url, owner_url=owner_url)
        with served(serve, through, CHATCTX_POOL_SIZE=str(POOL)) as program:
            yield program, line


def recovered(program: Program, since: float) -> float:
    """Return how many seconds after a moment a call was served again; it may be refused before."""
    while Asker(program.base).ask().status != 200:
        assert time.monotonic() - since < RECOVERY + SLACK
    return time.monotonic() - since


def connections_at_work(program: Program, database: Database) -> int:
    """Return how many calls the server can have in the database at once."""
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = CAST('quota_use' AS regclass)")
    most = 0
    with ExitStack() as stack:
        holding, looking = (stack.enter_context(database.owner.connect()) for _ in range(2))
        holding.execute(text("LOCK TABLE quota_use IN ACCESS EXCLUSIVE MODE"))
        with load_on(program, agents=2 * POOL):
            until = time.monotonic() + 2
            while time.monotonic() < until and most < POOL:
                most = max(most, looking.scalar(waiting) or 0)
            holding.rollback()
    return most


def test_t07_a_silent_database_line_is_answered_for_in_time_and_served_from_again(
    far: tuple[Program, FaultyLine], database: Database, record_property: Note
) -> None:
    """A line to PostgreSQL that takes bytes and passes none on: 503 within 3 s, served 5 s after it works, pool whole.

    Nothing is free meanwhile: every call that was served is counted.
    """
    program, line = far
    asker = Asker(program.base)
    served_before = asker.ask_at_once(POOL)
    assert {answer.status for answer in served_before} == {200}
    line.stall()
    answers = [answer for _ in range(3) for answer in asker.ask_at_once(20)]
    check_refusals(answers)
    line.resume()
    back = recovered(program, time.monotonic())
    slowest = max(answer.took for answer in answers)
    assert slowest < LONGEST_ANSWER + SLACK
    assert back < RECOVERY
    assert connections_at_work(program, database) == POOL
    assert units_kept(database.owner) >= POOL + 1
    record_property(
        "figure",
        f"{len(answers)} calls refused, slowest {slowest:.1f} s, served again after {back:.1f} s, "
        f"{POOL} of {POOL} connections at work again",
    )


def test_t07_a_line_that_is_cut_at_any_byte_is_refused_without_a_trace(
    far: tuple[Program, FaultyLine], database: Database, record_property: Note
) -> None:
    """A line that is reset after any number of an answer's bytes: 503 or 200, and the next call is served.

    From the first byte of a connection's greeting to the last of a search's rows.
    """
    program, line = far
    asker = Asker(program.base)
    counted: Counter[int] = Counter()
    sizes = [*range(0, 700, 23), *range(700, 12_000, 900)]
    for size in sizes:
        line.cut_answers_after(size)
        answers = asker.ask_at_once(2)
        check_refusals(answers, 200)
        counted.update(answer.status for answer in answers)
        line.resume()
        recovered(program, time.monotonic())
    assert counted[503] > len(sizes) // 2
    assert program.process.poll() is None
    assert "Traceback" not in program.output
    assert units_kept(database.owner) >= counted[200] + len(sizes)
    record_property("figure", f"cut at {len(sizes)} places: {counted[503]} refused, {counted[200]} served, none 500")


def test_t07_a_line_that_dribbles_is_answered_for_in_time(
    far: tuple[Program, FaultyLine], database: Database, record_property: Note
) -> None:
    """A line that passes on 20 bytes a second gets callers 503 within 3 s, and 200 again 5 s after it works."""
    program, line = far
    asker = Asker(program.base)
    assert {answer.status for answer in asker.ask_at_once(POOL)} == {200}
    line.dribble(0.05)
    answers = [answer for _ in range(2) for answer in asker.ask_at_once(20)]
    check_refusals(answers)
    line.resume()
    back = recovered(program, time.monotonic())
    slowest = max(answer.took for answer in answers)
    assert slowest < LONGEST_ANSWER + SLACK
    assert connections_at_work(program, database) == POOL
    record_property("figure", f"{len(answers)} refused, slowest {slowest:.1f} s, served again after {back:.1f} s")
