"""The rules of the gate one by one, at their borders, without a server: what passes, and the code of what does not."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from app.contract import BODY_MAX_BYTES
from app.settings import Settings
from app.transports.gate import (
    DISCARD_MAX_BYTES,
    DISCARD_SECONDS,
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    ClientGone,
    Doors,
    Headers,
    Incoming,
    admits,
    check_post,
    check_version,
    doors_of,
    read_body,
)
from app.transports.replies import Refused
from tests.sentences import is_sentence

INVALID_REQUEST, HEADER_MISMATCH, FORBIDDEN = -32600, -32020, -32011
POSTED = (("Content-Type", "application/json"), ("Accept", "text/event-stream"))


def headers_of(*pairs):
    return Headers({"headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs]})


def refusal_of(check, *given):
    """Return what a check that must refuse answers: status, code for programs, JSON-RPC code, and whether it closes."""
    with pytest.raises(Refused) as refused:
        check(*given)
    error = refused.value
    assert is_sentence(error.message)
    return error.status, error.reason, error.code, (b"connection", b"close") in error.headers


def posted(*more):
    names = {name.lower() for name, _ in more}
    return headers_of(*(pair for pair in POSTED if pair[0].lower() not in names), *more)


def messages_of(*messages, pause=0.0):
    """Return an ASGI `receive` that gives these messages one by one, and the list of those not yet taken."""
    left = list(messages)

    async def receive():
        await asyncio.sleep(pause)
        return left.pop(0)

    return receive, left


def chunk(size, *, more=True):
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


def test_a_header_is_found_by_its_name_in_any_case():
    headers = headers_of(("X-One", " \ta \t"), ("x-ONE", "b\xe9"), ("Other", "c"))
    assert (headers.first("x-one"), headers.every("x-one")) == ("a", ["a", "b\xe9"])
    assert (headers.first("none"), headers.every("none")) == (None, [])
    assert headers.exact(b"x-one") == [b" \ta \t", b"b\xe9"]
    assert headers.folded == {"x-one": "a", "other": "c"}


def test_so_many_headers_and_no_more():
    headers_of(*[("a", "b")] * MAX_HEADERS).check_size()
    one_more = headers_of(*[("a", "b")] * (MAX_HEADERS + 1))
    assert refusal_of(one_more.check_size) == (431, "headers_too_large", INVALID_REQUEST, True)


def test_headers_so_long_and_no_longer():
    """Names and values count."""
    headers_of(("name", "v" * (MAX_HEADER_BYTES - 6)), ("b", "c")).check_size()
    longer = headers_of(("name", "v" * (MAX_HEADER_BYTES - 6)), ("b", "cc"))
    assert refusal_of(longer.check_size) == (431, "headers_too_large", INVALID_REQUEST, True)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Host", INVALID_REQUEST),
        ("Origin", INVALID_REQUEST),
        ("Content-Type", INVALID_REQUEST),
        ("Content-Length", INVALID_REQUEST),
        ("Content-Encoding", INVALID_REQUEST),
        ("Transfer-Encoding", INVALID_REQUEST),
        ("Mcp-Protocol-Version", HEADER_MISMATCH),
        ("Mcp-Method", HEADER_MISMATCH),
        ("Mcp-Name", HEADER_MISMATCH),
    ],
)
def test_a_header_that_two_readers_could_read_differently_occurs_once(name, code):
    """Equal or not; the protocol has a code of its own for those that route."""
    headers_of((name, "a"), ("Accept", "a"), ("Accept", "b")).check_single()
    repeated = headers_of((name, "a"), (name.upper(), "a"))
    assert refusal_of(repeated.check_single) == (400, "repeated_header", code, True)


def test_a_body_that_was_announced_is_whole_with_its_last_piece():
    async def read():
        receive, _ = messages_of(chunk(1), chunk(1, more=False))
        incoming = Incoming(receive, headers_of(("Content-Length", "2")))
        return [incoming.whole, (await incoming())["body"], incoming.whole, (await incoming())["body"], incoming.whole]

    assert asyncio.run(read()) == [False, b"x", False, b"x", True]


@pytest.mark.parametrize(
    ("pairs", "whole"), [([], True), ([("Content-Length", "2")], False), ([("Transfer-Encoding", "chunked")], False)]
)
def test_without_a_length_or_pieces_there_is_no_body(pairs, whole):
    assert Incoming(messages_of()[0], headers_of(*pairs)).whole is whole


@pytest.mark.parametrize("last", [{"type": "http.disconnect"}, {"type": "http.request"}])
def test_after_a_client_has_gone_or_said_nothing_more_there_is_nothing_to_read(last):
    async def read():
        incoming = Incoming(messages_of(last)[0], headers_of(("Content-Length", "2")))
        await incoming.discard()
        return incoming.whole

    assert asyncio.run(read()) is True


def test_what_is_left_of_a_body_is_read_to_its_end():
    receive, left = messages_of(chunk(10), {"type": "http.request", "more_body": True}, chunk(10, more=False), chunk(1))
    asyncio.run(Incoming(receive, headers_of(("Content-Length", "20"))).discard())
    assert len(left) == 1


def test_of_a_body_without_end_so_much_is_read_and_no_more():
    half = DISCARD_MAX_BYTES // 2
    receive, left = messages_of(chunk(half), chunk(half - 1), chunk(1), chunk(1))
    asyncio.run(Incoming(receive, headers_of(("Content-Length", "1"))).discard())
    assert len(left) == 1


def test_a_client_that_stops_in_its_body_is_not_waited_for_long():
    receive, left = messages_of(chunk(1), pause=60)
    started = time.monotonic()
    asyncio.run(Incoming(receive, headers_of(("Content-Length", "2"))).discard())
    assert DISCARD_SECONDS - 0.1 <= time.monotonic() - started < DISCARD_SECONDS + 2
    assert left


DOORS = Doors(frozenset({"kb.example.com"}), frozenset({"https://app.example.org"}))


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("kb.example.com", 8000),
        ("KB.Example.com", 8000),
        ("localhost:8000", 8000),
        ("127.0.0.1:8000", 8000),
        ("[::1]:8000", 8000),
        ("localhost", 80),
        ("[::1]", 80),
        ("LocalHost:80", 80),
    ],
)
def test_a_host_that_is_ours(host, port):
    DOORS.check_host(headers_of(("Host", host)), port)


@pytest.mark.parametrize(
    ("host", "port"),
    [("localhost", 8000), ("localhost:8001", 8000), ("kb.example.com:8000", 8000), ("", 8000), ("localhost", None)],
)
def test_a_host_that_is_not_ours(host, port):
    """On a port of its own, this machine's names count with it."""
    headers = headers_of(("Host", host)) if host else headers_of()
    assert refusal_of(DOORS.check_host, headers, port) == (403, "forbidden", FORBIDDEN, False)


