"""The three operations, once. Every transport is a thin shell over `OPERATIONS` and `call`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app import feedback, guidance, search
from app.arguments import parse_arguments
from app.contract import FeedbackRequest, GetRequest, Request, SearchRequest
from app.errors import UnknownTool
from app.ports import Catalogue, QueryEmbedder, Signals
from app.ranking import Weights


@dataclass(frozen=True)
class Services:
    """What operations work with; put together in `app.main`.

    Attributes:
        query_hash: keyed hash of a normalised question for statistics (`app.access`).
        feedback_hash: keyed, per-day hash that recognises repeated feedback.
    """

    catalogue: Catalogue
    embedder: QueryEmbedder
    signals: Signals
    query_hash: Callable[[str], bytes]
    feedback_hash: Callable[[str], bytes]
    feedback_daily_cap: int
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Operation:
    """A tool: what it is for, what it takes, and the function that does it."""

    name: str
    title: str
    summary: str
    request: type[Request]
    run: Callable[[Services, Any], dict[str, Any]]
    read_only: bool


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation(
            "search_knowledge",
            "Search engineering guidance",
            "Find reviewed engineering guidance for the decision you are about to make. Ask before you choose a "
            "framework practice, build a security control or accessibility pattern, or settle a testing or "
            "reliability strategy. Returns the few records that apply to your technologies and versions, or mode "
            "no_match when the knowledge base has none: then do not invent any.",
            SearchRequest,
            search.search_knowledge,
            read_only=True,
        ),
        Operation(
            "get_guidance",
            "Get full guidance records",
            "Fetch whole records found by search_knowledge: rationale, exceptions, pitfalls, verification checks, "
            "sources and examples. Read them before you act on a brief result.",
            GetRequest,
            guidance.get_guidance,
            read_only=True,
        ),
        Operation(
            "submit_feedback",
            "Send anonymous feedback",
            "Tell the owner that a record helped, is wrong or outdated, or that one is missing. Anonymous; read by a "
            "person, never used for ranking. Send no code, secrets or personal data.",
            FeedbackRequest,
            feedback.submit_feedback,
            read_only=False,
        ),
    )
}


def call(services: Services, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Run an operation and return its answer as plain JSON values.

    Raises:
        UnknownTool: no operation has this name.
        InvalidInput: an argument breaks the contract.
        FeedbackClosed: today's allowance for feedback is used up.
        Unavailable: the database does not answer in time.
    """
    operation = OPERATIONS.get(name)
    if operation is None:
        raise UnknownTool("No tool has this name.", details={"tools": list(OPERATIONS)})
    return operation.run(services, parse_arguments(operation.request, arguments))
