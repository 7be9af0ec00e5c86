"""MCP without HTTP: the official SDK's registry, asked one request at a time, in both eras of the protocol.

Up to 2025-11-25 a client shakes hands first; since 2026-07-28 every request says for itself what it speaks. The SDK's
registry is shared, nothing else is: each request gets its own connection object and leaves nothing behind. The SDK's
HTTP layer is not used: in its event-stream mode the status leaves before the tool runs, so that neither 401 nor 429
could be sent.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request, unsupported_protocol_version_rejection
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

from app.contract import SERVER_NAME, SERVER_TITLE, SERVER_VERSION, Request
from app.toolschema import input_schema
from app.transports.jsonrpc import Kind, Message

VERSION_HEADER = "mcp-protocol-version"
# Newest first.
SERVED_VERSIONS = sorted((*MODERN_PROTOCOL_VERSIONS, *HANDSHAKE_PROTOCOL_VERSIONS), reverse=True)
# What the protocol says a client without the header speaks.
_UNSAID_VERSION = "2025-03-26"
# Old clients ask for these whatever was advertised, and take "method not found" for a broken server.
_EMPTY_LISTS = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_FRESH_FOR_MS = 3_600_000
_PLAIN_VERSION = re.compile(r"[0-9A-Za-z._-]{1,40}", re.ASCII)

RunTool = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]


class Tool(Protocol):
    """What the protocol layer needs to know of an operation."""

    @property
    def name(self) -> str:
        """Name a client calls it by."""

    @property
    def title(self) -> str:
        """Name shown to people."""

    @property
    def summary(self) -> str:
        """What it is for, told to the model."""

    @property
    def request(self) -> type[Request]:
        """Its arguments."""

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""


@dataclass(frozen=True)
class Dialect:
    """What a client speaks.

    Attributes:
        modern: without a handshake (2026-07-28).
        client: what a modern client says about itself, as it came.
    """

    version: str
    modern: bool
    client: tuple[Any, Any] = (None, None)


class ProtocolRefusal(Exception):
    """A request that the protocol itself refuses, before any method sees it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class McpServer:
    """The tools as an MCP server. Shared by all requests; holds nothing about any of them."""

    def __init__(self, tools: Mapping[str, Tool], instructions: str) -> None:
        self._tools = types.ListToolsResult(tools=[describe(tool) for tool in tools.values()])
        hint = CacheHint(_FRESH_FOR_MS, "public")
        self._server: Server[Any] = Server(
            SERVER_NAME,
            version=SERVER_VERSION,
            title=SERVER_TITLE,
            instructions=instructions,
            on_list_tools=self._list_tools,
            on_call_tool=_call_tool,  # type: ignore[arg-type]  # a dict is a HandlerResult; the constructor's type is narrower
            cache_hints={"tools/list": hint, "server/discover": hint},
        )
        # The SDK's tracing would put exceptions' texts into spans.
        self._server.middleware.clear()

    def instruct(self, instructions: str) -> None:
        """Tell agents this when they connect from now on."""
        self._server.instructions = instructions

    async def answer(self, message: Message, dialect: Dialect, run_tool: RunTool) -> dict[str, Any]:
        """Return the result of a request.

        Raises:
            MCPError, pydantic.ValidationError: the request cannot be served.
            AppError: whatever `run_tool` raises.
        """
        if not dialect.modern and message.method in _EMPTY_LISTS:
            return {_EMPTY_LISTS[message.method]: []}
        # The arguments go round the SDK: it has nothing to do with them, and must not hold, check or log them.
        params = {name: value for name, value in message.params.items() if name != "arguments"}
        call = ToolCall(message.params.get("arguments"), run_tool)
        return await serve_one(
            self._server,
            _Exchange(message.id, ServerMessageMetadata(request_context=call)),
            message.method,
            params,
            connection=Connection.from_envelope(dialect.version, *dialect.client),
            lifespan_state=None,
        )

    async def _list_tools(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise MCPError(INVALID_PARAMS, "There is only one page of tools.")
        return self._tools


@dataclass(frozen=True)
class ToolCall:
    """A tool call's arguments as they came, and what runs the tool."""

    arguments: Any
    run: RunTool


def describe(tool: Tool) -> types.Tool:
    """Return a tool as the protocol describes it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.summary,
        input_schema=input_schema(tool.request),
        annotations=types.ToolAnnotations(read_only_hint=tool.read_only, destructive_hint=False, open_world_hint=False),
    )


def dialect_of(message: Message, headers: Mapping[str, str]) -> Dialect:
    """Return what the sender of a message speaks.

    Raises:
        ProtocolRefusal: it speaks nothing we do, or its headers and its message disagree.
    """
    version = headers.get(VERSION_HEADER)
    if _has_modern_envelope(message):
        return _modern(message, headers)
    if message.method == "initialize" and message.kind is Kind.REQUEST:
        # The version is settled in the message itself; whatever the header says comes too early to matter.
        return Dialect(LATEST_HANDSHAKE_VERSION, modern=False)
    if version is None or version in HANDSHAKE_PROTOCOL_VERSIONS:
        return Dialect(version or _UNSAID_VERSION, modern=False)
    # Who may shake hands is told those versions too. Above, a message that needs no handshake is told what discovery
    # lists: the protocol's own tests want the two to be the same.
    unsupported = unsupported_protocol_version_rejection(version, SERVED_VERSIONS)
    if unsupported is not None:
        raise _refusal(unsupported)
    return _modern(message, headers) if message.kind is Kind.REQUEST else Dialect(version, modern=True)


def _modern(message: Message, headers: Mapping[str, str]) -> Dialect:
    if message.kind is not Kind.REQUEST:
        return Dialect(headers.get(VERSION_HEADER, ""), modern=True)
    verdict = classify_inbound_request({"method": message.method, "params": message.params}, headers=headers)
    if isinstance(verdict, InboundLadderRejection):
        raise _refusal(verdict)
    return Dialect(verdict.protocol_version, modern=True, client=(verdict.client_info, verdict.client_capabilities))


def _has_modern_envelope(message: Message) -> bool:
    meta = message.params.get("_meta")
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta


def _refusal(rejection: InboundLadderRejection) -> ProtocolRefusal:
    data = rejection.data
    if isinstance(data, dict) and not _is_plain(data.get("requested")):
        data = {**data, "requested": "unknown"}
    return ProtocolRefusal(rejection.code, rejection.message, data)


def _is_plain(version: object) -> bool:
    """Tell whether a version may be repeated to the caller, as the protocol asks; text that is no version may not."""
    return isinstance(version, str) and _PLAIN_VERSION.fullmatch(version) is not None


async def _call_tool(
    context: ServerRequestContext[Any, ToolCall], params: types.CallToolRequestParams
) -> dict[str, Any]:
    call = context.request
    if call is None:
        raise MCPError(INVALID_PARAMS, "A tool can only be called over HTTP.")
    arguments = {} if call.arguments is None else call.arguments
    if not isinstance(arguments, dict):
        raise MCPError(INVALID_PARAMS, '"arguments" must be an object.')
    return await call.run(params.name, arguments)


@dataclass
class _Exchange:
    """One request and its one answer, as the SDK wants to see it: there is no way back to the client but the answer."""

    request_id: str | int | None
    message_metadata: MessageMetadata
    transport: TransportContext = field(
        default_factory=lambda: TransportContext(kind="streamable-http", can_send_request=False)
    )
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = field(default=False, init=False)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002 - the SDK's signature
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Refuse: nothing can be asked of the client."""
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Drop it: an answer in one piece has no room for notifications."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Drop it, as `notify` does."""
