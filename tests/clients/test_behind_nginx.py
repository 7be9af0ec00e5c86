"""The server behind a real nginx: the shipped example, and the configurations that people have before they read it."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx
import pytest

from app.contract import BODY_MAX_BYTES
from app.transports.server import KEEP_ALIVE_SECONDS
from app.transports.streams import CONNECTED, PER_ADDRESS
from tests.clients import nginx
from tests.clients.driving import CALLS, SEARCH, TOOLS, Driver, answers_of, session
from tests.clients.service import Service
from tests.edge.wire import JSON_HEADERS, META, MODERN, answer, message, tool_answer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(700)]

QUOTA = 50
# Clients of their own, so that no test has another's allowance.
ADDRESSES = (f"127.0.1.{number}" for number in count(1))
# What is late was held back: nothing here waits for anything.
AT_ONCE = 5.0
SEARCHING = message("tools/call", {"name": SEARCH[0], "arguments": SEARCH[1]})


@dataclass(frozen=True)
class Proxied:
    """An nginx with one site for each way of configuring it.

    Attributes:
        home: where its files and the certificate are.
        ports: by site.
    """

    home: Path
    ports: dict[str, int]

    def client(self, address: str = "127.0.0.1", **headers: str) -> httpx.Client:
        """Return a client at an address of this machine. It knows the certificate and trusts no other."""
        context = ssl.create_default_context(cafile=self.home / "certificate.pem")
        transport = httpx.HTTPTransport(local_address=address, verify=context)
        return httpx.Client(transport=transport, headers={**JSON_HEADERS, **headers}, timeout=30)

    def ask(self, site: str, address: str = "127.0.0.1", body: object = SEARCHING, **headers: str) -> httpx.Response:
        """Post a message to a site."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with self.client(address, **named) as client:
            return client.post(self.url(site), json=body, **reached_as(site))

    def url(self, site: str) -> str:
        return f"{'https' if site == 'shipped' else 'http'}://127.0.0.1:{self.ports[site]}/mcp"


def reached_as(site: str) -> dict[str, dict[str, str]]:
    """Return what makes a request go to this machine by the name that the shipped example serves."""
    if site != "shipped":
        return {}
    return {"headers": {"host": nginx.NAME}, "extensions": {"sni_hostname": nginx.NAME}}


@pytest.fixture(scope="module")
def unaware(published, tmp_path_factory) -> Iterator[Service]:
    """A server that nobody has told about a proxy."""
    home = tmp_path_factory.mktemp("unaware")
    with Service.started(published, home, CHATCTX_GUEST_DAILY_QUOTA=str(QUOTA)) as running:
        yield running


@pytest.fixture(scope="module")
def aware(published, tmp_path_factory) -> Iterator[Service]:
    """A server that is told about its proxy as the example says."""
    told = {"CHATCTX_PUBLIC_URL": f"https://{nginx.NAME}", "CHATCTX_TRUSTED_PROXIES": "127.0.0.1/32"}
    home = tmp_path_factory.mktemp("aware")
    with Service.started(published, home, CHATCTX_GUEST_DAILY_QUOTA=str(QUOTA), **told) as running:
        yield running


@pytest.fixture(scope="module")
def away() -> int:
    """The port of a server that is not there."""
    return nginx.free_port()


