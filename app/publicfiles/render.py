"""Renders every public file from the contract, the operations and a few facts about the site."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from app import contract
from app.answers import SearchResponse
from app.publicfiles.schemas import api_document, error_codes, limits, tool_reference
from app.relevance import calibrations

PROTOCOLS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
REGISTRY_NAME = "io.github.chatctx/chatctx"
REGISTRY_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

# Files that are also kept in the repository, rendered for the default site.
COMMITTED = ("llms-full.txt", "api.json", "server.json")

_TEXT = "text/plain; charset=utf-8"
_MARKDOWN = "text/markdown; charset=utf-8"
_JSON = "application/json"
_XML = "application/xml"

_DESCRIPTIONS = {
    "/llms.txt": "short index for models",
    "/llms-full.txt": "this whole contract as one text",
    "/docs.md": "the reference as Markdown",
    "/api.json": "JSON Schemas, limits and errors",
    "/agent-instructions.md": "policy to paste into AGENTS.md or a rules file",
    "/mcp.json": "configuration for VS Code, with a key",
    "/server.json": "entry for the MCP registry",
    "/sitemap.xml": "canonical pages",
    "/robots.txt": "crawling policy",
}


@dataclass(frozen=True)
class Site:
    """Facts about the running server that the files state.

    Attributes:
        base: address without a trailing slash, for example `http://127.0.0.1:8080`.
        demo: the served records are a demonstration set that no owner has approved.
        records: number of records served; None in the files kept in the repository.
    """

    base: str = "http://127.0.0.1:8080"
    demo: bool = True
    records: int | None = None
    guest_daily_quota: int = contract.GUEST_DAILY_QUOTA

    @property
    def endpoint(self) -> str:
        """Address of the MCP endpoint."""
        return f"{self.base}/mcp"

    @property
    def standing(self) -> str:
        """Say honestly who vouches for the records."""
        if self.records == 0:
            return "No records were published here when the server started."
        if self.demo:
            return (
                "The records served here are demo records: drafted and checked for a demonstration, signed as such, "
                "and not approved by a human owner."
            )
        return "Every record served here was approved by its owner."


@dataclass(frozen=True)
class PublicFile:
    """A file as it is served."""

    media_type: str
    content: bytes


def render_all(site: Site) -> dict[str, PublicFile]:
    """Return every public file by its path, `/` included."""
    values = _values(site)
    reference = _fill("reference.md", values)
    texts = {
        "/": ("text/html; charset=utf-8", _fill("index.html", {k: html.escape(v) for k, v in values.items()})),
        "/llms.txt": (_TEXT, _fill("llms.txt", values)),
        "/llms-full.txt": (_TEXT, _full_text(reference)),
        "/docs.md": (_MARKDOWN, f"# {contract.SERVER_TITLE}: reference\n\n{reference}"),
        "/api.json": (_JSON, _pretty(api_document(site.endpoint, site.guest_daily_quota))),
        "/agent-instructions.md": (_MARKDOWN, _fill("agent-instructions.md", values)),
        "/mcp.json": (_JSON, _pretty(client_configuration(site.endpoint))),
        "/server.json": (_JSON, _pretty(registry_entry())),
        "/sitemap.xml": (_XML, _sitemap(site.base)),
        "/robots.txt": (_TEXT, f"User-agent: *\nAllow: /\nDisallow: /mcp\nSitemap: {site.base}/sitemap.xml\n"),
    }
    return {path: PublicFile(media_type, text.encode("utf-8")) for path, (media_type, text) in texts.items()}


def client_configuration(endpoint: str) -> dict[str, Any]:
    """Return VS Code's `.vscode/mcp.json`; the key is asked for when it is first used, never written down."""
    asked = {"type": "promptString", "id": "chatctx-key", "description": "chatctx API key", "password": True}
    entry = {"type": "http", "url": endpoint, "headers": {"Authorization": "Bearer ${input:chatctx-key}"}}
    return {"inputs": [asked], "servers": {"chatctx": entry}}


def registry_entry() -> dict[str, Any]:
    """Return `server.json` for the MCP registry: a server that each deployment hosts at its own address."""
    key = {"description": "API key of the form kb_live_...", "isSecret": True, "placeholder": "kb_live_"}
    header = {
        "name": "Authorization",
        "value": "Bearer {api_key}",
        "description": "Leave out to call as a guest.",
        "isRequired": False,
        "isSecret": True,
        "variables": {"api_key": key},
    }
    host = {"description": "Host of the deployment.", "isRequired": True}
    return {
        "$schema": REGISTRY_SCHEMA,
        "name": REGISTRY_NAME,
        "title": contract.SERVER_TITLE,
        "description": "Reviewed engineering guidance for coding agents, with versions, evidence and no-match.",
        "version": contract.SERVER_VERSION,
        "remotes": [
            {
                "type": "streamable-http",
                "url": "https://{host}/mcp",
                "variables": {"host": host},
                "headers": [header],
            }
        ],
    }


