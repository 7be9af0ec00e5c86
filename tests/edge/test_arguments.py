"""Bad arguments of every tool: named, told the rule, and never repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.operations import OPERATIONS
from tests.edge.running import run_edges
from tests.edge.wire import call_modern, call_tool, post, tool_answer

VALID: dict[str, dict[str, Any]] = {
    "search_knowledge": {"query": "react list keys"},
    "get_guidance": {"ids": ["use-stable-keys"]},
    "submit_feedback": {"category": "helpful"},
}
CANARY = "canaryvalue"
WRONG: list[tuple[str, Any]] = [
    ("number", 918273645),
    ("float", 918273.645),
    ("boolean", True),
    ("object", {CANARY: CANARY}),
    ("list of objects", [{CANARY: CANARY}]),
    ("nested lists", [[[CANARY]]]),
    ("long text", CANARY * 500),
    ("long list", [CANARY] * 50),
    ("NUL", f"{CANARY}\0"),
    ("NUL in a list", [f"{CANARY}\0"]),
    ("NUL as a key", {f"{CANARY}\0": "1"}),
    ("lone surrogate", f"{CANARY}\ud800"),
    ("lone surrogate in a list", [f"{CANARY}\udfff"]),
    ("lone surrogate as a key", {f"{CANARY}\ud800": "1"}),
    ("unlisted word", CANARY),
    ("out of range", 10**15),
    ("beyond 64 bits", 10**30),
    ("1000 digits", 10**999),
    ("beyond 64 bits in a list", [-(10**30)]),
    ("beyond 64 bits as a value", {CANARY: 10**30}),
    ("JSON in text", json.dumps({CANARY: {CANARY: CANARY}})),
    ("broken JSON in text", f"[{CANARY}"),
    ("deep JSON in text", "[" * 5000),
]
# What the contract allows for a field, however odd.
FITS = {
    ("query", "unlisted word"),
    ("query", "JSON in text"),
    ("query", "broken JSON in text"),
    ("technologies", "unlisted word"),
    ("technologies", "JSON in text"),
    ("technologies", "broken JSON in text"),
    ("versions", "object"),
    ("ids", "unlisted word"),
    ("ids", "broken JSON in text"),
    ("record", "unlisted word"),
    ("record", "JSON in text"),
    ("record", "broken JSON in text"),
    ("comment", "unlisted word"),
    ("comment", "JSON in text"),
    ("comment", "broken JSON in text"),
}
CASES = [
    (tool, field, kind, value)
    for tool, operation in OPERATIONS.items()
    for field in operation.request.model_fields
    for kind, value in WRONG
    if (field, kind) not in FITS
]


@pytest.fixture(scope="module")
def open_edge(tmp_path_factory):
    """A server that does not run out of units for this file's many calls."""
    edges = run_edges(tmp_path_factory.mktemp("edge"))
    yield next(edges)(guest_daily_quota=100_000, feedback_guest_quota=100_000)
    next(edges, None)


def assert_refused(response, field: str) -> None:
    is_error, envelope = tool_answer(response)
    assert is_error
    assert envelope["error"]["code"] == "validation_error"
    named = [entry["field"].split("[")[0] for entry in envelope["error"]["details"]["fields"]]
    assert field in named
    assert "canary" not in response.text.lower()
    assert "918273" not in response.text


@pytest.mark.parametrize(("tool", "field"), sorted({(tool, field) for tool, field, _, _ in CASES}))
def test_a_bad_value_is_refused_by_the_name_of_its_field(open_edge, tool, field):
    for _, _, kind, value in (case for case in CASES if case[:2] == (tool, field)):
        arguments = {**VALID[tool], field: value}
        try:
            assert_refused(call_tool(open_edge.endpoint, tool, arguments), field)
            assert_refused(call_modern(open_edge.endpoint, "tools/call", {"name": tool, "arguments": arguments}), field)
        except AssertionError as failed:
            raise AssertionError(f"{tool}.{field}: {kind}") from failed


@pytest.mark.parametrize("tool", list(VALID))
def test_what_is_required_is_asked_for_by_name(open_edge, tool):
    (required,) = VALID[tool]
    assert_refused(call_tool(open_edge.endpoint, tool, {}), required)
    assert_refused(call_tool(open_edge.endpoint, tool, {required: None}), required)


