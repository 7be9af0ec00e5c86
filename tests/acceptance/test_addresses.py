"""Whose allowance a request uses: the address that the connection or a trusted proxy tells, never a stranger's word."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from app.cluster import Cluster
from app.store.access import PostgresAccessStore
from tests.acceptance.quota_clock import database_clock
from tests.acceptance.quota_counters import Counters
from tests.acceptance.quota_forwarded import CLIENT, FORWARDED, PEER, TRUSTED, forwarded, headers
from tests.acceptance.quota_wire import CHEAP, Answer, Sending, ask, request
from tests.databases import Database
from tests.edge.running import PEPPERS, RunningEdge, StartEdge, run_edges

QUOTA = 250
Record = Callable[[str, object], None]


@pytest.fixture
def start_edge(tmp_path: Path) -> Iterator[StartEdge]:
    """Start servers of the edge; each ends with the test."""
    yield from run_edges(tmp_path)


@pytest.fixture
def store(database: Database) -> PostgresAccessStore:
    return PostgresAccessStore(database.server)


@pytest.fixture
def counters(database: Database, cluster: Cluster) -> Iterator[Counters]:
    """Lend the counters of a database that believes it is noon, so that no day ends during a test."""
    with database_clock(cluster, database) as clock:
        clock.set(datetime.now(UTC).replace(hour=12))
        yield Counters(database, PEPPERS)


def call(edge: RunningEdge, source: str, *extra: tuple[str, str]) -> Answer:
    return ask(Sending(edge.port, request(edge.port, CHEAP, *extra), source))


def test_t08_a_strangers_word_about_its_address_is_not_taken(
    start_edge: StartEdge, store: PostgresAccessStore, counters: Counters, record_property: Record
) -> None:
    """Of 44 forms of X-Forwarded-For, none changes whom a call counts for when no trusted proxy sends it.

    Nor do the other headers that proxies use. Each form comes from an address of its own; the database then holds these
    addresses' keyed hashes and nothing else.
    """
    edge = start_edge(store=store)
    peers = [f"127.8.0.{number + 1}" for number in range(len(FORWARDED))]
    for peer, (_, values, _) in zip(peers, FORWARDED, strict=True):
        others = [(name, CLIENT) for name in ("X-Real-IP", "CF-Connecting-IP", "True-Client-IP", "Client-IP")]
        assert call(edge, peer, *headers(values), ("Forwarded", f"for={CLIENT}"), *others).status == 200
    assert counters.rows() == {counters.subject(peer): 1 for peer in peers}
    record_property("figure", f"{len(FORWARDED)} forms, {len(counters.rows())} callers, each its own connection")


def test_t08_a_trusted_proxy_is_believed_from_right_to_left(
    start_edge: StartEdge, store: PostgresAccessStore, counters: Counters, record_property: Record
) -> None:
    """From a trusted proxy, each of 44 forms counts for the rightmost address that is no proxy's, or else the proxy."""
    edge = start_edge(store=store, trusted_proxies=TRUSTED)
    expected: Counter[bytes] = Counter()
    for number, (name, values, counts) in enumerate(FORWARDED):
        peer = f"127.8.1.{number + 1}"
        expected[counters.subject(peer if counts == PEER else counts)] += 1
        assert call(edge, peer, *headers(values)).status == 200
        assert (name, counters.rows()) == (name, expected)
    record_property("figure", f"{len(FORWARDED)} forms, {len(expected)} callers, nothing stored that is no address")


def test_t08_no_header_opens_another_allowance(
    start_edge: StartEdge, store: PostgresAccessStore, counters: Counters, record_property: Record
) -> None:
    """A stranger who names another address in each of 1,000 calls is served 250, and so is one behind a proxy."""
    strict, trusting = start_edge(store=store), start_edge(store=store, trusted_proxies=TRUSTED)
    served = []
    for edge, source, behind in ((strict, "127.8.2.1", ""), (trusting, "127.8.2.2", f", {CLIENT}, 10.0.0.1")):
        spoofs = (f"198.18.{number // 250}.{number % 250}{behind}" for number in range(1000))
        statuses = Counter(call(edge, source, ("X-Forwarded-For", spoof)).status for spoof in spoofs)
        assert statuses == {200: QUOTA, 429: 1000 - QUOTA}
        served.append(statuses[200])
    assert counters.rows() == {counters.subject("127.8.2.1"): QUOTA, counters.subject(CLIENT): QUOTA}
    record_property("figure", f"{served[0]} and {served[1]} of 1,000 served")


