"""What is wrong with a web address that an agent or a reader may be led to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

_SHORTENER_LIST = """
    bit.ly buff.ly cutt.ly goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly s.id shorturl.at t.co t.ly tiny.cc
    tinyurl.com aka.ms dub.sh v.gd qr.ae
"""
_SHORTENERS = frozenset(_SHORTENER_LIST.split())
URL = re.compile(r"\b(?:https?|ftp|wss?)://[^\s<>\"'`)\]]+", re.IGNORECASE)
ACTIVE_SCHEME = re.compile(r"(?<![\w-])(?:javascript:\S|vbscript:\S|data:[\w.+-]+/[\w.+-]+[;,])", re.IGNORECASE)
_RESERVED = re.compile(r"(?:^|\.)(?:example|test|invalid|localhost|local|internal|example\.(?:com|org|net))$")


def link_problems(url: str) -> Iterator[str]:
    """Yield each reason not to follow an address."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        yield "is not a web address"
        return
    if parts.scheme != "https":
        yield f"is {parts.scheme or 'without scheme'}, not https"
    if "@" in parts.netloc:
        yield "carries a user name before its host"
    yield from _host_problems(host)


def is_placeholder(url: str) -> bool:
    """Tell an address that leads nowhere but this machine or a documentation example."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    leads_somewhere = re.search(r"[a-z]\.[a-z]", host) or _is_address(host)
    return bool(_RESERVED.search(host)) or _is_loopback(host) or not leads_somewhere


def _host_problems(host: str) -> Iterator[str]:
    if not host.isascii():
        yield "has a host with letters beyond ASCII"
    if any(label.startswith("xn--") for label in host.split(".")):
        yield "has a punycode host"
    if _is_address(host):
        yield "leads to a bare IP address"
    elif "." not in host:
        yield "has a host that is no domain name"
    if host.removeprefix("www.") in _SHORTENERS:
        yield "hides its target behind a shortener"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        # Browsers also take 2130706433 and 0x7f.1 for an address.
        return bool(re.fullmatch(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}", host))
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
