"""There is nothing to log in to, and nothing that a stranger's key makes the server work hard for."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from app.access import load_peppers, new_key
from app.access.keys import CHECKSUM_LENGTH, checksum, mint_key
from tests.acceptance.conftest import Program, Start
from tests.acceptance.credentials_owner import Owner, id_of, last_statements
from tests.core.records import make_record
from tests.databases import Database
from tests.edge.wire import http_post, message, raw, status_of

Note = Callable[[str, object], None]
QUESTION = {"query": "list rows keep the wrong state after reordering", "technologies": ["React"]}
CALL = json.dumps(message("tools/call", {"name": "search_knowledge", "arguments": QUESTION})).encode()
LOGIN = b'{"username": "admin", "password": "correct horse battery staple"}'
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PLACES = (
    "/admin", "/admin/", "/admin/login", "/administrator", "/login", "/login/", "/signin", "/sign-in", "/logout",
    "/auth", "/auth/login", "/auth/token", "/oauth/authorize", "/oauth/token", "/authorize", "/token", "/register",
    "/session", "/sessions", "/api", "/api/login", "/api/admin", "/api/auth", "/api/keys", "/api/v1/login", "/v1/login",
    "/keys", "/keys/create", "/keys/revoke", "/users", "/user/login", "/account", "/account/login", "/password",
    "/password/reset", "/owner", "/owner/login", "/review", "/review/approve", "/approve", "/publish", "/manage",
    "/console", "/dashboard", "/internal", "/debug", "/metrics", "/config", "/graphql", "/rpc", "/mcp/admin",
    "/mcp/login", "/mcp/keys", "/mcp/auth", "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource", "/.well-known/openid-configuration", "/wp-login.php", "/actuator",
)  # fmt: skip
MOST_GROWTH = 80 * 1024**2
# Put in front of everything the server imports: it says whenever a slow hash is loaded or called.
WATCH = """
import hashlib
import sys
from importlib.machinery import PathFinder

SLOW = {"argon2", "_argon2_cffi_bindings", "bcrypt", "scrypt", "pyscrypt", "passlib", "crypt", "pbkdf2"}


def tell(text):
    print(text, file=sys.stderr, flush=True)


def forbidden(name):
    def call(*args, **kwargs):
        tell(f"slow hash called: {name}")
        raise RuntimeError(name)

    return call


class Watch:
    def find_spec(self, name, path=None, target=None):
        # A library asks whether one is there, to read other people's keys with; it is not installed.
        if SLOW & set(name.split(".")) and PathFinder.find_spec(name, path):
            tell(f"slow hash imported: {name}")


for name in ("scrypt", "pbkdf2_hmac"):
    setattr(hashlib, name, forbidden(name))
sys.meta_path.insert(0, Watch())
tell("slow hashes are watched")
"""


@pytest.fixture
def owner(database: Database, tmp_path: Path) -> Owner:
    database.publish(make_record())
    return Owner(database.app_url, database.owner_url, tmp_path / "home", tmp_path / "keys")


@pytest.fixture
def watched(tmp_path: Path) -> dict[str, str]:
    """Return what makes a server say that it works out a slow hash."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    return {"PYTHONPATH": str(tmp_path / "watch"), "CHATCTX_VERIFY_SECONDS": "300"}


def port_of(program: Program) -> int:
    return urlsplit(program.base).port or 0


def bearer(port: int, key: str) -> bytes:
    return http_post(port, CALL, f"Authorization: Bearer {key}")


def impostor(key: str) -> str:
    """Return a well-formed key with the id of another and a secret of its own."""
    body = f"kb_live_{id_of(key)}_{mint_key().text.rsplit('_', 1)[1][:-CHECKSUM_LENGTH]}"
    return body + checksum(body)


@dataclass(frozen=True)
class Answered:
    """How a call ended, and how long it took in seconds."""

    status: int
    seconds: float


async def caller(port: int, address: str, requests: list[bytes]) -> list[Answered]:
    """Send one request after the other from an address."""
    answered = []
    for request in requests:
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        writer.write(request)
        response = await reader.read()
        writer.close()
        answered.append(Answered(status_of(response), time.perf_counter() - began))
    return answered


