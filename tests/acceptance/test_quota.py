"""Daily allowances: exact whatever happens at once, for guests and keys, over midnight, and gone when their day is."""

from __future__ import annotations

import ipaddress
import re
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import make_url, text

from app.access import PepperRing
from app.access.admission import new_key
from app.access.pepper import keyed_hash
from app.cluster import Cluster
from app.cluster.binaries import wheel_binaries
from app.serving import _repeated
from app.store.access import KEEP_DAYS, SETTLING_MINUTES, KeyRing, PostgresAccessStore
from tests.acceptance.quota_cases import ATTEMPTS, CHARGED, FREE
from tests.acceptance.quota_clock import database_clock, tomorrow
from tests.acceptance.quota_counters import Service, service, serving
from tests.acceptance.quota_midnight import Guest, call_until
from tests.acceptance.quota_model import Allowances, machine_on
from tests.acceptance.quota_wire import (
    CHEAP,
    HERE,
    Answer,
    Sending,
    ask,
    ask_at_once,
    call_body,
    json_of,
    replies_to,
    request,
)
from tests.core.records import make_record
from tests.databases import Database, DatabaseServer

QUOTA = 250
# Where, how many bytes are removed there, and which take their place.
EDIT = st.tuples(st.integers(0, len(call_body())), st.integers(0, 3), st.binary(max_size=3))
END_SESSIONS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'chatctx_app' AND datname = :name
"""
ACTIVITY = """
SELECT n_tup_ins + n_tup_upd + n_tup_del, idx_scan FROM pg_stat_user_tables WHERE relname = 'quota_use'
"""
BY_DAY = "SELECT dense_rank() OVER (ORDER BY day) - 1 AS day, subject, used FROM quota_use"
Record = Callable[[str, object], None]


@pytest.fixture(scope="module")
def servers(
    database_server: DatabaseServer, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    """Two server processes on one database, for all tests here that have guests of their own."""
    with service(database_server, cluster, tmp_path_factory.mktemp("servers") / "home") as running:
        yield running


def served(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if answer.status == 200]


def spread(service: Service, sources: list[str], body: bytes, *extra: tuple[str, str]) -> list[Sending]:
    """Return one call for each source, sent to the servers in turn."""
    ports = (service.ports[number % len(service.ports)] for number in range(len(sources)))
    return [Sending(port, request(port, body, *extra), source) for port, source in zip(ports, sources, strict=True)]


def test_t01_one_address_gets_exactly_its_allowance_however_many_call_at_once(
    servers: Service, record_property: Record
) -> None:
    """Of 400 calls at once from one address to two servers, exactly 250 are served, each number of units left once.

    Each server is a process of its own; 200 clients make two calls each, over connections made before.
    """
    guest = "127.1.0.1"
    answers = ask_at_once(spread(servers, [guest] * 400, call_body()))
    assert Counter(answer.status for answer in answers) == {200: QUOTA, 429: 400 - QUOTA}
    assert sorted(answer.remaining for answer in served(answers)) == list(range(QUOTA))
    refused = [answer for answer in answers if answer.status == 429]
    assert {answer.remaining for answer in refused} == {0}
    assert all(1 <= answer.retry_after <= 86_460 for answer in refused)
    details = [json_of(answer)["error"]["data"]["details"] for answer in refused]
    assert [told["retry_after_seconds"] for told in details] == [answer.retry_after for answer in refused]
    # They all come back at midnight, but not in the same second.
    assert len({answer.retry_after for answer in refused}) > 1
    assert servers.counters.used(guest) == QUOTA
    record_property("figure", f"{len(served(answers))} served, {len(refused)} refused, each number of units left once")


def test_t01_several_addresses_at_once_get_exactly_theirs(servers: Service, record_property: Record) -> None:
    """Each of ten addresses with 20 units left is served exactly 20 of its 40 calls, all 400 sent at once."""
    guests = [f"127.1.1.{number}" for number in range(1, 11)]
    servers.counters.preset(guests, QUOTA - 20)
    sources = [guest for _ in range(20) for guest in guests for _ in servers.ports]
    answers = ask_at_once(spread(servers, sources, call_body()))
    told: dict[str, list[int]] = {guest: [] for guest in guests}
    for source, answer in zip(sources, answers, strict=True):
        if answer.status == 200:
            told[source].append(answer.remaining)
    assert {guest: sorted(remaining) for guest, remaining in told.items()} == {
        guest: list(range(20)) for guest in guests
    }
    assert {servers.counters.used(guest) for guest in guests} == {QUOTA}
    record_property("figure", f"{len(guests)} addresses, {len(served(answers)) // len(guests)} calls served for each")


def test_t01_a_key_gets_exactly_its_allowance_however_many_call_at_once(
    servers: Service, record_property: Record
) -> None:
    """A key with 250 calls a day, used for 400 at once from 200 addresses at two servers, is served exactly 250."""
    key = new_key(servers.counters.peppers)
    KeyRing(servers.database.owner).add(key.key_id, key.mac, key.pepper_id, "burst", QUOTA)
    bearer = ("Authorization", f"Bearer {key.text}")
    sources = [f"127.1.2.{number % 200 + 1}" for number in range(400)]
    answers = ask_at_once(spread(servers, sources, call_body(), bearer))
    assert Counter(answer.status for answer in answers) == {200: QUOTA, 429: 400 - QUOTA}
    assert servers.counters.rows()[f"key:{key.key_id}".encode()] == QUOTA
    assert not any("x-guest-quota-remaining" in answer.headers for answer in answers)
    record_property("figure", f"{len(served(answers))} served, {400 - len(served(answers))} refused")


def test_t02_the_last_unit_is_given_once(servers: Service, record_property: Record) -> None:
    """Of 200 guests with one unit left who ask two servers for it at once, each gets it once, 20 times of 20."""
    over = short = failed = 0
    for repeat in range(20):
        guests = [f"127.2.{repeat}.{number}" for number in range(1, 201)]
        servers.counters.preset(guests, QUOTA - 1)
        sources = [guest for guest in guests for _ in servers.ports]
        answers = ask_at_once(spread(servers, sources, CHEAP))
        admitted = Counter(source for source, a in zip(sources, answers, strict=True) if a.was_counted)
        failed += sum(answer.was_counted and answer.status == 503 for answer in answers)
        assert sum(answer.status == 429 for answer in answers) == 200
        over += sum(admitted[guest] > 1 for guest in guests)
        short += sum(admitted[guest] < 1 for guest in guests)
    assert (over, short) == (0, 0)
    assert failed < 20
    record_property("figure", f"{20 * 200:,} last units: {over} given twice, {short} not given, {failed} answered 503")


def test_t03_whatever_the_order_the_database_counts_what_was_served(
    database: Database, cluster: Cluster, record_property: Record
) -> None:
    """In 2,000 random steps of calls, limits, restarts, days and clocks, the database holds what was served.

    Guests and keys call at two servers; limits are raised and lowered; days pass, clocks jump and machines sleep. A
    model of a few lines says what ought to be counted. The database's clock is its own `now()`, exchanged for one that
    the test sets.
    """
    with database_clock(cluster, database) as clock:
        machine = machine_on(database, clock)
        run_state_machine_as_test(
            machine, settings=settings(max_examples=60, stateful_step_count=50, deadline=None, print_blob=True)
        )
    assert Allowances.steps >= 2000
    record_property("figure", f"{Allowances.steps:,} steps, 0 differences")


def test_t04_midnight_gives_every_guest_one_new_allowance(
    database_server: DatabaseServer, cluster: Cluster, tmp_path: Path, record_property: Record
) -> None:
    """While midnight passes under load, guests get 250 calls of each day, and no call is counted twice.

    Two guests use up both days' allowances as fast as two server processes let them; six others are in the middle of
    theirs when the day ends. The database's clock is its own `now()`, set to some seconds before midnight and going on.
    """
    with service(database_server, cluster, tmp_path / "home") as running:
        old_salt = PostgresAccessStore(running.database.server).daily_salt()[1]
        greedy = [Guest(f"127.4.0.{number}", 0) for number in (1, 2)]
        steady = [Guest(f"127.4.1.{number}", 0.4) for number in range(1, 7)]
        midnight = tomorrow(running.clock.now())

        def enough() -> bool:
            served = min(len(guest.served) for guest in greedy)
            if served == QUOTA and running.clock.now() < midnight - timedelta(seconds=2):
                running.clock.set(midnight - timedelta(seconds=2))
            return served >= 2 * QUOTA

        call_until([*greedy, *steady], running.ports, enough)
        assert running.clock.now() > midnight
        days = count_by_day(running, greedy + steady, old_salt)
    refused = [answer for guest in greedy + steady for answer in guest.answers if answer.status == 429]
    assert {answer.status for guest in greedy + steady for answer in guest.answers} <= {200, 429, 503}
    assert refused
    assert all(1 <= answer.retry_after <= 86_460 for answer in refused)
    for guest in greedy + steady:
        # What the database counted for each day is what was told on the way, each number once.
        told = [list(range(QUOTA - used, QUOTA)) for used in days[guest.source]]
        assert sorted(answer.remaining for answer in guest.served) == sorted(told[0] + told[1])
    assert [days[guest.source] for guest in greedy] == [(QUOTA, QUOTA)] * 2
    assert all(before and after for before, after in days.values())
    counted = ", ".join(f"{before} + {after}" for before, after in days.values())
    record_property("figure", f"counted for each guest before and after midnight: {counted}")


def count_by_day(service: Service, guests: list[Guest], old_salt: bytes) -> dict[str, tuple[int, int]]:
    """Return what was counted for each guest on the day that ended and on the one that began; nobody else was."""
    salts = enumerate((old_salt, None))
    subjects = {service.counters.subject(g.source, salt): (g.source, day) for day, salt in salts for g in guests}
    with service.database.owner.connect() as connection:
        rows = connection.execute(text(BY_DAY)).all()
    counted = {(subjects[bytes(row.subject)][0], row.day): row.used for row in rows}
    assert all(subjects[bytes(row.subject)][1] == row.day for row in rows)
    return {guest.source: (counted[guest.source, 0], counted[guest.source, 1]) for guest in guests}


def test_t10_only_a_tool_call_costs_a_unit(servers: Service, record_property: Record) -> None:
    """A tool call costs one unit whatever comes of it, 13 outcomes tried; 26 requests of other kinds cost none.

    The units are read from the database, for each request from an address of its own.
    """
    assert (len(CHARGED), len(FREE)) == (13, 26)
    seen = {}
    cases = [(1, case) for case in CHARGED] + [(0, case) for case in FREE]
    for number, (units, case) in enumerate(cases):
        guest, port = f"127.10.0.{number + 1}", servers.ports[0]
        answer = ask(Sending(port, case.data(port), guest))
        assert (case.name, answer.status) == (case.name, case.status)
        seen[case.name] = (units, servers.counters.used(guest))
        assert ("x-guest-quota-remaining" in answer.headers) == bool(units)
    assert {name: used for name, (_, used) in seen.items()} == {name: units for name, (units, _) in seen.items()}
    costs = Counter(used for _, used in seen.values())
    record_property("figure", f"{costs[1]} requests cost 1 unit, {costs[0]} cost none")


def test_t10_a_refusal_costs_nothing(servers: Service) -> None:
    """A refused guest is not counted further, and a call that cannot be counted is 503 and costs nothing."""
    exhausted, unlucky, port = "127.10.1.1", "127.10.1.2", servers.ports[0]
    servers.counters.preset([exhausted], QUOTA)
    assert [ask(Sending(port, request(port), exhausted)).status for _ in range(3)] == [429] * 3
    assert servers.counters.used(exhausted) == QUOTA
    with servers.database.owner.begin() as connection:
        connection.execute(text("LOCK TABLE quota_use IN ACCESS EXCLUSIVE MODE"))
        refused = ask(Sending(port, request(port), unlucky))
        assert (refused.status, refused.retry_after >= 1) == (503, True)
    assert servers.counters.used(unlucky) == 0
    assert ask(Sending(port, request(port), unlucky)).remaining == QUOTA - 1


def test_t10_a_call_with_a_key_costs_the_address_nothing(servers: Service) -> None:
    """What is called with a key is counted for the key alone."""
    key = new_key(servers.counters.peppers)
    KeyRing(servers.database.owner).add(key.key_id, key.mac, key.pepper_id, "own", QUOTA)
    guest, port = "127.10.2.1", servers.ports[0]
    assert ask(Sending(port, request(port, CHEAP, ("Authorization", f"Bearer {key.text}")), guest)).status == 200
    assert servers.counters.used(guest) == 0
    assert servers.counters.rows()[f"key:{key.key_id}".encode()] == 1


def test_t11_no_tool_runs_uncounted(servers: Service, record_property: Record) -> None:
    """Of 72 ways to disguise a tool call, each is either refused or counted: no tool runs for free.

    Names twice, batches, odd ids, other encodings, both protocol versions, headers that contradict the body, requests
    hidden behind others. Runs and units are counted in the database.
    """
    counters, port = servers.counters, servers.ports[0]
    assert len(ATTEMPTS) == 72
    results = {}
    for number, (name, data) in enumerate(ATTEMPTS):
        guest, before = f"127.11.0.{number + 1}", counters.searches()
        answer = ask(Sending(port, data(port), guest), patience=2)
        results[name] = (answer.status, counters.searches() - before, counters.used(guest))
    assert not {name: result for name, result in results.items() if result[1] > result[2] or result[0] >= 500}
    ran = {name: runs for name, (_, runs, _) in results.items() if runs}
    # The honest ones among them do run, or nothing would have been tried.
    assert {"newer era", "chunked", "method with a slash escaped"} <= set(ran)
    assert ran["a call and a call on one connection"] == 2
    idle = len(results) - len(ran)
    record_property("figure", f"{len(results)} attempts: {idle} ran nothing, {sum(ran.values())} runs were counted")


def test_t11_a_guest_without_units_gets_no_tool_run_by_any_bytes(servers: Service, record_property: Record) -> None:
    """A guest with nothing left gets no tool run, neither by those disguises nor by 300 calls with bytes changed.

    With a key, many of the same bytes do run.
    """
    counters, port, guest = servers.counters, servers.ports[0], "127.11.1.1"
    counters.preset([guest], QUOTA)
    key = new_key(counters.peppers)
    KeyRing(servers.database.owner).add(key.key_id, key.mac, key.pepper_id, "fuzz", 100_000)
    bearer = ("Authorization", f"Bearer {key.text}")
    bodies = []

    @settings(max_examples=300, deadline=None)
    @given(edits=st.lists(EDIT, max_size=4))
    def try_changed(edits: list[tuple[int, int, bytes]]) -> None:
        bodies.append(edited(call_body(), edits))
        assert ask(Sending(port, request(port, bodies[-1]), guest)).status in (200, 202, 400, 429)

    before = counters.searches()
    try_changed()
    for _, data in ATTEMPTS:
        ask(Sending(port, data(port), guest), patience=2)
    assert counters.searches() == before
    assert counters.used(guest) == QUOTA
    for body in bodies:
        ask(Sending(port, request(port, body, bearer), guest))
    with_key = counters.searches() - before
    assert with_key > 0
    record_property("figure", f"{len(bodies) + len(ATTEMPTS)} requests, 0 runs; {with_key} runs of them with a key")


def edited(body: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Return the body with some places replaced, each by other bytes."""
    for place, removed, new in edits:
        body = body[:place] + new + body[place + removed :]
    return body