def _values(site: Site) -> dict[str, str]:
    return {
        "title": contract.SERVER_TITLE,
        "base": site.base,
        "endpoint": site.endpoint,
        "standing": site.standing,
        "server_name": contract.SERVER_NAME,
        "protocols": ", ".join(PROTOCOLS),
        "guest_daily_quota": str(site.guest_daily_quota),
        "body_max_bytes": str(contract.BODY_MAX_BYTES),
        "tools": tool_reference(),
        "degraded_reasons": ", ".join(f"`{reason}`" for reason in contract.DegradedReason),
        "error_codes": ", ".join(f"`{code}`" for code in error_codes()),
        "limits": "\n".join(f"| {name} | {value} |" for name, value in limits(site.guest_daily_quota)),
        "search_example": _example_answer(),
        "error_rates": _error_rates(),
        "brief_tokens": f"{contract.BRIEF_ANSWER_TOKENS:,}",
        "client_configuration": _pretty(client_configuration(site.endpoint)).rstrip(),
        "files": "\n".join(f"| `{path}` | {text} |" for path, text in _DESCRIPTIONS.items()),
    }


def _error_rates() -> str:
    """State what the relevance gate does with questions it was not fitted on, without and with technologies named."""
    ways = [next(iter(calibrations().values())).measured["test"][way] for way in ("plain", "named")]
    answered, right, elsewhere, near, undoubted = (
        " and ".join(f"{rates[name]:.0%}" for rates in ways)
        for name in (
            "answered",
            "right_record_in_the_answer",
            "answered_elsewhere",
            "answered_near_topic",
            "undoubted_near_topic",
        )
    )
    return (
        f"of the questions that a record answers {answered} get an answer (without and with technologies named) and "
        f"{right} one with the right record; of those about something else {elsewhere} get one; of those about a "
        f"technology that is covered and a matter that is not {near}, and {undoubted} without a word of doubt in "
        "`suggestions`"
    )


def _fill(name: str, values: Mapping[str, str]) -> str:
    template = files("app.publicfiles").joinpath("templates", name).read_text("utf-8")
    return Template(template).substitute(values)


def _full_text(reference: str) -> str:
    heading = f"{contract.SERVER_TITLE}: the whole contract, for language models"
    return f"{heading}\n{'=' * len(heading)}\n\nPlain text, complete: nothing else needs to be fetched.\n\n{reference}"


def _pretty(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _sitemap(base: str) -> str:
    pages = ("/", "/docs.md", "/llms-full.txt")
    entries = "".join(f"<url><loc>{html.escape(base + path)}</loc></url>" for path in pages)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{namespace}">{entries}</urlset>\n'


def _example_answer() -> str:
    """Return the shape of an answer; the contract's response model is the test of it."""
    answer = {
        "query_summary": "implementation · React",
        "results": [
            {
                "id": "uuid",
                "slug": "kebab-case-name",
                "title": "text",
                "topic": "implementation",
                "summary": "text, standard only",
                "recommendation": "text",
                "rationale": "text, standard only",
                "applies_to": [{"kind": "framework", "name": "React", "version_constraint": ">=16.8"}],
                "conditions": ["text"],
                "exceptions": [],
                "pitfalls": [],
                "verification_checks": [],
                "confidence": "high",
                "updated_at": "2026-11-30",
                "sources": [{"title": "text", "url": "https://...", "relation": "supports"}],
                "applicability": [
                    {"technology": "React", "version": "18.2", "verdict": "applies", "constraint": ">=16.8"}
                ],
                "omitted": ["exceptions", "pitfalls", "verification_checks"],
            }
        ],
        "retrieval": {
            "mode": "hybrid",
            "degraded": False,
            "embedding_provider": "onnx",
            "embedding_cache": "miss",
            "total_candidates": 20,
            "technology_filter_fallback": False,
            "truncated": False,
            "tokens_used": 412,
            "dropped": [],
        },
        "suggestions": [],
    }
    return _pretty(SearchResponse.model_validate(answer).model_dump(mode="json", exclude_none=True)).rstrip()
