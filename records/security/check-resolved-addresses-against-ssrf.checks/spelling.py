"""A filter on the spelling of the host lets a decimal loopback address through."""
import socket
from urllib.parse import urlsplit

BLOCKED = ("localhost", "127.", "10.", "192.168.", "169.254.")


def looks_public(url):
    host = urlsplit(url).hostname or ""
    return not host.startswith(BLOCKED)


url = "http://2130706433/status"
address = socket.getaddrinfo(urlsplit(url).hostname, 80, proto=socket.IPPROTO_TCP)[0][4][0]
assert not looks_public(url), f"the filter passed a host that connects to {address}"
