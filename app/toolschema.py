"""JSON Schemas of the tools' arguments, in the subset that every client understands."""

from __future__ import annotations

from typing import Any

from app.contract import Request


def input_schema(model: type[Request]) -> dict[str, Any]:
    """Return a tool's input schema in the subset every client understands.

    No `$ref`, no unions, no exclusive bounds; an array that may also be a plain string is shown as the string.
    """
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    portable = _portable(schema, definitions)
    if "topic" in portable["properties"]:
        topic = portable["properties"]["topic"]
        portable["properties"]["topic"] = {**topic["items"], "description": topic["description"]}
    return {"type": "object", **portable, "additionalProperties": False}


def _portable(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_portable(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[1]]
        # Its description is a docstring, written for those who read the code.
        own = {key: value for key, value in target.items() if key != "description"}
        return _portable({**own, **{key: value for key, value in node.items() if key != "$ref"}}, definitions)
    if "anyOf" in node:
        options = [option for option in node["anyOf"] if option != {"type": "null"}]
        rest = {k: v for k, v in node.items() if k not in ("anyOf", "default")}
        return _portable({**options[0], **rest}, definitions)
    kept: dict[str, Any] = {
        key: _portable_entry(key, value, definitions) for key, value in node.items() if _is_wanted(key, node)
    }
    if kept.get("type") == "object" and "maxLength" in kept:  # pydantic's word for a map's size is not JSON Schema's
        kept["maxProperties"] = kept.pop("maxLength")
    return kept


def _portable_entry(key: str, value: Any, definitions: dict[str, Any]) -> Any:
    if key == "properties":
        return {name: _portable(entry, definitions) for name, entry in value.items()}
    return _portable(value, definitions)


def _is_wanted(key: str, node: dict[str, Any]) -> bool:
    """Drop generated titles, class docstrings, and what only repeats the absence of an argument or of a rule."""
    if key == "title":
        return False
    if key == "description":
        return "properties" not in node
    if key == "minLength":
        return bool(node[key])
    return key != "propertyNames" and not (key == "default" and node[key] in ([], {}, None))