def test_t11_whoever_hangs_up_has_paid(servers: Service, record_property: Record) -> None:
    """A client that calls and hangs up at once, a hundred times, gets no tool run that is not counted."""
    counters, port, guest = servers.counters, servers.ports[0], "127.11.2.1"
    before = counters.searches()
    for _ in range(100):
        with socket.create_connection((HERE, port), source_address=(guest, 0)) as connection:
            connection.sendall(request(port, call_body()))
    # Whatever is still at work is done before this is answered: a guest's calls wait in one line.
    ask_at_once([Sending(port, request(port), guest)] * 16)
    assert 0 < counters.searches() - before <= counters.used(guest) - 16
    record_property("figure", f"{counters.searches() - before} runs, {counters.used(guest) - 16} units")


def test_t12_a_refused_guest_costs_the_database_next_to_nothing(servers: Service, record_property: Record) -> None:
    """5,000 calls of a guest who has nothing left are all refused, with at most 50 writes and 100 look-ups."""
    guest, port = "127.12.0.1", servers.ports[0]
    servers.counters.preset([guest], QUOTA - 20)
    before = table_activity(servers)
    assert {answer.status for answer in ask_at_once([Sending(port, request(port), guest)] * 20)} == {200}
    used_up = table_activity(servers)
    # The last twenty units were written, so writes are seen.
    assert used_up.writes - before.writes >= 20
    hundred = request(port, replaced={"Connection": None}) * 99 + request(port)
    connections = [Sending(port, hundred, guest)] * 50
    statuses = Counter(re.findall(rb"HTTP/1\.1 (\d{3}) ", b"".join(replies_to(connections))))
    after = table_activity(servers)
    assert statuses == {b"429": 5000}
    writes, reads = after.writes - used_up.writes, after.reads - used_up.reads
    assert (writes <= 50, reads <= 100) == (True, True)
    record_property("figure", f"{statuses[b'429']} refused with {writes} writes and {reads} look-ups")


