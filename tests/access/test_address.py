"""Client addresses: who a request counts for, and what a stranger cannot make us believe."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.access.address import UNKNOWN, client_address, parse_address

PROXIES = tuple(ipaddress.ip_network(network) for network in ("127.0.0.0/8", "10.0.0.0/8", "fd00::/8"))
CLIENT = "203.0.113.7"

TRUSTED_CASES = [
    ("no header", "127.0.0.1", [], "127.0.0.1"),
    ("one hop", "127.0.0.1", [CLIENT], CLIENT),
    ("spoof on the left is not reached", "127.0.0.1", [f"6.6.6.6, {CLIENT}"], CLIENT),
    ("trusted hops are passed", "127.0.0.1", [f"{CLIENT}, 10.1.2.3, 10.9.9.9"], CLIENT),
    ("several headers are one list", "127.0.0.1", ["6.6.6.6", f"{CLIENT}, 10.1.2.3"], CLIENT),
    ("the last header counts", "127.0.0.1", [CLIENT, "198.51.100.1"], "198.51.100.1"),
    ("only proxies: the farthest", "127.0.0.1", ["10.0.0.5, 10.0.0.6"], "10.0.0.5"),
    ("garbage stops the walk", "127.0.0.1", [f"{CLIENT}, garbage"], "127.0.0.1"),
    ("garbage behind a valid hop", "127.0.0.1", [f"{CLIENT}, garbage, 10.0.0.7"], "10.0.0.7"),
    ("unix", "127.0.0.1", [f"{CLIENT}, unix"], "127.0.0.1"),
    ("unknown", "127.0.0.1", ["unknown"], "127.0.0.1"),
    ("empty", "127.0.0.1", [""], "127.0.0.1"),
    ("empty hop", "127.0.0.1", [f"{CLIENT},"], "127.0.0.1"),
    ("3 KB", "127.0.0.1", ["A" * 3000], "127.0.0.1"),
    ("port", "127.0.0.1", [f"{CLIENT}:4711"], CLIENT),
    ("bracket and port", "127.0.0.1", ["[2001:db8:1:2::9]:4711"], "2001:db8:1:2::/64"),
    ("brackets", "127.0.0.1", ["[2001:db8:1:2::9]"], "2001:db8:1:2::/64"),
    ("white space", "127.0.0.1", [f"  {CLIENT}  "], CLIENT),
    ("leading zeros are no address", "127.0.0.1", ["010.0.0.1"], "127.0.0.1"),
    ("a number is no address", "127.0.0.1", ["3405803783"], "127.0.0.1"),
    ("mapped", "127.0.0.1", [f"::ffff:{CLIENT}"], CLIENT),
    ("mapped in hex", "127.0.0.1", ["::ffff:cb00:7107"], CLIENT),
    ("mapped proxy is a proxy", "::ffff:127.0.0.1", [CLIENT], CLIENT),
    ("mapped private hop is a proxy", "127.0.0.1", [f"{CLIENT}, ::ffff:10.1.1.1"], CLIENT),
    ("nat64", "127.0.0.1", ["64:ff9b::cb00:7107"], CLIENT),
    ("6to4", "127.0.0.1", ["2002:cb00:7107::1"], CLIENT),
    ("zone is dropped", "127.0.0.1", ["fe80::1%eth0"], "fe80::/64"),
    ("a zone may be called anything", "127.0.0.1", ["fe80::1%a%b"], "fe80::/64"),
    ("IPv6 proxy", "fd00::1", [CLIENT], CLIENT),
    ("IPv6 client by its /64", "fd00::1", ["2001:DB8:1:2:3:4:5:6"], "2001:db8:1:2::/64"),
    ("for= is another header's language", "127.0.0.1", [f"for={CLIENT}"], "127.0.0.1"),
    ("unspecified peer", None, [CLIENT], UNKNOWN),
]


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"), [c[1:] for c in TRUSTED_CASES], ids=[c[0] for c in TRUSTED_CASES]
)
def test_a_trusted_proxy_is_believed_from_right_to_left(peer, forwarded, expected):
    assert client_address(peer, forwarded, PROXIES) == expected


@pytest.mark.parametrize("forwarded", [c[2] for c in TRUSTED_CASES], ids=[c[0] for c in TRUSTED_CASES])
def test_a_stranger_is_never_believed(forwarded):
    assert client_address("198.51.100.9", forwarded, PROXIES) == "198.51.100.9"
    assert client_address("127.0.0.1", forwarded, ()) == "127.0.0.1"


def test_a_whole_ipv6_subnet_is_one_client():
    seen = {client_address(f"2001:db8:0:1::{n:x}", [], ()) for n in range(1, 1001)}
    assert seen == {"2001:db8:0:1::/64"}


@given(st.ip_addresses())
def test_every_spelling_of_an_address_is_one_client(address):
    """Exploded, compressed, upper case, with a zone or a port: the same allowance."""
    expected = client_address(str(address), [], ())
    spellings = {address.exploded, address.compressed, str(address).upper(), f"  {address} "}
    if address.version == 4:
        spellings |= {f"::ffff:{address}", f"64:ff9b::{address}", f"{address}:80"}
    else:
        spellings |= {f"[{address}]:80"} if "%" not in str(address) else set()
    assert {client_address(spelling, [], ()) for spelling in spellings} == {expected}
    assert parse_address(expected.split("/")[0]) is not None


@given(st.text(), st.lists(st.text() | st.ip_addresses().map(str)))
def test_nothing_but_an_address_comes_out(peer, forwarded):
    """Whatever the socket and the headers say, the result is an address, a /64 or the one word for none."""
    result = client_address(peer, forwarded, (*PROXIES, ipaddress.ip_network("::/1")))
    assert result == UNKNOWN or ipaddress.ip_network(result)