@pytest.mark.parametrize("tool", list(VALID))
def test_null_is_no_value_for_what_may_be_left_out(open_edge, tool):
    """Clients write absent members as null; the answer is that to a call without them."""
    (required,) = VALID[tool]
    optional = set(OPERATIONS[tool].request.model_fields) - {required}
    plain = tool_answer(call_tool(open_edge.endpoint, tool, VALID[tool]))[1]
    nulls = tool_answer(call_tool(open_edge.endpoint, tool, {**VALID[tool], **dict.fromkeys(optional)}))[1]
    assert {**plain, "id": ""} == {**nulls, "id": ""}
    for name in optional:
        response = call_modern(
            open_edge.endpoint, "tools/call", {"name": tool, "arguments": {**VALID[tool], name: None}}
        )
        assert tool_answer(response)[0] is False, name


def test_null_is_a_bad_value_inside_a_value_and_for_what_is_unknown(open_edge):
    """Only a whole argument can be absent."""
    search = VALID["search_knowledge"]
    for value in ({"technologies": [None]}, {"versions": {"React": None}}, {"topic": [None]}, {"limit": None}):
        (field,) = value
        assert_refused(call_tool(open_edge.endpoint, "search_knowledge", {**search, **value}), field)


TOO_LONG_AS_SENT = [
    ("search_knowledge", "query", " " * 2000 + "ab"),
    ("search_knowledge", "query", "ab" + "\n" * 1999),
    ("search_knowledge", "query", "e\u0301" * 1001),
    ("search_knowledge", "query", "\u0958" * 1001),  # NFC makes two of each
    ("search_knowledge", "technologies", ["React" + " " * 76]),
    ("search_knowledge", "versions", {"React" + " " * 76: "18"}),
    ("search_knowledge", "versions", {"React": " " * 101}),
    ("get_guidance", "ids", ["a" + " " * 120]),
    ("submit_feedback", "record", "a" + " " * 120),
    ("submit_feedback", "comment", "moved" + " " * 996),
    ("submit_feedback", "versions", {"React" + " " * 76: "18"}),
    ("submit_feedback", "versions", {"React": " " * 101}),
]


@pytest.mark.parametrize(("tool", "field", "value"), TOO_LONG_AS_SENT, ids=lambda value: str(value)[:20].strip())
def test_white_space_and_unjoined_accents_count_towards_the_longest_text(open_edge, tool, field, value):
    """A text may be too long as it was sent, or after NFC made it longer."""
    assert_refused(call_tool(open_edge.endpoint, tool, {**VALID[tool], field: value}), field)


@pytest.mark.parametrize("query", [" a ", "\ta\n", "  ", "e\u0301"])
def test_what_is_left_of_a_question_must_be_long_enough(open_edge, query):
    """The least length is that of the text without white space around it, accents joined."""
    assert_refused(call_tool(open_edge.endpoint, "search_knowledge", {"query": query}), "query")


@pytest.mark.parametrize("tool", list(VALID))
def test_an_unknown_argument_is_refused_by_its_name_if_that_is_a_word(open_edge, tool):
    assert_refused(call_tool(open_edge.endpoint, tool, {**VALID[tool], "limit_x": CANARY}), "limit_x")
    for name in ("canary text with blanks", "canary\0", "canary" * 20, ""):
        assert_refused(call_tool(open_edge.endpoint, tool, {**VALID[tool], name: 1}), "(unknown argument)")
    assert_refused(call_tool(open_edge.endpoint, tool, {**VALID[tool], "canary\ud800": 1}), "arguments")


def test_many_mistakes_get_a_short_answer(open_edge):
    arguments = {f"x{n}": CANARY for n in range(2000)}
    response = call_tool(open_edge.endpoint, "search_knowledge", arguments)
    assert len(response.content) < 2000


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "ab"},
        {"query": "x" * 2000},
        {"query": "é" * 2000},
        {"query": "ab", "technologies": '["React", "Vue"]', "versions": '{"React": "18"}', "topic": '["data", "ux"]'},
        {"query": "ab", "technologies": "React", "topic": "data"},
        {"query": "ab", "task_type": None, "max_results": 10, "token_budget": 200, "detail": "standard"},
        {"query": "  " + "x" * 1996 + "  "},
    ],
)
def test_what_the_contract_allows_is_served(open_edge, arguments):
    assert tool_answer(call_tool(open_edge.endpoint, "search_knowledge", arguments))[0] is False


def test_escaped_and_plain_text_are_the_same(open_edge):
    plain = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_guidance","arguments":{"ids":["é🙂"]}}}'
    )
    escaped = plain.replace("é", "\\u00e9").replace("🙂", "\\ud83d\\ude42")
    assert post(open_edge.endpoint, plain.encode()).text == post(open_edge.endpoint, escaped.encode()).text
