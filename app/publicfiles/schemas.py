"""The contract as data: `api.json`, the table of limits, the tools' reference."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from app import answers, contract, errors
from app.operations import OPERATIONS, Operation
from app.relevance import Calibration, calibrations
from app.toolschema import input_schema

_RESPONSES: dict[str, type[answers.Shape]] = {
    "search_knowledge": answers.SearchResponse,
    "get_guidance": answers.GetResponse,
    "submit_feedback": answers.FeedbackResponse,
}
_EXAMPLES: dict[str, dict[str, Any]] = {
    "search_knowledge": {
        "query": "typed text jumps to another row when I sort the table",
        "technologies": ["React"],
        "versions": {"React": "18.2"},
        "topic": "implementation",
        "max_results": 3,
    },
    "get_guidance": {"ids": ["use-stable-keys-for-dynamic-react-lists"], "detail": "full"},
    "submit_feedback": {
        "category": "outdated",
        "record": "use-stable-keys-for-dynamic-react-lists",
        "source": "get_guidance",
        "comment": "The second source has moved.",
        "outcome": "worked_with_changes",
        "versions": {"React": "18.2"},
    },
}
# What a tool can answer with isError; the rest is told by HTTP status.
_TOOL_ERRORS = (errors.InvalidInput, errors.FeedbackClosed, errors.InternalError)
_STATUSES = {
    400: "not a single well-formed JSON-RPC message",
    401: "the key is malformed, unknown or revoked",
    403: "host or origin not allowed",
    405: "method not offered",
    406: "Accept does not admit text/event-stream",
    413: "body too large",
    415: "not application/json, or an encoded body",
    429: "daily quota used up; see Retry-After",
    503: "busy, or the database does not answer; see Retry-After",
}


def tool_hints(operation: Operation) -> dict[str, bool]:
    """Return the MCP hints of a tool. All knowledge is the server's own: no tool reaches an open world."""
    return {"readOnlyHint": operation.read_only, "destructiveHint": False, "openWorldHint": False}


def error_codes() -> list[str]:
    """Return the codes a tool's error can carry."""
    return [error.code for error in _TOOL_ERRORS]


def limits(guest_daily_quota: int = contract.GUEST_DAILY_QUOTA) -> list[tuple[str, str]]:
    """Return the public limits as name and value."""
    return [
        ("query", f"{contract.QUERY_MIN_CHARACTERS} to {contract.QUERY_MAX_CHARACTERS} characters"),
        ("technologies", f"{contract.TECHNOLOGIES_MAX}, {contract.TECHNOLOGY_MAX_CHARACTERS} characters each"),
        ("versions", f"{contract.VERSIONS_MAX} entries, {contract.VERSION_MAX_CHARACTERS} characters each"),
        ("topics", f"{contract.TOPICS_MAX} a call"),
        ("max_results", f"1 to {contract.RESULTS_MAX}, default {contract.RESULTS_DEFAULT}"),
        (
            "token_budget",
            (
                f"{contract.TOKEN_BUDGET_MIN} to {contract.TOKEN_BUDGET_MAX}, default {contract.TOKEN_BUDGET_DEFAULT}; "
                f"a token is counted as {contract.BYTES_PER_TOKEN} bytes of the answer's JSON, fewer where it is dense"
            ),
        ),
        ("get_guidance ids", f"1 to {contract.IDS_MAX}, {contract.ID_MAX_CHARACTERS} characters each"),
        ("feedback comment", f"1 to {contract.COMMENT_MAX_CHARACTERS} characters"),
        ("request body", f"{contract.BODY_MAX_BYTES} bytes"),
        ("guest quota", f"{guest_daily_quota} tool calls per client address and UTC day"),
    ]


def api_document(endpoint: str, guest_daily_quota: int) -> dict[str, Any]:
    """Return `api.json`."""
    return {
        "name": contract.SERVER_NAME,
        "title": contract.SERVER_TITLE,
        "version": contract.SERVER_VERSION,
        "endpoint": endpoint,
        "transport": "streamable-http",
        "tools": [_tool(operation) for operation in OPERATIONS.values()],
        "errors": {
            "tool": {error.code: (error.__doc__ or "").split("\n")[0] for error in _TOOL_ERRORS},
            "http": {str(status): meaning for status, meaning in _STATUSES.items()},
        },
        "limits": dict(limits(guest_daily_quota)),
        "modes": [mode.value for mode in contract.Mode],
        "degraded_reasons": [reason.value for reason in contract.DegradedReason],
        "relevance": [operating_point(entry) for entry in calibrations().values()],
    }


def operating_point(calibration: Calibration) -> dict[str, Any]:
    """Return how often the relevance gate is right and wrong, as shares of labelled questions (docs/retrieval.md).

    `dev` are the questions it was fitted on, `test` those that had no part in it.
    """
    model = {"id": calibration.model_id, "revisions": list(calibration.revisions)}
    return {"embedding_model": model, "passes": "margin >= 0, in logits", "measured": calibration.measured}


def tool_reference() -> str:
    """Return the tools section of the reference as Markdown."""
    return "\n\n".join(_tool_text(place, operation) for place, operation in enumerate(OPERATIONS.values(), start=1))


def _tool(operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "title": operation.title,
        "description": operation.summary,
        "annotations": tool_hints(operation),
        "inputSchema": input_schema(operation.request),
        "responseSchema": _RESPONSES[operation.name].model_json_schema(),
        "example": _EXAMPLES[operation.name],
    }


def _tool_text(place: int, operation: Operation) -> str:
    schema = input_schema(operation.request)
    rows = "\n".join(_argument_rows(schema))
    hints = ", ".join(f"{name} {str(value).lower()}" for name, value in tool_hints(operation).items())
    call = json.dumps({"name": operation.name, "arguments": _EXAMPLES[operation.name]}, indent=2)
    return (
        f"### 4.{place} {operation.name}\n\n{operation.summary}\n\n"
        f"| argument | type | rule |\n|---|---|---|\n{rows}\n\n"
        f"Other arguments are refused. Hints: {hints}.\n\n```json\n{call}\n```"
    )


def _argument_rows(schema: dict[str, Any]) -> Iterator[str]:
    for name, entry in schema["properties"].items():
        required = "required" if name in schema.get("required", []) else "optional"
        yield f"| `{name}` | {entry['type']} | {'; '.join([required, *_rules(entry)])} |"


def _rules(entry: dict[str, Any]) -> Iterator[str]:
    if "enum" in entry:
        yield "one of " + ", ".join(entry["enum"])
    for low, high, unit in (
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minimum", "maximum", ""),
        ("minProperties", "maxProperties", "entries"),
    ):
        if high in entry:
            yield f"{entry.get(low, 0)} to {entry[high]} {unit}".strip()
    if "items" in entry and "maxLength" in entry["items"]:
        yield f"each {entry['items'].get('minLength', 0)} to {entry['items']['maxLength']} characters"
    if "default" in entry:
        yield f"default {entry['default']}"
    if "description" in entry:
        yield entry["description"].rstrip(".")
