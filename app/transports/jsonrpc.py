"""The JSON-RPC envelope: what kind of message a body is, before anyone looks at what it asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcp_types.jsonrpc import INVALID_REQUEST, PARSE_ERROR

from app.transports import strictjson
from app.transports.replies import Refused

# It is sent back, so it must not carry a document.
_LONGEST_ID = 200


class Kind(StrEnum):
    """What a message wants: an answer, nothing, or to be an answer itself."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"


@dataclass(frozen=True)
class Message:
    """A message whose envelope is in order.

    Attributes:
        id: what the answer is sent back under; None unless it is a request.
        method: empty for a response.
    """

    kind: Kind
    id: str | int | None = None
    method: str = ""
    params: dict[str, Any] = field(default_factory=dict)


class BadEnvelope(Refused):
    """Not a single JSON-RPC 2.0 message. Carries the id where there is a usable one."""

    def __init__(self, message: str, request_id: str | int | None = None, code: int = INVALID_REQUEST) -> None:
        super().__init__(400, message, "invalid_request", code=code)
        self.request_id = request_id


def read_message(body: bytes) -> Message:
    """Return the message a request body holds.

    Raises:
        BadEnvelope: the body is not strict JSON or not one JSON-RPC message.
    """
    try:
        value = strictjson.parse(body)
    except strictjson.NotStrict as error:
        raise BadEnvelope(
            f"The body must be one JSON-RPC 2.0 message as strict JSON in UTF-8, but {error}.", code=PARSE_ERROR
        ) from None
    if not isinstance(value, dict):
        raise BadEnvelope("The body must be one JSON-RPC 2.0 message; batches are not accepted.")
    request_id = _usable_id(value.get("id"))
    if value.get("jsonrpc") != "2.0":
        raise BadEnvelope('"jsonrpc" must be "2.0".', request_id)
    if "method" not in value:
        return _read_response(value, request_id)
    return _read_call(value, request_id)


def _read_response(value: dict[str, Any], request_id: str | int | None) -> Message:
    if ("result" in value) == ("error" in value) or request_id is None:
        raise BadEnvelope('A message needs a "method", or an "id" with a "result" or an "error".', request_id)
    return Message(Kind.RESPONSE)


def _read_call(value: dict[str, Any], request_id: str | int | None) -> Message:
    method, params = value["method"], value.get("params")
    if params is None:  # Serialisers that write absent members as null are common, and nothing else can be meant.
        params = {}
    if not isinstance(method, str) or "result" in value or "error" in value:
        raise BadEnvelope('"method" must be a string, and a message with one has no "result" or "error".', request_id)
    if not isinstance(params, dict):
        raise BadEnvelope('"params" must be an object.', request_id)
    if "id" not in value:
        return Message(Kind.NOTIFICATION, None, method, params)
    if request_id is None:
        raise BadEnvelope(f'"id" must be an integer or a string of at most {_LONGEST_ID} characters.')
    return Message(Kind.REQUEST, request_id, method, params)


def _usable_id(value: object) -> str | int | None:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_ID else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