@pytest.fixture(scope="module")
def proxied(unaware, aware, away, tmp_path_factory) -> Iterator[Proxied]:
    program = nginx.find()
    if program is None:
        pytest.skip("nginx is not installed")
    home = tmp_path_factory.mktemp("nginx")
    certificate = nginx.make_certificate(home / "certificate.pem")
    targets = {
        "default": f"http://127.0.0.1:{unaware.port}",
        "with Host": f"http://127.0.0.1:{unaware.port}",
        "named upstream": "http://knowledge",
        "appending": f"http://127.0.0.1:{aware.port}",
        "away": f"http://127.0.0.1:{away}",
    }
    lines = {
        "with Host": "proxy_set_header Host kb.example.org;",
        "appending": "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    }
    ports = {site: nginx.free_port() for site in ["shipped", *targets]}
    sites = {site: nginx.plain_site(ports[site], target, lines.get(site, "")) for site, target in targets.items()}
    sites["named upstream"] += f"upstream knowledge {{ server 127.0.0.1:{unaware.port}; }}\n"
    sites["shipped"] = nginx.shipped_site(ports["shipped"], aware.port, certificate)
    with nginx.running(program, home, sites, list(ports.values())):
        yield Proxied(home, ports)


@pytest.fixture
def address() -> str:
    """An address that no other test has."""
    return next(ADDRESSES)


def remaining(response: httpx.Response) -> int:
    assert response.status_code == 200, response.text
    return int(response.headers["x-guest-quota-remaining"])


def test_the_shipped_example_serves_both_protocols_over_tls(proxied, address):
    """Older clients get their event, newer ones their JSON, both uncompressed, each client its own allowance."""
    older = proxied.ask("shipped", address)
    assert older.headers["content-type"] == "text/event-stream"
    assert tool_answer(older)[1]["retrieval"]["mode"] == "hybrid"
    newer = proxied.ask(
        "shipped",
        address,
        message("tools/call", {"_meta": META, "name": SEARCH[0], "arguments": SEARCH[1]}),
        mcp_protocol_version=MODERN,
        mcp_method="tools/call",
        mcp_name=SEARCH[0],
    )
    assert newer.headers["content-type"] == "application/json"
    assert tool_answer(newer)[1]["results"] == tool_answer(older)[1]["results"]
    assert [remaining(older), remaining(newer)] == [QUOTA - 1, QUOTA - 2]
    assert "content-encoding" not in {**older.headers, **newer.headers}


@pytest.mark.parametrize("site", ["shipped", "default"])
def test_a_stream_says_that_it_is_open_at_once(proxied, address, site, record_property):
    """Even an nginx that buffers and compresses event streams passes the first byte on: the server asks it to."""
    with proxied.client(address, accept="text/event-stream") as client:
        started = time.monotonic()
        with client.stream("GET", proxied.url(site), **reached_as(site)) as response:
            assert response.status_code == 200
            assert next(response.iter_bytes()) == CONNECTED
            waited = time.monotonic() - started
    assert waited < AT_ONCE
    record_property("figure", f"{site}: first byte after {waited * 1000:.0f} ms")


def test_answers_are_whole_through_an_nginx_that_buffers_and_compresses(proxied, address):
    """Nothing of ours depends on how a proxy cuts, packs or holds what it passes on."""
    events = proxied.ask("default", address)
    plain = proxied.ask("default", address, accept_encoding="identity")
    assert events.headers["content-encoding"] == "gzip"
    assert tool_answer(events)[1]["results"] == tool_answer(plain)[1]["results"]
    listed = proxied.ask("default", body=message("tools/list"))
    assert [tool["name"] for tool in answer(listed)["result"]["tools"]] == TOOLS


def test_a_client_library_works_through_an_unprepared_nginx(proxied, node, record_property):
    """The TypeScript SDK holds its stream open, asks, reads and judges through a proxy with nothing set."""
    with Driver.started(node, "typescript1.mjs") as driver:
        seen = driver.hold(proxied.url("default"), session("behind a proxy"))
    assert seen["failure"] is None
    assert seen["tools"] == TOOLS
    assert len(answers_of(seen)) == CALLS


@pytest.mark.parametrize("site", ["with Host", "named upstream"])
def test_an_unknown_host_is_explained(proxied, site):
    """A name the server was not told, even one nginx made up, gives 403 and the setting that helps."""
    refused = proxied.ask(site)
    assert refused.status_code == 403
    assert answer(refused)["error"]["message"].endswith("Name it in CHATCTX_ALLOWED_HOSTS.")


def test_an_allowed_host_is_answered(published, tmp_path, proxied):
    """The setting that the refusal names is the one that helps, behind an upstream block with a name of its own."""
    with Service.started(published, tmp_path, CHATCTX_ALLOWED_HOSTS="knowledge") as named:
        home, port = tmp_path / "nginx", nginx.free_port()
        site = nginx.plain_site(port, "http://knowledge")
        site += f"upstream knowledge {{ server 127.0.0.1:{named.port}; }}\n"
        program = nginx.find()
        assert program is not None
        with nginx.running(program, home, {"only": site}, [port]):
            asked = httpx.post(f"http://127.0.0.1:{port}/mcp", json=message("tools/list"), headers=JSON_HEADERS)
    assert asked.status_code == 200


@pytest.mark.parametrize("site", ["shipped", "appending"])
def test_each_client_behind_a_trusted_proxy_has_an_allowance_of_its_own(proxied, site):
    """What a client claims about its own address changes nothing, whether nginx replaces the claim or appends to it."""
    one, other = next(ADDRESSES), next(ADDRESSES)
    assert remaining(proxied.ask(site, one)) == QUOTA - 1
    assert remaining(proxied.ask(site, other)) == QUOTA - 1
    claims = ("203.0.113.9", "127.0.0.1", f"203.0.113.9, {other}")
    left = [remaining(proxied.ask(site, one, x_forwarded_for=claim)) for claim in claims]
    assert left == [QUOTA - 2, QUOTA - 3, QUOTA - 4]
    assert remaining(proxied.ask(site, other)) == QUOTA - 2


def test_clients_behind_a_proxy_that_is_not_trusted_share_one_allowance(proxied):
    """Until the server is told to trust the proxy, its header is a claim like any other."""
    first = remaining(proxied.ask("default", next(ADDRESSES)))
    claims = [remaining(proxied.ask("default", next(ADDRESSES), x_forwarded_for=f"203.0.113.{n}")) for n in (1, 2)]
    assert claims == [first - 1, first - 2]


def test_a_client_that_goes_round_the_proxy_cannot_claim_an_address(aware, address):
    """Only the proxy's own address is believed, not every address of the machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(transport=transport, headers=JSON_HEADERS, timeout=30) as client:
        claims = [client.post(aware.url, json=SEARCHING, headers={"x-forwarded-for": f"203.0.113.{n}"}) for n in (3, 4)]
    assert [remaining(claim) for claim in claims] == [QUOTA - 1, QUOTA - 2]


@pytest.mark.parametrize("site", ["shipped", "default"])
@pytest.mark.parametrize("size", [BODY_MAX_BYTES + 1, 200_000])
def test_a_large_body_is_refused_in_our_words(proxied, site, size):
    """Up to nginx's own limit a client is told ours, in JSON; it is not told that the server broke."""
    refused = proxied.ask(site, body="x" * (size - 2))
    assert refused.status_code == 413
    assert answer(refused)["error"]["data"] == {"code": "body_too_large"}


def test_a_body_beyond_every_limit_does_not_reach_the_server(proxied, aware):
    """The shipped example stops what is over 256 KiB by itself."""
    aware.notice()
    refused = proxied.ask("shipped", body="x" * 300_000)
    assert refused.status_code == 413
    assert "nginx" in refused.text
    assert aware.notice().total == 0


def test_a_request_that_dawdles_is_given_up_and_never_reaches_the_server(proxied, aware, record_property):
    """An unfinished head and an unfinished body end after the example's 5 s, at nginx."""
    aware.notice()
    head = b"POST /mcp HTTP/1.1\r\nHost: kb.example.org\r\nContent-Type: application/json\r\n"
    with ExitStack() as stack:
        dawdlers = [stack.enter_context(secure(proxied)) for _ in range(2)]
        started = time.monotonic()
        dawdlers[0].sendall(head)
        dawdlers[1].sendall(head + b"Content-Length: 1000\r\n\r\n{")
        ends = [end_of(dawdler) - started for dawdler in dawdlers]
    assert all(4 < end < 15 for end in ends), ends
    assert aware.notice().total == 0
    record_property("figure", f"head given up after {ends[0]:.1f} s, body after {ends[1]:.1f} s")


@contextmanager
def secure(proxied: Proxied) -> Iterator[ssl.SSLSocket]:
    context = ssl.create_default_context(cafile=proxied.home / "certificate.pem")
    with (
        socket.create_connection(("127.0.0.1", proxied.ports["shipped"]), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname=nginx.NAME) as connection,
    ):
        yield connection


def end_of(connection: ssl.SSLSocket) -> float:
    try:
        while connection.recv(4096):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic()


def test_a_server_that_is_away_is_502_and_serves_the_next_call_after_its_return(
    published, tmp_path, proxied, away, record_property
):
    """nginx says so by itself, and remembers nothing against the server."""
    assert proxied.ask("away").status_code == 502
    with Service.started(published, tmp_path, CHATCTX_PORT=str(away)):
        assert proxied.ask("away").status_code == 200
    assert proxied.ask("away").status_code == 502


@pytest.mark.parametrize("site", ["shipped", "default"])
def test_a_refusal_for_now_passes_with_its_time_to_retry(proxied, published, database_server, address, site):
    """Without its database the server answers 503 with Retry-After; nginx changes neither."""
    assert proxied.ask(site, address).status_code == 200
    database_server.run(f"ALTER DATABASE {published.name} WITH ALLOW_CONNECTIONS false")
    try:
        database_server.run(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{published.name}'"  # noqa: S608 - ours
        )
        refused = proxied.ask(site, address)
    finally:
        database_server.run(f"ALTER DATABASE {published.name} WITH ALLOW_CONNECTIONS true")
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) >= 1
    assert answer(refused)["error"]["data"]["code"] == "unavailable"
    assert proxied.ask(site, address).status_code == 200


def test_one_stream_more_than_a_client_may_hold_is_refused_for_that_client_only(proxied):
    """Behind a trusted proxy streams are counted by client, not by proxy."""
    one, other = next(ADDRESSES), next(ADDRESSES)
    with ExitStack() as stack:
        greedy, modest = (
            stack.enter_context(proxied.client(address, accept="text/event-stream")) for address in (one, other)
        )
        for _ in range(PER_ADDRESS):
            held = stack.enter_context(greedy.stream("GET", proxied.url("appending")))
            assert held.status_code == 200
        refused = greedy.get(proxied.url("appending"))
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert stack.enter_context(modest.stream("GET", proxied.url("appending"))).status_code == 200


def test_connections_to_the_server_are_kept_and_given_up_by_nginx_first(proxied, aware, address):
    """The example's connections live for less than the server's, so that no call is sent into one that closes."""
    shipped = nginx.SHIPPED.read_text()
    (kept,) = [line for line in shipped.splitlines() if line.strip().startswith("keepalive_timeout")]
    assert int(kept.split()[1].removesuffix("s;")) < KEEP_ALIVE_SECONDS
    answers = [proxied.ask("shipped", address, message("tools/list")).status_code for _ in range(20)]
    assert set(answers) == {200}