@pytest.mark.parametrize("origin", [None, "https://app.example.org", "HTTPS://APP.example.org", "http://[::1]:8000"])
def test_an_origin_that_may_call_is_told_as_it_was_sent(origin):
    headers = headers_of(("Origin", origin)) if origin else headers_of()
    assert DOORS.check_origin(headers, 8000) == origin


@pytest.mark.parametrize("origin", ["", "null", "https://localhost:8000", "http://localhost", "http://app.example.org"])
def test_an_origin_that_may_not_call(origin):
    headers = headers_of(("Origin", origin))
    assert refusal_of(DOORS.check_origin, headers, 8000) == (403, "forbidden", FORBIDDEN, False)


@pytest.mark.parametrize(
    ("public_url", "hosts", "origin"),
    [
        ("https://KB.example.com", {"kb.example.com", "kb.example.com:443"}, "https://kb.example.com"),
        ("http://kb.example.com", {"kb.example.com", "kb.example.com:80"}, "http://kb.example.com"),
        ("https://kb.example.com:8443", {"kb.example.com:8443"}, "https://kb.example.com:8443"),
    ],
)
def test_the_public_address_is_allowed_with_what_the_settings_name(public_url, hosts, origin):
    """A standard port may be written or left out."""
    settings = Settings(
        home=Path("unused"), public_url=public_url, allowed_hosts=("Other.Example",), allowed_origins=("HTTPS://A.b",)
    )
    assert doors_of(settings) == Doors(frozenset({*hosts, "other.example"}), frozenset({origin, "https://a.b"}))


