"""Judge every resolved address, with an allow rule, and keep the address for the connection."""
import ipaddress
import socket

NAT64 = ipaddress.ip_network("64:ff9b::/96")
SIX_TO_FOUR = ipaddress.ip_network("2002::/16")


def is_public(text):
    address = ipaddress.ip_address(text)
    if address.version == 6 and (address in NAT64 or address in SIX_TO_FOUR or address.is_site_local):
        return False
    return address.is_global and not address.is_multicast


def public_addresses(host, port):
    found = {entry[4][0] for entry in socket.getaddrinfo(host, port, proto=socket.IPPROTO_TCP)}
    if not found or not all(is_public(address) for address in found):
        raise PermissionError(f"{host} is not a public address")
    return found


for host in ("2130706433", "0x7f.1", "127.1", "::1", "169.254.169.254", "::ffff:10.0.0.1"):
    try:
        public_addresses(host, 443)
    except PermissionError as error:
        print("refused:", error)
    else:
        raise AssertionError(f"{host} was let through")
for address in ("224.0.0.1", "64:ff9b::7f00:1", "100.64.0.1", "fec0::1"):
    assert not is_public(address), address
assert is_public("9.9.9.9")
