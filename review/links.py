"""What is wrong with a web address that an agent or a reader may be led to."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

_SHORTENER_LIST = """
    bit.ly buff.ly cutt.ly goo.gl is.gd lnkd.in ow.ly rb.gy rebrand.ly s.id shorturl.at t.co t.ly tiny.cc
    tinyurl.com aka.ms dub.sh v.gd qr.ae adf.ly amzn.to bc.vc bl.ink clck.ru dlvr.it fb.me g.co git.io goo.su hubs.ly
    ift.tt j.mp kutt.it linktr.ee mcaf.ee ouo.io po.st short.io shorte.st snip.ly soo.gd su.pr t.me t2m.io tiny.one
    tiny.pl tny.im trib.al u.to ur1.ca urlz.fr v.ht vk.cc wa.me x.co youtu.be zpr.io
"""
_SHORTENERS = frozenset(_SHORTENER_LIST.split())
URL = re.compile(r"\b(?:https?|ftp|wss?)://[^\s<>\"'`)\]]+", re.IGNORECASE)
_ACTIVE_SCHEME = re.compile(
    r"(?<![\w-])(?:javascript:\S|vbscript:\S|data:[\w.+-]+/[\w.+-]+[;,])\S{0,40}", re.IGNORECASE
)
_OTHER_SCHEME = re.compile(
    r"(?<![\w.+-])[a-z][a-z0-9.+-]{1,20}://\S+|(?<![\w:/])//[a-z0-9-]+(?:\.[a-z0-9-]+)+\S*", re.IGNORECASE
)
_MAIL = re.compile(r"(?<![\w.+-])(?:mailto:)?[\w.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,}\b", re.IGNORECASE)
# Endings that people register names under; a file's or a library's (`.py`, `.js`, `.sh`) would be found everywhere.
_ENDINGS = (
    "com|org|net|io|dev|app|ai|co|info|biz|xyz|top|site|online|cloud|me|cc|ru|cn|tk|ml|ga|cf|gq|click|link|page|tech"
    "|store|shop|live|club|icu|pw|ws|to|ly|gg|fm|eu|de|fr|uk|nl|ch|es|it|pl|br|jp|kr|edu|gov|mil|zip|mov|example|help"
    "|support|today|work|host|space|website|download|run|pro|us|ca|in|su|vip"
)
_BARE = re.compile(
    rf"(?<![\w@/.+-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:{_ENDINGS})(?::\d+)?/[\w?#%~.-]*", re.IGNORECASE
)
_VISITED = re.compile(
    r"\b(?:visit|browse|go to|head to|see|open|check out|follow|(?:download|get|fetch|install)(?: \w+){0,4} (?:from|at)"
    r"|sign (?:up|in) at|register at|log ?in at|docs? at|hosted (?:at|on)|mirror(?:ed)? (?:at|on))\s+"
    rf"(?P<host>(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:{_ENDINGS})\b)(?!\()",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"(?<![\w.])(?P<host>\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?/(?!\d{1,3}\b)\S*")
_DEFANGED_SCHEME = re.compile(
    r"\b(?:hxxps?|h\*\*ps?|htxps?|meows?|fxp)\s*(?::|\[:\])\s*(?:\[?/\]?){2}\S*", re.IGNORECASE
)
_DEFANGED_HOST = re.compile(
    r"\b[a-z0-9-]+\s?(?:\[\s?(?:\.|dot)\s?\]|\(\s?(?:\.|dot)\s?\)|\{\s?(?:\.|dot)\s?\})\s?[a-z]{2,}"
    r"|\b[a-z0-9-]+ dot (?:com|org|net|io|dev|example|xyz|info)\b|\bhttps?\s?\[:\]"
    r"|\bhttps?\s+(?:colon\s+)?slash\s+slash\b",
    re.IGNORECASE,
)
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]")
_RESERVED = re.compile(r"(?:^|\.)(?:example|test|invalid|localhost|local|internal|example\.(?:com|org|net))$")


def link_problems(url: str) -> Iterator[str]:
    """Yield each reason not to follow an address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        yield "is not a web address"
        return
    if parts.scheme != "https":
        yield f"is {parts.scheme or 'without scheme'}, not https"
    if "@" in parts.netloc:
        yield "carries a user name before its host"
    if port not in (None, 443):
        yield "has a port of its own"
    yield from _host_problems(host)


def is_placeholder(url: str) -> bool:
    """Tell an address that leads nowhere but this machine or a documentation example."""
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    leads_somewhere = re.search(r"[a-z]\.[a-z]", host) or _is_address(host)
    return bool(_RESERVED.search(host)) or _is_loopback(host) or not leads_somewhere


def addresses_in_prose(prose: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses a text without its code leads to, each with what it is; one of each kind will do."""
    with_scheme = URL.search(prose)
    if with_scheme:
        yield with_scheme[0][:50], "a web address in prose"
    active = _ACTIVE_SCHEME.search(prose)
    if active:
        yield active[0][:50], "a javascript: or data: address"
    rest = URL.sub(" ", prose)
    for pattern, what in (
        (_OTHER_SCHEME, "an address of another scheme in prose"),
        (_MAIL, "a mail address in prose"),
        (_BARE, "a web address without scheme in prose"),
        (_VISITED, "a place to visit in prose"),
        (_NUMERIC, "a bare IP address with a path in prose"),
    ):
        found = pattern.search(rest)
        if found:
            yield found[0][:50], what


def defanged(prose: str, text: str) -> str | None:
    """Return an address written so that it is not recognised: `hxxps`, `example[.]com`, "dot com"."""
    found = _DEFANGED_SCHEME.search(text) or _DEFANGED_HOST.search(prose)
    return found[0][:50] if found else None


def _host_problems(host: str) -> Iterator[str]:
    if not host.isascii():
        yield "has a host with letters beyond ASCII"
    if any(label.startswith("xn--") for label in host.split(".")):
        yield "has a punycode host"
    if _is_address(host):
        yield "leads to a bare IP address"
    elif host.isascii() and not _DOMAIN.fullmatch(host):
        yield "has a host that is no domain name"
    elif _RESERVED.search(host):
        yield "has a host that nobody can reach"
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