def test_without_a_public_address_only_what_is_named_is_allowed():
    settings = Settings(home=Path("unused"), allowed_hosts=("a.b",))
    assert doors_of(settings) == Doors(frozenset({"a.b"}), frozenset())


def test_only_http_1_is_spoken():
    for scope in ({"http_version": "1.1"}, {"http_version": "1.0"}, {}):
        check_version(scope)
    for version in ("0.9", "2", ""):
        refused = refusal_of(check_version, {"http_version": version})
        assert refused == (400, "unsupported_version", INVALID_REQUEST, True)


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        (("Content-Encoding", "gzip"), (415, "unsupported_encoding", INVALID_REQUEST, False)),
        (("Content-Type", "text/json"), (415, "unsupported_media_type", INVALID_REQUEST, False)),
        (("Content-Type", "application/json; charset=x"), (415, "unsupported_media_type", INVALID_REQUEST, False)),
        (("Accept", "application/json"), (406, "not_acceptable", INVALID_REQUEST, False)),
        (("Content-Length", str(BODY_MAX_BYTES + 1)), (413, "body_too_large", INVALID_REQUEST, True)),
        (("Content-Length", "9" * 5000), (413, "body_too_large", INVALID_REQUEST, True)),
    ],
)
def test_a_post_that_cannot_be_read_or_answered(more, refused):
    assert refusal_of(check_post, posted(more)) == refused


def test_a_post_says_what_it_holds():
    accepting = headers_of(("Accept", "*/*"))
    assert refusal_of(check_post, accepting) == (415, "unsupported_media_type", INVALID_REQUEST, False)


@pytest.mark.parametrize(
    "more",
    [
        ("Content-Encoding", "Identity"),
        ("Content-Encoding", ""),
        ("Content-Type", ' Application/JSON ; Charset="UTF-8" '),
        ("Content-Length", str(BODY_MAX_BYTES)),
        ("Content-Length", "nonsense"),
    ],
)
def test_a_post_that_can_be_read(more):
    """What no number is, the parser below has judged."""
    check_post(posted(more))


@pytest.mark.parametrize(
    ("accept", "admitted", "by_name"),
    [
        (["text/event-stream"], True, True),
        (["text/html, */*"], True, False),
        (["text/*"], True, False),
        (["application/*"], False, False),
        (["text/html", "text/event-stream"], True, True),
        (["TEXT/event-stream ; charset=utf-8; q=0.1"], True, True),
        (["text/event-stream; q = 0.0"], False, False),
        (["text/event-stream; level=0"], True, True),
        (["text/event-stream; q=0, */*"], True, False),
        (["text/event-stream; charset=utf-8; q=0"], False, False),
        (["text/event"], False, False),
        ([], False, False),
    ],
)
def test_what_an_accept_header_admits(accept, admitted, by_name):
    assert admits(accept, "text/event-stream") is admitted
    assert admits(accept, "text/event-stream", explicitly=True) is by_name


def test_a_body_is_its_pieces_in_their_order():
    first, second = {**chunk(0), "body": b"ab"}, {"type": "http.request", "body": b"c"}
    assert asyncio.run(read_body(messages_of(first, {"type": "http.request", "more_body": True}, second)[0])) == b"abc"


def test_a_body_is_counted_over_all_its_pieces():
    halves = chunk(BODY_MAX_BYTES // 2), chunk(BODY_MAX_BYTES // 2, more=False)
    assert len(asyncio.run(read_body(messages_of(*halves)[0]))) == BODY_MAX_BYTES
    receive, left = messages_of(halves[0], chunk(BODY_MAX_BYTES // 2 + 1), chunk(1))
    assert refusal_of(asyncio.run, read_body(receive)) == (413, "body_too_large", INVALID_REQUEST, True)
    assert len(left) == 1


def test_a_client_that_goes_in_its_body_gets_no_answer():
    with pytest.raises(ClientGone):
        asyncio.run(read_body(messages_of(chunk(1), {"type": "http.disconnect"})[0]))
