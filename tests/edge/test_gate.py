"""What a request must satisfy before anyone reads what it asks."""

from __future__ import annotations

import json

import httpx
import pytest

from app.contract import BODY_MAX_BYTES
from app.errors import SettingsError
from app.settings import read_settings
from tests.edge.wire import answer, http_post, message, post, raw, status_of

PING = message("ping")


def ping_from(edge, **headers):
    return post(edge.endpoint, PING, **headers)


@pytest.mark.parametrize("hosts", ["kb.example.com", "kb.example.com:8443, [::1]:80", "10.0.0.7:8080", "kb_1.internal"])
def test_a_host_that_a_client_can_send_may_be_allowed(hosts, tmp_path):
    """With or without a port, names and addresses."""
    assert read_settings({"CHATCTX_ALLOWED_HOSTS": hosts}, base=tmp_path).allowed_hosts


@pytest.mark.parametrize(
    "host",
    ["http://x", "x/", "x/mcp", "*", "*.example.com", "x:port", "user@x", "::1", "b\u00fccher.example", "x y", ":80"],
)
def test_a_host_that_no_client_sends_is_refused_at_the_start(host, tmp_path):
    """A setting that can never match would look like a server that refuses everybody."""
    with pytest.raises(SettingsError, match="CHATCTX_ALLOWED_HOSTS: give host or host:port"):
        read_settings({"CHATCTX_ALLOWED_HOSTS": f"kb.example.com,{host}"}, base=tmp_path)


@pytest.mark.parametrize(
    "origins", ["https://app.example.org", "http://localhost:3000, http://[::1]:3000", "vscode-webview://abc123"]
)
def test_an_origin_that_a_browser_can_send_may_be_allowed(origins, tmp_path):
    """Editors' own schemes too."""
    assert read_settings({"CHATCTX_ALLOWED_ORIGINS": origins}, base=tmp_path).allowed_origins


@pytest.mark.parametrize(
    "origin",
    ["app.example.org", "https://app.example.org/", "https://x/path", "*", "null", "https://*.x", "https://u@x"],
)
def test_an_origin_that_no_browser_sends_is_refused_at_the_start(origin, tmp_path):
    """It could never match."""
    with pytest.raises(SettingsError, match="CHATCTX_ALLOWED_ORIGINS: give scheme://host"):
        read_settings({"CHATCTX_ALLOWED_ORIGINS": origin}, base=tmp_path)


def test_a_refusal_says_what_to_do_and_not_what_was_sent(edge):
    response = ping_from(edge, host="evil-canary.net")
    assert "CHATCTX_ALLOWED_HOSTS" in answer(response)["error"]["message"]
    assert "canary" not in response.text


def test_a_preflight_is_answered_before_any_credentials(start_edge):
    edge = start_edge(allowed_origins=("https://app.example.org",), guest_access=False)
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,mcp-name"}
    allowed = httpx.options(edge.endpoint, headers={"Origin": "https://app.example.org", **asked})
    assert allowed.status_code == 204
    assert allowed.content == b""
    assert allowed.headers["access-control-allow-origin"] == "https://app.example.org"
    assert "mcp-protocol-version" in allowed.headers["access-control-allow-headers"]
    assert "origin" in allowed.headers["vary"]
    assert "x-guest-quota-remaining" in allowed.headers["access-control-expose-headers"]
    assert httpx.options(edge.endpoint, headers={"Origin": "https://evil.net", **asked}).status_code == 403
    assert httpx.options(edge.endpoint).status_code == 405


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "HEAD", "TRACE", "GET"])
def test_other_methods_are_told_which_there_are(edge, method):
    response = httpx.request(method, edge.endpoint)
    assert response.status_code == 405
    assert "POST" in response.headers["allow"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/%6dcp"])
def test_the_endpoint_has_no_redirects(edge, path):
    assert post(edge.url + path, PING).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server/mcp",
        "/register",
        "/sse",
        "/mcp/x",
    ],
)
def test_what_is_not_here_is_a_plain_404(edge, path):
    for response in (httpx.get(edge.url + path), httpx.post(edge.url + path, json={})):
        assert response.status_code == 404
        assert "www-authenticate" not in response.headers


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=UTF-8", 200),
        ('application/json;charset="utf-8"', 200),
        ("application/json; charset=utf-16", 415),
        ("text/plain", 415),
        ("application/json-rpc", 415),
        ("multipart/form-data; boundary=x", 415),
        ("", 415),
    ],
)
def test_a_body_is_json(edge, content_type, status):
    assert ping_from(edge, content_type=content_type).status_code == status


@pytest.mark.parametrize(
    ("encoding", "status"), [("identity", 200), ("gzip", 415), ("br", 415), ("identity, gzip", 415)]
)
def test_a_body_is_not_compressed(edge, encoding, status):
    assert ping_from(edge, content_encoding=encoding).status_code == status


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json, text/event-stream", 200),
        ("text/event-stream", 200),
        ("TEXT/Event-Stream;charset=utf-8", 200),
        ("*/*", 200),
        ("text/*", 200),
        ("application/json;q=0.9, text/event-stream;q=0.1", 200),
        ("application/json", 406),
        ("text/event-stream;q=0", 406),
        ("text/event-stream; q=0.000", 406),
        ("text/html", 406),
        ("", 406),
    ],
)
def test_the_answer_must_be_readable_for_the_caller(edge, accept, status):
    response = ping_from(edge, accept=accept)
    assert response.status_code == status
    if status == 406:
        assert "Accept: application/json, text/event-stream" in answer(response)["error"]["message"]


def test_a_body_has_at_most_64_kib(edge):
    def padded(size: int) -> bytes:
        body = json.dumps(PING).encode()
        return body + b" " * (size - len(body))

    assert post(edge.endpoint, padded(BODY_MAX_BYTES)).status_code == 200
    too_much = post(edge.endpoint, padded(BODY_MAX_BYTES + 1))
    assert too_much.status_code == 413
    assert too_much.headers["connection"] == "close"


def test_a_body_without_a_declared_length_is_counted_as_it_comes(edge):
    def chunks():
        for _ in range(70):
            yield b" " * 1024

    response = httpx.post(
        edge.endpoint, content=chunks(), headers={"content-type": "application/json", "accept": "text/event-stream"}
    )
    assert response.status_code == 413


def test_white_space_around_a_value_does_not_belong_to_it(edge):
    body = json.dumps(PING).encode()
    request = http_post(edge.port, body, "Mcp-Protocol-Version:   2025-06-18  \t")
    assert status_of(raw(edge.port, request)) == 200


def test_a_websocket_is_not_opened(edge):
    upgrade = (
        f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{edge.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    assert status_of(raw(edge.port, upgrade.encode(), wait=1)) == 405
