"""A real nginx on this machine: the shipped example, and what people have before they read it."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SHIPPED = Path(__file__).resolve().parents[2] / "deploy" / "nginx.conf"
NAME = "kb.example.org"
LONGEST_START = 10.0
# Everything that holds answers back, as some distributions and panels have it.
_MAIN = """
{user}
daemon off;
worker_processes 1;
pid {home}/nginx.pid;
error_log {home}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {home}/body;
    proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi;
    uwsgi_temp_path {home}/uwsgi;
    scgi_temp_path {home}/scgi;
    gzip on;
    gzip_min_length 0;
    gzip_proxied any;
    gzip_types text/event-stream application/json;
    include {home}/sites/*.conf;
}}
"""


def find() -> str | None:
    """Return where nginx is; Debian keeps it from the path of ordinary users."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


@contextmanager
def running(program: str, home: Path, sites: dict[str, str], ports: list[int]) -> Iterator[None]:
    """Run nginx over the sites until the block ends."""
    (home / "sites").mkdir(parents=True)
    for name, site in sites.items():
        (home / "sites" / f"{name}.conf").write_text(site)
    # As root it would drop to a user who may not enter the tests' folder.
    user = "user root;" if os.geteuid() == 0 else ""
    (home / "nginx.conf").write_text(_MAIN.format(user=user, home=home))
    command = [program, "-p", str(home), "-c", str(home / "nginx.conf"), "-e", str(home / "error.log")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_ports(process, ports, home)
        yield
    finally:
        process.terminate()
        process.wait(timeout=10)


def _await_ports(process: subprocess.Popen[bytes], ports: list[int], home: Path) -> None:
    deadline = time.monotonic() + LONGEST_START
    for port in ports:
        while not _listens(port):
            assert process.poll() is None, (home / "error.log").read_text()
            assert time.monotonic() < deadline, "nginx does not listen"
            time.sleep(0.02)


def _listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def shipped_site(port: int, upstream: int, certificate: Path) -> str:
    """Return the shipped example with this machine's ports and files in it, and nothing else changed."""
    site = SHIPPED.read_text()
    for there, here in {
        "server 127.0.0.1:8080;": f"server 127.0.0.1:{upstream};",
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "/etc/ssl/certs/kb.example.org.pem": str(certificate),
        "/etc/ssl/private/kb.example.org.key": str(certificate),
    }.items():
        assert site.count(there) == 1, there
        site = site.replace(there, here)
    return site


def plain_site(port: int, target: str, *lines: str) -> str:
    """Return the shortest configuration that people write, with more lines in its location."""
    return f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {target}; {' '.join(lines)} }} }}\n"


def make_certificate(path: Path) -> Path:
    """Write a key and a certificate that it signed for itself into one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM))
    return path
