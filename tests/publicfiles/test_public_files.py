"""What programs and models read about the server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from app.arguments import parse_arguments
from app.contract import DegradedReason, Mode
from app.operations import OPERATIONS
from app.publicfiles import COMMITTED, Site, render_all
from app.publicfiles.schemas import error_codes, limits
from app.toolschema import input_schema

ROOT = Path(__file__).resolve().parents[2]
SITE = Site(base="https://kb.example.org", demo=False)


@pytest.mark.parametrize("name", COMMITTED)
def test_committed_file_is_what_the_contract_renders(name: str) -> None:
    """A file kept in the repository cannot drift; `chatctx files` writes it anew."""
    assert (ROOT / name).read_bytes() == render_all(Site())[f"/{name}"].content


def test_every_file_of_the_contract_is_there() -> None:
    """All machine-readable files are served, each with its own media type."""
    files = render_all(SITE)
    types = {path: file.media_type.partition(";")[0] for path, file in files.items()}
    assert types == {
        "/": "text/html",
        "/llms.txt": "text/plain",
        "/llms-full.txt": "text/plain",
        "/docs.md": "text/markdown",
        "/api.json": "application/json",
        "/agent-instructions.md": "text/markdown",
        "/mcp.json": "application/json",
        "/server.json": "application/json",
        "/sitemap.xml": "application/xml",
        "/robots.txt": "text/plain",
    }


def test_reference_names_every_tool_argument_limit_mode_and_code() -> None:
    """Whatever code offers, the one-file contract says."""
    text = render_all(SITE)["/llms-full.txt"].content.decode()
    names = [name for operation in OPERATIONS.values() for name in operation.request.model_fields]
    values = [value for _, value in limits()]
    for expected in (*OPERATIONS, *names, *values, *Mode, *DegradedReason, *error_codes()):
        assert expected in text


def test_files_state_the_address_they_are_served_from() -> None:
    """Nothing points to another server than the one that was asked."""
    for path in ("/llms.txt", "/llms-full.txt", "/mcp.json", "/api.json", "/sitemap.xml", "/robots.txt", "/"):
        content = render_all(SITE)[path].content.decode()
        assert "https://kb.example.org" in content
        assert "127.0.0.1" not in content


@pytest.mark.parametrize(
    ("demo", "sentence"), [(True, "not approved by a human owner"), (False, "approved by its owner")]
)
def test_files_say_who_vouches_for_the_records(demo: bool, sentence: str) -> None:
    """A demonstration set is called one, wherever the service describes itself."""
    files = render_all(Site(demo=demo))
    assert all(sentence in files[path].content.decode() for path in ("/", "/llms.txt", "/llms-full.txt", "/docs.md"))


def test_files_state_the_guest_quota_of_this_server() -> None:
    """A quota that the owner set is the one that programs and models read."""
    files = render_all(Site(guest_daily_quota=7))
    for path in ("/", "/llms-full.txt", "/docs.md", "/api.json"):
        text = files[path].content.decode()
        assert "7 tool calls" in text
        assert "250 tool calls" not in text


def test_examples_of_the_api_document_are_valid_calls() -> None:
    """An example that the server would refuse teaches the wrong thing."""
    document = json.loads(render_all(SITE)["/api.json"].content)
    for tool in document["tools"]:
        parse_arguments(OPERATIONS[tool["name"]].request, tool["example"])


def _nodes(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, dict):
        return [schema, *(node for value in schema.values() for node in _nodes(value))]
    return [node for item in schema for node in _nodes(item)] if isinstance(schema, list) else []


@pytest.mark.parametrize("name", OPERATIONS)
def test_input_schema_keeps_to_what_every_client_understands(name: str) -> None:
    """No references, unions or exclusive bounds; unknown arguments are excluded; arrays say what they hold."""
    schema = input_schema(OPERATIONS[name].request)
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    for node in _nodes(schema):
        assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf", "exclusiveMinimum", "exclusiveMaximum", "const"} & set(
            node
        )
        assert node.get("type") != "array" or "items" in node


def test_index_for_models_follows_its_format() -> None:
    """One title, a quoted summary, then sections of links; the optional one last."""
    lines = render_all(SITE)["/llms.txt"].content.decode().splitlines()
    assert [line for line in lines if line.startswith("# ")] == lines[:1]
    assert lines[2].startswith("> ")
    sections = [line for line in lines if line.startswith("## ")]
    assert sections[-1] == "## Optional"
    assert all(re.fullmatch(r"- \[.+\]\(https://\S+\)(: .+)?", line) for line in lines if line.startswith("- "))


def test_site_map_lists_pages_that_exist() -> None:
    """A crawler is sent to served paths only."""
    files = render_all(SITE)
    locations = [
        element.text or ""
        for element in ET.fromstring(files["/sitemap.xml"].content).iter()  # noqa: S314
        if element.tag.endswith("loc")
    ]
    assert locations
    assert all(location.removeprefix(SITE.base) in files for location in locations)


def test_page_escapes_what_is_put_into_it() -> None:
    """Facts about the site cannot become markup."""
    page = render_all(Site(base="https://a.example/<script>"))["/"].content.decode()
    assert "<script>" not in page


def test_registry_entry_has_what_the_registry_demands() -> None:
    """Name with one slash, a short description, a fixed version, a remote with its variables."""
    entry = json.loads(render_all(SITE)["/server.json"].content)
    assert entry["name"].count("/") == 1
    assert len(entry["description"]) <= 100
    assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    assert {"host"} == set(entry["remotes"][0]["variables"])
