"""Packages of the tests' own, and where installers find them: a folder of wheels, and a registry on the loopback."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from app.record import Runner
from review.verify.locks import Pins

# `gadget` is what every widget needs.
RELEASES = {"widget": ("1.0", "2.0"), "gadget": ("1.5",)}


def make_wheels(folder: Path) -> dict[str, str]:
    """Write a wheel of each release and return their SHA-256 by pin."""
    folder.mkdir(parents=True, exist_ok=True)
    return {f"{name}=={version}": _wheel(folder, name, version) for name in RELEASES for version in RELEASES[name]}


def _wheel(folder: Path, name: str, version: str) -> str:
    needs = "Requires-Dist: gadget\n" if name == "widget" else ""
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{name}-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{name}-{version}.dist-info/RECORD"] = "".join(f"{file},,\n" for file in files)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(zipfile.ZipInfo(file), text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_lock(records: Path, pins: str, hashes: dict[str, str]) -> Path:
    """Write the lock of a set of widgets."""
    path = records / "locks" / Pins(Runner.PYTHON, pins).lock_name()
    path.parent.mkdir(exist_ok=True)
    named = [*pins.split(), "gadget==1.5"]
    path.write_text("".join(f"{pin} --hash=sha256:{hashes[pin]}\n" for pin in named))
    return path


@dataclass
class NpmRegistry:
    """A registry with one package, `widget`, that notes what it is asked for."""

    url: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def npm_registry() -> Iterator[NpmRegistry]:
    """Serve `widget` 1.0.0 and 2.0.0, whose install script would leave a file behind."""
    registry = NpmRegistry()
    archives = {version: _archive(version) for version in ("1.0.0", "2.0.0")}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.append(self.path)
            version = self.path.rpartition("-")[2].removesuffix(".tgz")
            body = archives.get(version) or json.dumps(_packument(registry.url, archives)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        registry.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield registry
        server.shutdown()
        thread.join()


def _archive(version: str) -> bytes:
    package = {"name": "widget", "version": version, "main": "index.js", "scripts": _install_script()}
    files = {"package.json": json.dumps(package), "index.js": f"module.exports = {{ VERSION: {version!r} }};\n"}
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return whole.getvalue()


def _install_script() -> dict[str, str]:
    return {"install": "echo ran > ran-at-install"}


def _packument(url: str, archives: dict[str, bytes]) -> dict[str, object]:
    versions = {}
    for version, content in archives.items():
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
        dist = {"tarball": f"{url}/widget/-/widget-{version}.tgz", "integrity": integrity}
        versions[version] = {"name": "widget", "version": version, "scripts": _install_script(), "dist": dist}
    return {"name": "widget", "dist-tags": {"latest": "2.0.0"}, "versions": versions}