async def flood(
    process: psutil.Process, port: int, bad: list[list[bytes]], good: list[list[bytes]]
) -> tuple[list[Answered], list[Answered], int]:
    """Let all callers loose at once, each from an address of its own; return how they fared and the largest memory."""
    largest = 0

    async def watch() -> None:
        nonlocal largest
        while True:
            largest = max(largest, process.memory_info().rss)
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    callers = [
        caller(port, f"127.0.{net}.{n + 1}", one) for net, all_ in ((1, bad), (2, good)) for n, one in enumerate(all_)
    ]
    fared = await asyncio.gather(*callers)
    watching.cancel()
    refused, served = (
        [one for answered in part for one in answered] for part in (fared[: len(bad)], fared[len(bad) :])
    )
    return refused, served, largest


def p99(answered: list[Answered]) -> float:
    seconds = sorted(one.seconds for one in answered)
    return seconds[math.ceil(0.99 * len(seconds)) - 1] * 1000


def test_t19_no_address_takes_a_password(
    owner: Owner, database: Database, serve: Start, watched: dict[str, str], record_property: Note
) -> None:
    """No path of the server takes a login: 59 likely ones, in 5 methods each, are 404, without asking the database.

    What an owner does is done at the command line with the database's own login; the server loads no slow hash at all,
    so that no stranger can make it work one out. Where others bound the number of logins at once, here there is none.
    """
    with serve(database, **watched) as program:
        port, process = port_of(program), psutil.Process(program.process.pid)
        assert program.call("search_knowledge", QUESTION).status_code == 200
        before, cpu = last_statements(database.server), process.cpu_times()
        statuses = Counter()
        for place, method in itertools.product(PLACES, METHODS):
            request = http_post(port, LOGIN, "Authorization: Basic YWRtaW46YWRtaW4=")
            statuses[status_of(raw(port, request.replace(b"POST /mcp ", f"{method} {place} ".encode(), 1)))] += 1
        spent = sum(process.cpu_times()[:2]) - sum(cpu[:2])
        assert last_statements(database.server) == before
        assert program.stop() == 0
    assert len(PLACES) == 59
    assert statuses == {404: len(PLACES) * len(METHODS)}
    assert "slow hashes are watched" in program.output
    assert "slow hash " not in program.output
    record_property(
        "figure", f"{statuses.total()} logins tried, all 404, {spent / statuses.total() * 1000:.1f} ms of CPU each"
    )


def test_t19_bad_keys_by_the_hundred_neither_grow_the_server_nor_shut_good_ones_out(
    owner: Owner, database: Database, serve: Start, watched: dict[str, str], record_property: Note
) -> None:
    """With 150 callers of bad keys and 50 of good ones at once, all good ones are answered; memory grows < 80 MiB.

    A key is 256 random bits, so that a fast keyed hash keeps it as well as a slow one would: none is ever worked out.
    Callers come from 200 addresses, as the addresses of this machine's loopback.
    """
    keys = [owner.mint(f"good-{n}") for n in range(5)]
    peppers = load_peppers(owner.home / "pepper")
    with serve(database, **watched) as program:
        port, process = port_of(program), psutil.Process(program.process.pid)
        idle = asyncio.run(caller(port, "127.0.3.1", [bearer(port, keys[0]) for _ in range(60)]))
        kinds: tuple[Callable[[], str], ...] = (
            lambda: new_key(peppers).text,
            lambda: impostor(keys[0]),
            lambda: keys[0][:-1],
        )
        bad = [[bearer(port, kinds[n % 3]()) for _ in range(4)] for n in range(150)]
        good = [[bearer(port, keys[n % 5])] * 4 for n in range(50)]
        at_rest = process.memory_info().rss
        refused, served, largest = asyncio.run(flood(process, port, bad, good))
        assert program.stop() == 0
    assert Counter(one.status for one in refused) == {401: 600}
    assert Counter(one.status for one in served) == {200: 200}
    assert largest - at_rest <= MOST_GROWTH
    assert "slow hashes are watched" in program.output
    assert "slow hash " not in program.output
    record_property(
        "figure",
        f"600 bad calls refused, 200 good ones answered, {(largest - at_rest) / 1024**2:.0f} MiB of growth, "
        f"p99 of a good call {p99(served):.0f} ms, alone {p99(idle):.0f} ms",
    )
