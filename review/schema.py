"""The JSON Schema of a record file's front matter, for editors; generated from the record itself.

`python -m review.schema` writes it to `records/record.schema.json`; a test fails while the two differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.record import Record

FILE_NAME = "record.schema.json"
# What the path and the sections give; everything else stands in the front matter.
_ELSEWHERE = frozenset(
    {
        "slug", "topic", "title", "summary", "recommendation", "rationale", "conditions", "exceptions", "pitfalls",
        "verification_checks", "examples",
    }
)  # fmt: skip


def front_matter_schema() -> dict[str, Any]:
    """Return the schema of the YAML at the head of a record file."""
    whole = Record.model_json_schema()
    fields = {name: field for name, field in whole["properties"].items() if name not in _ELSEWHERE}
    definitions = whole["$defs"]
    used = _references({"properties": fields}, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Front matter of a record",
        "description": "Data of a record file; see docs/writing-records.md.",
        "type": "object",
        "additionalProperties": False,
        "properties": fields,
        "required": [name for name in whole["required"] if name in fields],
        "$defs": {name: definitions[name] for name in sorted(used)},
    }


def render_schema() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(front_matter_schema(), indent=2, ensure_ascii=False) + "\n"


def _references(node: Any, definitions: dict[str, Any]) -> set[str]:
    """Return the names of all definitions a schema leads to."""
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).rpartition("/")[2]
        below = _references(definitions[name], definitions) | {name} if name else set()
        return below.union(*(_references(value, definitions) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(_references(item, definitions) for item in node))
    return set()


if __name__ == "__main__":
    (Path(__file__).resolve().parent.parent / "records" / FILE_NAME).write_text(render_schema(), "utf-8")
