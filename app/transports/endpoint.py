"""POST /mcp: from the bytes of a request to the bytes of its answer.

In this order, so that nothing costs more than it must: message, protocol, credentials, allowance, work. A tool call is
charged once message, protocol and credentials are in order, before its parameters are looked at: one that names no
tool, or is refused for its parameters, costs what any other does, and a failed call is not given back.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from pydantic import ValidationError

from app.access import Access, Caller
from app.arguments import parse_arguments
from app.contract import serialise
from app.errors import AppError, FeedbackClosed, InternalError, InvalidInput, QuotaExhausted, Unavailable
from app.transports import eventlog, gate, jsonrpc, replies
from app.transports.jsonrpc import Kind, Message
from app.transports.mcp import SERVED_VERSIONS, Dialect, McpServer, ProtocolRefusal, Tool, dialect_of
from app.transports.plaincalls import PlainResults, read_plain_call
from app.transports.replies import Header, Receive, Reply
from app.transports.slots import Slot, Slots, too_late

GUEST_SLOTS = 8
KEY_SLOTS = 32
# Of the few threads that check keys, one address may not have all.
CHECK_SLOTS = 2
# Callers come back at midnight; they should not all do so in the same second.
_JITTER_SECONDS = 60
_TOLD_METHODS = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "notifications/initialized",
        "notifications/cancelled",
    }
)

Call = Callable[[str, Mapping[str, Any]], dict[str, Any]]
# Returns an answer's text and the retrieval mode it tells.
Work = Callable[[], tuple[str, str | None]]


@dataclass
class Exchange:
    """One request on its way: what is known of it, gathered for its answer and for the log.

    Attributes:
        quota: headers that tell a guest what is left, once that is known.
    """

    headers: gate.Headers
    query_string: bytes
    address: str
    message: Message | None = None
    dialect: Dialect | None = None
    tool: str | None = None
    mode: str | None = None
    reason: str | None = None
    quota: list[Header] = field(default_factory=list)

    @property
    def era(self) -> str | None:
        """What the client speaks, for the log: a version we know, never the caller's text."""
        if self.dialect is None:
            return None
        return self.dialect.version if self.dialect.version in SERVED_VERSIONS else "other"

    @property
    def method(self) -> str | None:
        """What is asked, for the log: a known method, never the caller's text."""
        if self.message is None:
            return None
        return self.message.method if self.message.method in _TOLD_METHODS else "other"