class Activity(NamedTuple):
    """How often the table of counters has been written to and looked into."""

    writes: int
    reads: int


def table_activity(service: Service) -> Activity:
    """Return what PostgreSQL has counted. A session tells what it did when it ends, so all are ended first."""
    database = service.database
    with database.owner.begin() as connection:
        connection.execute(text(END_SESSIONS), {"name": database.name})
        row = connection.execute(text(ACTIVITY)).one()
    return Activity(*row)


def test_t13_the_day_after_nothing_tells_who_called(
    database_server: DatabaseServer, cluster: Cluster, tmp_path: Path, record_property: Record
) -> None:
    """The day after a call, nothing in the database or a dump of it leads to any of 65,536 addresses tried.

    On the day itself, with pepper and salt, exactly those who called are found. The day after, the counts are still
    there and the salt is gone; three days after, the counts too, so that not even a salt that was kept elsewhere leads
    to anybody. The database's clock is its own `now()`, exchanged for one that the test moves. The pages of the
    database's files and its log of changes are not looked at: PostgreSQL overwrites there in its own time what was
    deleted.
    """
    callers = {f"127.13.{number}.7" for number in range(1, 31)}
    with service(database_server, cluster, tmp_path / "home", processes=1) as running:
        port, peppers = running.ports[0], running.counters.peppers
        for caller in callers:
            assert ask(Sending(port, request(port), caller)).status == 200
        salt = PostgresAccessStore(running.database.server).daily_salt()[1]
        dump = dumped(cluster, running.database)
        assert salt.hex() in dump
        assert callers_found(dump, peppers, [salt]) == callers
        dumps = []
        for days in (1, KEEP_DAYS):
            running.clock.set(running.clock.now() + timedelta(days=days, minutes=SETTLING_MINUTES))
            # Somebody calls, of another network; that is what makes the new day's salt.
            assert ask(Sending(port, request(port), "127.14.0.1")).status == 200
            dumps.append(dumped(cluster, running.database))
    for later in dumps:
        assert salt.hex() not in later
        assert "quota_use" in later
        salts = [bytes.fromhex(found) for found in words_of_32_bytes(later)]
        found = callers_found(later, peppers, [b"", *salts])
        assert not found
    assert [callers_found(later, peppers, [salt]) for later in dumps] == [callers, set()]
    record_property("figure", f"{len(callers)} callers found on the day, {len(found)} the day after")


