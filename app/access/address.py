"""Whose request it is, by network address: pure functions over what the socket and the proxies say."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# A subscriber is given at least a /64, so single IPv6 addresses are free to change at will.
IPV6_PREFIX = 64
# All callers whose address the socket does not tell share one allowance.
UNKNOWN = "unknown"

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
_WITH_PORT = re.compile(r"(?:\[([0-9A-Fa-f:.%\w]+)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})", re.ASCII)
_LONGEST_ADDRESS = 64


def client_address(peer: str | None, forwarded: Iterable[str], trusted: Sequence[Network]) -> str:
    """Return the client that a request counts for, in one canonical spelling.

    That is the peer, unless it is a trusted proxy; then the nearest address in X-Forwarded-For that is not one, from
    right to left. What is not an address ends the walk: the last valid hop counts.

    Args:
        peer: address of the other end of the connection.
        forwarded: values of every X-Forwarded-For header, in the order they came.
    """
    current = parse_address(peer or "")
    if current is None:
        return UNKNOWN
    hops = _from_right(forwarded) if is_trusted(current, trusted) else iter(())
    for hop in hops:
        address = parse_address(hop)
        if address is None:
            break
        current = address
        if not is_trusted(current, trusted):
            break
    return subscriber(current)


def subscriber(address: Address) -> str:
    """Return the address itself for IPv4, its /64 for IPv6."""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.IPv6Network((address, IPV6_PREFIX), strict=False))


def parse_address(text: str) -> Address | None:
    """Return the address a text is, None if it is none. Zone and port are dropped, IPv4 inside IPv6 is taken out."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_ADDRESS:
        return None
    match = _WITH_PORT.fullmatch(stripped)
    plain = (match[1] or match[2]) if match else stripped
    try:
        return unwrap(ipaddress.ip_address(plain.split("%", 1)[0]))
    except ValueError:
        return None


def unwrap(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address carries (mapped, NAT64, 6to4), else the address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


def is_trusted(address: Address, trusted: Sequence[Network]) -> bool:
    """Tell whether an address belongs to one of the networks."""
    return any(address.version == network.version and address in network for network in trusted)


def _from_right(forwarded: Iterable[str]) -> Iterator[str]:
    return reversed([hop for value in forwarded for hop in value.split(",")])