class McpEndpoint:
    """Answers POST /mcp.

    Args:
        call: runs an operation; blocking.
        calls: where tool calls work.
        checks: where the keys of everything else are looked up.
    """

    def __init__(
        self, server: McpServer, tools: Mapping[str, Tool], call: Call, access: Access, calls: Slots, checks: Slots
    ) -> None:
        self._server = server
        self._plain_results = PlainResults(server)
        self._tools = tools
        self._call = call
        self._access = access
        self._calls = calls
        self._checks = checks

    async def answer(self, exchange: Exchange, receive: Receive) -> Reply:
        """Return the answer to a request whose headers have passed the gate.

        Raises:
            ClientGone: there is nobody left to answer.
        """
        try:
            exchange.message = jsonrpc.read_message(await gate.read_body(receive))
            exchange.dialect = dialect_of(exchange.message, exchange.headers.folded)
            reply = await self._serve(exchange, exchange.message, exchange.dialect)
        except replies.Refused as refused:
            reply = _refuse(exchange, refused)
        except ProtocolRefusal as error:
            reply = _refuse(exchange, replies.Refused(400, error.message, "protocol", code=error.code, data=error.data))
        except AppError as error:
            reply = _refuse(exchange, _with_jitter(error))
        return reply.plus(exchange.quota)

    async def identify(self, exchange: Exchange) -> Caller:
        """Return who calls.

        Raises:
            Unauthorized: a credential is presented and is not valid, or none is and guests are not served.
            Unavailable: keys cannot be checked just now.
        """
        key = self._access.read_key(exchange.headers.exact(b"authorization"), exchange.query_string)
        if key is None:
            return Caller(exchange.address)
        with await self._checks.take(exchange.address, CHECK_SLOTS) as slot:
            return await slot.run(self._access.identify, key, exchange.address)

    async def _serve(self, exchange: Exchange, message: Message, dialect: Dialect) -> Reply:
        caller = await self.identify(exchange)
        if message.kind is Kind.NOTIFICATION:
            return Reply(202)
        if message.kind is Kind.RESPONSE:
            if dialect.modern:
                raise replies.Refused(
                    400, "This server asks nothing, so there is nothing to respond to.", "invalid_request"
                )
            return Reply(202)
        if message.method == "tools/call":
            return await self._serve_call(exchange, message, dialect, caller)
        return await self._dispatch(exchange, message, dialect, _no_tool)

    async def _serve_call(self, exchange: Exchange, message: Message, dialect: Dialect, caller: Caller) -> Reply:
        name = message.params.get("name")
        exchange.tool = name if isinstance(name, str) and name in self._tools else "unknown"
        lane, limit = (caller.address, GUEST_SLOTS) if caller.is_guest else (f"key:{caller.key_id}", KEY_SLOTS)
        plain = read_plain_call(message, dialect)
        with await self._calls.take(lane, limit) as slot:
            if plain is not None and (tool := self._tools.get(plain.name)) is not None:
                # Charge and work in one thread: going to another and back costs more than most of what is done here.
                work = partial(self._charge_and_work, exchange, caller, slot, tool, plain.arguments)
                result = await self._run_tool(exchange, slot, work)
                return _result(exchange, message, await self._plain_results.of(message, dialect, result))
            await slot.run(self._charge, exchange, caller)

            async def run_tool(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
                if (tool := self._tools.get(name)) is None:
                    raise MCPError(INVALID_PARAMS, "No tool has this name. See tools/list.")
                return await self._run_tool(exchange, slot, partial(self._work, tool, caller, arguments))

            return await self._dispatch(exchange, message, dialect, run_tool)

    def _charge(self, exchange: Exchange, caller: Caller) -> None:
        """Take a unit of the caller's allowance, in a thread, and note what is left for the answer."""
        try:
            charge = self._access.charge(caller)
        except QuotaExhausted as error:
            if caller.is_guest:
                exchange.quota = _quota_headers(int(str(error.details["limit"])), 0)
            raise
        if caller.is_guest:
            exchange.quota = _quota_headers(charge.limit, charge.remaining)

    def _charge_and_work(
        self, exchange: Exchange, caller: Caller, slot: Slot, tool: Tool, arguments: Mapping[str, Any]
    ) -> tuple[str, str | None]:
        self._charge(exchange, caller)
        if slot.is_over:
            raise too_late()
        return self._work(tool, caller, arguments)

    async def _run_tool(self, exchange: Exchange, slot: Slot, work: Work) -> dict[str, Any]:
        try:
            text, exchange.mode = await slot.run(work)
        except (Unavailable, QuotaExhausted):
            raise
        except (InvalidInput, FeedbackClosed) as error:
            return _error_result(exchange, error)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets our envelope and the log its place
            eventlog.write_defect(error)
            return _error_result(exchange, InternalError("The call failed. The failure has been noted."))
        return _text_result(text, is_error=False)

    def _work(self, tool: Tool, caller: Caller, arguments: Mapping[str, Any]) -> tuple[str, str | None]:
        """Run a tool, in a thread, and return its answer's text and the retrieval mode it tells."""
        if not tool.read_only:
            # Only what would be kept counts towards the allowance for what is kept.
            parse_arguments(tool.request, arguments)
            self._access.charge_feedback(caller)
        answer = self._call(tool.name, arguments)
        retrieval = answer.get("retrieval")
        return serialise(answer), str(retrieval["mode"]) if isinstance(retrieval, Mapping) else None

    async def _dispatch(self, exchange: Exchange, message: Message, dialect: Dialect, run_tool: Any) -> Reply:
        try:
            result = await self._server.answer(message, dialect, run_tool)
        except AppError:
            raise
        except Exception as error:  # noqa: BLE001 - as above, for the protocol layer
            return _protocol_error(exchange, message, dialect, error)
        return _result(exchange, message, result)


async def _no_tool(_name: str, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    raise MCPError(INVALID_PARAMS, "Not a tool call.")


def _result(exchange: Exchange, message: Message, result: Mapping[str, Any]) -> Reply:
    return _framed(exchange, {"jsonrpc": "2.0", "id": message.id, "result": result}, HTTPStatus.OK)


def _framed(exchange: Exchange, body: Mapping[str, Any], status: int) -> Reply:
    """Return an answer framed for its reader: an event up to 2025-11-25, JSON since, unless that is not accepted."""
    modern = exchange.dialect is not None and exchange.dialect.modern
    if modern and (status != HTTPStatus.OK or gate.admits(exchange.headers.every("accept"), replies.JSON.decode())):
        return replies.json_reply(status, body)
    return replies.event_reply(body)


def _protocol_error(exchange: Exchange, message: Message, dialect: Dialect, error: Exception) -> Reply:
    """Return the JSON-RPC error for what went wrong in the protocol layer. Only our own and fixed texts are told."""
    code, text = INTERNAL_ERROR, "Internal error."
    if isinstance(error, ValidationError):
        code, text = INVALID_PARAMS, "Invalid request parameters."
    elif isinstance(error, MCPError):
        code, text = (
            error.error.code,
            "Method not found." if error.error.code == METHOD_NOT_FOUND else error.error.message,
        )
    if code == INTERNAL_ERROR:
        eventlog.write_defect(error)
    exchange.reason = f"rpc{code}"
    status = ERROR_CODE_HTTP_STATUS.get(code, 200) if dialect.modern else 200
    return _framed(exchange, replies.error_body(message.id, code, text), status)


def _error_result(exchange: Exchange, error: AppError) -> dict[str, Any]:
    exchange.reason = error.code
    return _text_result(serialise(error.envelope()), is_error=True)


def _text_result(text: str, *, is_error: bool) -> dict[str, Any]:
    # One text and no structured copy of it: clients that see both drop the text or count it twice.
    return {"resultType": "complete", "content": [{"type": "text", "text": text}], "isError": is_error}


def _refuse(exchange: Exchange, refused: replies.Refused) -> Reply:
    exchange.reason = refused.reason
    known = exchange.message.id if exchange.message else None
    return refused.reply(refused.request_id if isinstance(refused, jsonrpc.BadEnvelope) else known)


def _with_jitter(error: AppError) -> replies.Refused:
    delay = secrets.randbelow(_JITTER_SECONDS + 1) if isinstance(error, QuotaExhausted) else 0
    return replies.refusal(error, delay=delay)


def _quota_headers(limit: int, remaining: int) -> list[Header]:
    return [(b"x-guest-quota-limit", str(limit).encode()), (b"x-guest-quota-remaining", str(remaining).encode())]
