"""The JSON-RPC envelope: one message, one meaning, and an answer that can be matched to it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.transports import strictjson
from app.transports.jsonrpc import BadEnvelope, Kind, Message, read_message
from tests.edge.wire import answer, message, post
from tests.sentences import is_sentence

PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'


def nested(depth: int) -> str:
    """Return a ping whose deepest value is `depth` containers down."""
    inner = "[" * (depth - 2) + "]" * (depth - 2)
    return f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{inner}}}}}'


def test_deep_enough_is_deep_enough(edge):
    assert post(edge.endpoint, nested(24).encode()).status_code == 200


NOT_ONE_MESSAGE = [
    ([message("ping")], None),
    ([], None),
    ([message("ping")] * 10, None),
    (None, None),
    ("ping", None),
    (7, None),
    ({}, None),
    ({"id": 7}, 7),
    ({"id": 7, "method": "ping"}, 7),
    ({"jsonrpc": "1.0", "id": 7, "method": "ping"}, 7),
    ({"jsonrpc": 2.0, "id": "a", "method": "ping"}, "a"),
    ({"jsonrpc": "2.0", "id": 7}, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": 7}, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": None}, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": "ping", "result": {}}, 7),
    ({"jsonrpc": "2.0", "id": 7, "method": "ping", "error": {}}, 7),
    ({"jsonrpc": "2.0", "id": 7, "error": None, "method": "ping"}, 7),
    ({"jsonrpc": "2.0", "id": 7, "result": {}, "error": {}}, 7),
    ({"jsonrpc": "2.0", "result": {}}, None),
    ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
    ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
    ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
    ({"jsonrpc": "2.0", "id": [], "method": "ping"}, None),
    ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
    ({"jsonrpc": "2.0", "id": "x" * 201, "method": "ping"}, None),
]


@pytest.mark.parametrize(("body", "request_id"), NOT_ONE_MESSAGE, ids=lambda value: json.dumps(value)[:40])
def test_what_is_not_one_message_is_refused_under_its_own_id(edge, body, request_id):
    response = post(edge.endpoint, body)
    assert response.status_code == 400
    error = answer(response)["error"]
    assert error["code"] == -32600
    assert error["data"] == {"code": "invalid_request"}
    assert is_sentence(error["message"])
    assert answer(response)["id"] == request_id


LONG_ID = "x" * 201
TOLD = [
    (json.dumps({"jsonrpc": "2.0", "id": LONG_ID, "method": "ping"}), "at most 200 characters"),
    ('{"jsonrpc":"2.0","id":1180591620717411303424,"method":"ping"}', "an integer has more than 64 bits"),
    ('{"jsonrpc":"2.0","id":1,"id":1180,"method":"ping"}', "an object has a name twice"),
    ('{"jsonrpc":"2.0","id":1180e999,"method":"ping"}', "a number is not finite"),
    ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', "a number is not finite"),
    (PING.replace("1,", "1180" * 300 + ","), "a number has more than 1000 digits"),
    (PING.replace("ping", "ping\\u0000"), "a string holds NUL"),
    (nested(25), "it is nested deeper than 24"),
    ("{1180", "it is not JSON"),
    (b"\xff1180", "it is not UTF-8"),
]


@pytest.mark.parametrize(("body", "reason"), TOLD, ids=[reason for _, reason in TOLD])
def test_whoever_is_refused_is_told_why_and_hears_nothing_of_the_message(edge, body, reason):
    error = answer(post(edge.endpoint, body if isinstance(body, bytes) else body.encode()))["error"]
    assert reason in error["message"]
    assert is_sentence(error["message"])
    assert "1180" not in error["message"]
    assert LONG_ID not in error["message"]


def test_a_batch_is_told_that_it_is_one(edge):
    assert "batches" in post(edge.endpoint, [message("ping")]).text


def test_parameters_written_as_null_are_none(edge):
    assert answer(post(edge.endpoint, {**message("ping"), "params": None}))["result"] == {}


@pytest.mark.parametrize("request_id", [0, 1, -1, 2**63 - 1, "", "a", "ünï", "x" * 200])
def test_an_id_comes_back_as_it_was(edge, request_id):
    assert answer(post(edge.endpoint, message("ping", request_id=request_id)))["id"] == request_id


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "tools/call", "unheard/of"])
def test_a_notification_is_taken_without_a_word(edge, method):
    response = post(edge.endpoint, {"jsonrpc": "2.0", "method": method, "params": {"name": "search_knowledge"}})
    assert response.status_code == 202
    assert response.content == b""
    assert response.headers["content-length"] == "0"
    assert "content-type" not in response.headers
    assert not edge.store.calls


def test_a_response_nobody_asked_for_is_taken_or_refused_as_each_protocol_says(edge):
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert post(edge.endpoint, response).status_code == 202
    assert post(edge.endpoint, response, mcp_protocol_version="2026-07-28").status_code == 400


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_plain_json_is_read_as_it_is(value):
    """Strict is not narrow: whatever is proper JSON without NUL comes through unchanged."""
    text = json.dumps(value)
    if "\\u0000" not in text:
        assert strictjson.parse(text.encode()) == value


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_break_the_reader(body):
    try:
        strictjson.parse(body)
    except strictjson.NotStrict as refused:
        assert refused.__class__ is strictjson.NotStrict  # noqa: PT017 - nothing else may come out


def test_arguments_may_hold_integers_that_the_rest_may_not():
    """An integer beyond 64 bits in arguments is for the tool to refuse by name; a body full of them is quickly read."""
    around = {"params": {"arguments": {"max_results": 10**999, "more": [-(2**63) - 1, 2**63]}}}
    assert strictjson.parse(json.dumps(around).encode()) == around
    started = time.perf_counter()
    strictjson.parse(json.dumps({"params": {"arguments": [10**999] * 64}}).encode())
    assert time.perf_counter() - started < 0.1


@given(JSON_VALUES)
def test_arguments_may_hold_text_that_the_rest_may_not(value):
    """NUL and lone surrogates in arguments are for the tool to refuse by name."""
    around = {"params": {"arguments": {"query": "\0", "more": [value, "\ud800"]}}}
    assert strictjson.parse(json.dumps(around).encode()) == around


ONE_MESSAGE = [
    ({"id": 1, "method": "ping"}, Message(Kind.REQUEST, 1, "ping")),
    ({"id": "", "method": "ping", "params": {"a": 1}}, Message(Kind.REQUEST, "", "ping", {"a": 1})),
    ({"id": "x" * 200, "method": "ping", "params": None}, Message(Kind.REQUEST, "x" * 200, "ping")),
    ({"method": "ping", "params": {"a": 1}}, Message(Kind.NOTIFICATION, None, "ping", {"a": 1})),
    ({"id": 0, "result": {}}, Message(Kind.RESPONSE)),
    ({"id": 1, "error": {}}, Message(Kind.RESPONSE)),
]


@pytest.mark.parametrize(("members", "expected"), ONE_MESSAGE, ids=lambda value: str(value)[:40])
def test_a_message_is_read_as_what_it_is(members, expected):
    assert read_message(json.dumps({"jsonrpc": "2.0", **members}).encode()) == expected


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1,"a":2}', b"\xff", b"\xef\xbb\xbf{}"])
def test_what_is_not_strict_json_is_a_parse_error_of_no_request(body):
    with pytest.raises(BadEnvelope) as refused:
        read_message(body)
    error = refused.value
    assert (error.status, error.reason, error.code, error.request_id) == (400, "invalid_request", -32700, None)
    assert is_sentence(error.message)


def lists(depth: int) -> str:
    return "[" * depth + "]" * depth


def objects(depth: int) -> str:
    return '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)


@pytest.mark.parametrize("container", [lists, objects])
def test_so_deep_and_no_deeper(container):
    """However much stands side by side, and whatever text looks like brackets."""
    strictjson.parse(container(strictjson.MAX_DEPTH).encode())
    strictjson.parse(f"[[], {container(strictjson.MAX_DEPTH - 1)}]".encode())
    with pytest.raises(strictjson.NotStrict):
        strictjson.parse(container(strictjson.MAX_DEPTH + 1).encode())
    beside = [{"a": "[[[{{{"}] * 100
    assert strictjson.parse(json.dumps(beside).encode()) == beside
    with pytest.raises(strictjson.NotStrict):
        strictjson.parse(f"[1, {container(strictjson.MAX_DEPTH)}]".encode())


@pytest.mark.parametrize("text", ["9" * 1000, "-" + "9" * 999, "0.5e-400", "1.7e308"])
def test_a_number_in_arguments_may_be_large(text):
    assert strictjson.parse(f'{{"params":{{"arguments":{{"n":{text}}}}}}}'.encode())


@pytest.mark.parametrize("text", ["9" * 1001, "1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("around", ["[%s]", '{"params":{"arguments":{"n":%s}}}'])
def test_a_number_without_end_is_none_anywhere(text, around):
    with pytest.raises(strictjson.NotStrict):
        strictjson.parse((around % text).encode())


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**25, "\0", "a\ud800", "\udfff"])
def test_what_other_programs_cannot_hold_is_refused_outside_of_arguments(value):
    """Wherever it stands: as a value, deep inside one, or as a name."""
    places = [
        value,
        [[value]],
        {"params": {"name": value}},
        {"params": [value]},
        {"arguments": {"n": value}},
        {"id": value, "params": {"arguments": {}}},
    ]
    if isinstance(value, str):
        places += [{value: 1}, {"params": {"a": {value: 1}}}]
    for place in places:
        with pytest.raises(strictjson.NotStrict):
            strictjson.parse(json.dumps(place).encode())


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), "\ue000\ud7ff", "\U0001f600", "123456789012345678901234567890"])
def test_what_other_programs_can_hold_is_read(value):
    """Also where it looks like what is refused."""
    assert strictjson.parse(json.dumps({"a": [value, value]}).encode()) == {"a": [value, value]}


def test_a_name_that_occurs_twice_is_refused_at_any_depth():
    for text in (
        '{"a":1,"a":1}',
        '[{"b":{"a":1,"a":2}}]',
        '{"a":1,"\\u0061":2}',
        '{"params":{"arguments":{"a":1,"a":1}}}',
    ):
        with pytest.raises(strictjson.NotStrict):
            strictjson.parse(text.encode())
