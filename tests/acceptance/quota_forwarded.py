"""What X-Forwarded-For may hold, and whom a request counts for then."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

CLIENT = "203.0.113.7"
PEER = "the other end of the connection"
TRUSTED = ("127.0.0.0/8", "10.0.0.0/8", "fd00::/8")

# What it is, the values of the headers in the order they are sent, whom it counts for when a trusted proxy sends it.
FORWARDED = [
    ("no header", [], PEER),
    ("one hop", [CLIENT], CLIENT),
    ("a lie on the left", [f"6.6.6.6, {CLIENT}"], CLIENT),
    ("a long list of lies on the left", [", ".join(["6.6.6.6"] * 200 + [CLIENT])], CLIENT),
    ("trusted hops on the right", [f"{CLIENT}, 10.1.2.3, 10.9.9.9"], CLIENT),
    ("a trusted hop on the left", [f"10.1.2.3, {CLIENT}"], CLIENT),
    ("two headers", ["6.6.6.6", f"{CLIENT}, 10.1.2.3"], CLIENT),
    ("two headers with a hop each", [CLIENT, "198.51.100.1"], "198.51.100.1"),
    ("three headers, the last empty", [CLIENT, "198.51.100.1", ""], PEER),
    ("proxies only", ["10.0.0.5, 10.0.0.6"], "10.0.0.5"),
    ("garbage on the right", [f"{CLIENT}, garbage"], PEER),
    ("garbage behind a trusted hop", [f"{CLIENT}, garbage, 10.0.0.7"], "10.0.0.7"),
    ("a word some proxies write", [f"{CLIENT}, unix"], PEER),
    ("unknown", ["unknown"], PEER),
    ("empty", [""], PEER),
    ("a comma", [","], PEER),
    ("an empty hop on the right", [f"{CLIENT},"], PEER),
    ("an empty hop on the left", [f",{CLIENT}"], CLIENT),
    ("3 KB of one letter", ["A" * 3000], PEER),
    ("a very long number", ["9" * 3000], PEER),
    ("a port", [f"{CLIENT}:4711"], CLIENT),
    ("a port that is none", [f"{CLIENT}:99999999"], PEER),
    ("brackets and a port", ["[2001:db8:1:2::9]:4711"], "2001:db8:1:2::/64"),
    ("brackets", ["[2001:db8:1:2::9]"], "2001:db8:1:2::/64"),
    ("spaces and tabs", [f"  6.6.6.6 ,\t {CLIENT} \t"], CLIENT),
    ("leading zeros", ["010.0.0.1"], PEER),
    ("a number", ["3405803783"], PEER),
    ("hexadecimal", ["0xcb007107"], PEER),
    ("three parts", ["203.0.7"], PEER),
    ("other digits", ["\u0662\u0660\u0663.0.113.7".encode().decode("latin-1")], PEER),
    ("a network", ["203.0.113.0/24"], PEER),
    ("mapped", [f"::ffff:{CLIENT}"], CLIENT),
    ("mapped, in hexadecimal", ["::ffff:cb00:7107"], CLIENT),
    ("a mapped proxy on the right", [f"{CLIENT}, ::ffff:10.1.1.1"], CLIENT),
    ("NAT64", ["64:ff9b::cb00:7107"], CLIENT),
    ("6to4", ["2002:cb00:7107::1"], CLIENT),
    ("a zone", ["fe80::1%eth0"], "fe80::/64"),
    ("a zone with a comma", ["fe80::1%a,b"], PEER),
    ("an IPv6 client in capitals", ["2001:DB8:1:2:3:4:5:6"], "2001:db8:1:2::/64"),
    ("an IPv6 proxy on the right", [f"{CLIENT}, fd00::5"], CLIENT),
    ("another header's language", [f"for={CLIENT}"], PEER),
    ("quotes", [f'"{CLIENT}"'], PEER),
    ("a name", ["localhost"], PEER),
    ("a semicolon", [f"6.6.6.6; {CLIENT}"], PEER),
]

_LIES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40) | st.ip_addresses().map(str)
_GARBAGE = st.sampled_from(["garbage", "unix", "", "1.2.3", "10.0.0.1.9", "fd00::1::2", "%", "[::1", "10.0.0.256"])
_PROXIES = st.lists(st.ip_addresses(network="10.0.0.0/8").map(str), max_size=4)
# Neither trusted nor holding an IPv4 address inside; how those are spelled is in the table above.
_CLIENTS = st.ip_addresses(network="198.51.100.0/24").map(str)


@st.composite
def forwarded(draw: st.DrawFn) -> tuple[str, str]:
    """Return a header, and whom it counts for: made from the right end, as it is to be read."""
    lies, proxies = draw(st.lists(_LIES, max_size=4)), draw(_PROXIES)
    if draw(st.booleans()):
        end, counts = [draw(_CLIENTS)], None
    else:
        end, counts = [draw(_GARBAGE)], proxies[0] if proxies else PEER
    return ", ".join([*lies, *end, *proxies]), counts or end[0]


def headers(values: Sequence[str], name: str = "X-Forwarded-For") -> list[tuple[str, str]]:
    return [(name, value) for value in values]