def test_t13_days_are_forgotten_when_nobody_calls(
    database: Database, cluster: Cluster, tmp_path: Path, record_property: Record
) -> None:
    """A server deletes old days when it starts and every hour after that, whether anybody calls or not.

    The hour is shortened to a tenth of a second.
    """
    store = PostgresAccessStore(database.server)
    database.publish(make_record())
    left = []
    with database_clock(cluster, database) as clock:
        use_a_day(store)
        clock.set(clock.now() + timedelta(days=KEEP_DAYS + 1))
        with serving(database, tmp_path / "home", processes=1):
            left.append(days_kept(database))
        use_a_day(store)
        with _repeated("forget-days", 0.1, store.forget_days):
            time.sleep(0.5)
            assert days_kept(database) == 2
            clock.set(clock.now() + timedelta(days=KEEP_DAYS + 1))
            deadline = time.monotonic() + 30
            while days_kept(database) and time.monotonic() < deadline:
                time.sleep(0.05)
            left.append(days_kept(database))
    assert left == [0, 0]
    record_property("figure", f"{left[0]} rows left after a start, {left[1]} after the next look")


def use_a_day(store: PostgresAccessStore) -> None:
    """Leave a salt and a count."""
    store.daily_salt()
    assert store.take(b"s" * 32, 1).admitted


def days_kept(database: Database) -> int:
    with database.owner.connect() as connection:
        kept = "SELECT (SELECT count(*) FROM quota_use) + (SELECT count(*) FROM daily_salt)"
        return int(connection.execute(text(kept)).scalar_one())


def words_of_32_bytes(dump: str) -> set[str]:
    """Return everything in a dump that is as long as a salt or a keyed address."""
    return set(re.findall(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", dump))


def callers_found(dump: str, peppers: PepperRing, salts: list[bytes]) -> set[str]:
    """Return the addresses of a network that something in the dump belongs to, for one who has the pepper."""
    stored = words_of_32_bytes(dump)
    network = [str(address) for address in ipaddress.ip_network("127.13.0.0/16")]
    keys = [peppers.subkey("address", salt=salt) for salt in salts]
    return {a for a in network for key in keys if keyed_hash(key, f"call\0{a}").hex() in stored}


def dumped(cluster: Cluster, database: Database) -> str:
    """Return the whole database as pg_dump writes it."""
    url = make_url(database.owner_url).set(drivername="postgresql").render_as_string(hide_password=False)
    command = [str(wheel_binaries(cluster.status().major).folder / "pg_dump"), url]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