def test_t08_whatever_is_forwarded_counts_for_an_address(
    start_edge: StartEdge, store: PostgresAccessStore, counters: Counters, record_property: Record
) -> None:
    """Of 200 random X-Forwarded-For headers, each counts for the address it ought to, from a stranger and a proxy."""
    strict = start_edge(store=store, guest_daily_quota=100_000)
    trusting = start_edge(store=store, guest_daily_quota=100_000, trusted_proxies=TRUSTED)
    expected: Counter[bytes] = Counter()
    tried = []

    @settings(max_examples=200, deadline=None)
    @given(told=forwarded())
    def each_counts_as_it_ought_to(told: tuple[str, str]) -> None:
        value, counts = told
        tried.append(value)
        for edge, source, who in ((strict, "127.8.3.1", PEER), (trusting, "127.8.3.2", counts)):
            assert call(edge, source, ("X-Forwarded-For", value)).status == 200
            expected[counters.subject(source if who == PEER else who)] += 1
        assert counters.rows() == expected

    each_counts_as_it_ought_to()
    record_property("figure", f"{len(tried)} headers, {len(expected)} callers")


def test_t09_a_whole_ipv6_network_is_one_guest(
    start_edge: StartEdge, store: PostgresAccessStore, counters: Counters, record_property: Record
) -> None:
    """From 1,000 addresses of one IPv6 /64, 250 calls are served; the neighbouring /64 has its own allowance.

    The addresses are told by a trusted proxy.
    """
    edge = start_edge(store=store, trusted_proxies=TRUSTED)
    statuses = Counter(told(edge, f"2001:db8:0:1:{n:x}::{n:x}").status for n in range(1, 1001))
    assert statuses == {200: QUOTA, 429: 1000 - QUOTA}
    assert told(edge, "2001:db8:0:2::1").remaining == QUOTA - 1
    assert counters.rows() == {counters.subject("2001:db8:0:1::/64"): QUOTA, counters.subject("2001:db8:0:2::/64"): 1}
    record_property("figure", f"{statuses[200]} of 1,000 served")


def test_t09_an_ipv4_address_inside_an_ipv6_address_is_the_same_guest(
    start_edge: StartEdge, store: PostgresAccessStore, counters: Counters, record_property: Record
) -> None:
    """Mapped, NAT64 and 6to4 spellings of an IPv4 address use its allowance; two such addresses are two guests."""
    edge = start_edge(store=store, trusted_proxies=TRUSTED)
    spellings = [
        ("203.0.113.{}", "203.0.113.{}"),
        ("::ffff:203.0.113.{}", "::ffff:203.0.113.{}"),
        ("::ffff:cb00:71{:02x}", "::FFFF:CB00:71{:02X}"),
        ("0:0:0:0:0:ffff:203.0.113.{}", "0000:0000:0000:0000:0000:ffff:cb00:71{:02x}"),
        ("64:ff9b::203.0.113.{}", "64:ff9b::cb00:71{:02x}"),
        ("2002:cb00:71{:02x}::1", "2002:cb00:71{:02x}:ffff::9"),
    ]
    for client in (7, 8):
        left = [told(edge, spelling.format(client)).remaining for pair in spellings for spelling in pair]
        assert left == [QUOTA - used for used in range(1, 13)]
    assert counters.rows() == {counters.subject(f"203.0.113.{client}"): 12 for client in (7, 8)}
    record_property("figure", f"{2 * len(spellings)} spellings, {len(counters.rows())} guests for 2 addresses")


def told(edge: RunningEdge, address: str) -> Answer:
    """Call from an address as a trusted proxy tells it."""
    return call(edge, "127.9.0.1", ("X-Forwarded-For", address))


def test_t09_real_ipv6_connections_are_counted_by_their_network(
    database: Database, tmp_path: Path, counters: Counters, record_property: Record
) -> None:
    """A thousand connections, each from an IPv6 address of its own in one /64, are served 250 calls together.

    In a network of the test's own, which only root may make. From there an IPv4 client of a server that listens on
    IPv6 too is counted as what it is.
    """
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "--net", "true"], check=False, capture_output=True).returncode:
        pytest.skip("a network of its own needs root")
    program = [sys.executable, "-m", "tests.acceptance.quota_network", database.app_url, str(tmp_path)]
    ran = subprocess.run([unshare, "--net", *program], check=True, capture_output=True, text=True, timeout=100)
    assert ran.stdout.split() == ["200", str(QUOTA), "429", str(1000 - QUOTA), "127.0.0.1:", "200"]
    assert counters.rows() == {counters.subject("2001:db8:5:6::/64"): QUOTA, counters.subject("127.0.0.1"): 1}
    record_property("figure", f"{ran.stdout.split()[1]} of 1,000 served")
