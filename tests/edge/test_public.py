"""Public files and health: from memory, cacheable, and telling nothing they should not."""

from __future__ import annotations

import base64
import hashlib
import threading
import time

import httpx
import pytest

from tests.edge.running import PUBLIC_FILES


@pytest.mark.parametrize("path", list(PUBLIC_FILES))
def test_a_file_is_sent_as_it_is(edge, path):
    response = httpx.get(edge.url + path)
    assert response.status_code == 200
    assert response.headers["content-type"] == PUBLIC_FILES[path][0]
    assert response.content == PUBLIC_FILES[path][1]
    assert response.headers["x-content-type-options"] == "nosniff"
    assert '</llms.txt>; rel="describedby"' in response.headers["link"]
    assert '</docs.md>; rel="alternate"; type="text/markdown"' in response.headers["link"]


def test_who_has_a_file_is_not_sent_it_again(edge):
    etag = httpx.get(edge.url + "/llms.txt").headers["etag"]
    for held in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = httpx.get(edge.url + "/llms.txt", headers={"if-none-match": held})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["etag"] == etag
    assert httpx.get(edge.url + "/llms.txt", headers={"if-none-match": '"other"'}).status_code == 200


def test_head_tells_the_length_without_the_body(edge):
    for path in ("/llms.txt", "/livez"):
        full, head = httpx.get(edge.url + path), httpx.head(edge.url + path)
        assert head.status_code == 200
        assert head.content == b""
        assert head.headers["content-length"] == str(len(full.content))


@pytest.mark.parametrize("path", ["/", "/llms.txt", "/livez", "/readyz"])
def test_files_are_for_reading(edge, path):
    response = httpx.post(edge.url + path, content=b"x")
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD"


def test_the_page_allows_its_own_style_and_nothing_else(edge):
    policy = httpx.get(edge.url + "/").headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(b"p{margin:0}").digest()).decode()
    assert "default-src 'none'" in policy
    assert f"style-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "content-security-policy" not in httpx.get(edge.url + "/llms.txt").headers


def test_files_answer_to_known_names_only(edge):
    assert httpx.get(edge.url + "/llms.txt", headers={"host": "evil.net"}).status_code == 403


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_health_answers_under_any_name(edge, path):
    response = httpx.get(edge.url + path, headers={"host": "10.0.0.7:8080"})
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-store"


def test_readiness_says_what_is_missing_and_liveness_does_not_care(fresh_edge):
    fresh_edge.ready["database"] = False
    response = httpx.get(fresh_edge.url + "/readyz")
    assert response.status_code == 503
    assert response.json() == {"ready": False, "checks": {"database": False}}
    assert int(response.headers["retry-after"]) >= 1
    assert httpx.get(fresh_edge.url + "/livez").json() == {"alive": True}


def test_readiness_is_asked_for_once_a_second_at_most(start_edge, monkeypatch):
    edge = start_edge()
    asked = []
    monkeypatch.setattr(edge.app._health, "_ready", lambda: asked.append(time.monotonic()) or {"database": True})
    started = time.monotonic()
    while time.monotonic() - started < 1.5:
        assert httpx.get(edge.url + "/readyz").status_code == 200
    assert len(asked) == 2


@pytest.mark.parametrize("failure", ["raises", "hangs"])
def test_a_readiness_check_that_fails_is_not_ready(start_edge, monkeypatch, caplog, failure):
    edge = start_edge()
    release = threading.Event()

    def check():
        if failure == "raises":
            raise RuntimeError("canary")
        return release.wait(10)

    monkeypatch.setattr(edge.app._health, "_ready", check)
    started = time.monotonic()
    assert httpx.get(edge.url + "/readyz").status_code == 503
    assert time.monotonic() - started < 4
    release.set()
    assert "canary" not in caplog.text
