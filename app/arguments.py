"""Reading a tool's arguments: validation that names the field and the rule, and never repeats what was sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from app.contract import Request
from app.errors import InvalidInput

FIELD_ERRORS_MAX = 5
# An argument's name longer than this is not a name; the longest of ours has 12 characters.
_NAME_MAX_CHARACTERS = 40

Arguments = TypeVar("Arguments", bound=Request)


def parse_arguments(model: type[Arguments], arguments: Mapping[str, Any]) -> Arguments:
    """Validate a tool's arguments. One that may be left out may also be null, as some clients write what is absent.

    Raises:
        InvalidInput: `details["fields"]` names up to FIELD_ERRORS_MAX fields with the rule each breaks. No value that
            was sent is ever repeated, and an unknown argument is named only where its name is a plain word.
    """
    try:
        return model.model_validate(_without_absent(model, arguments))
    except ValidationError as error:
        fields = [_field_error(entry, model) for entry in error.errors(include_url=False, include_input=False)]
    unique = list({(entry["field"], entry["rule"]): entry for entry in fields}.values())
    named = ", ".join(dict.fromkeys(entry["field"] for entry in unique[:FIELD_ERRORS_MAX]))
    raise InvalidInput(
        f"Invalid arguments: {named}. See details.fields for the rule each one breaks.",
        details={"fields": unique[:FIELD_ERRORS_MAX], "allowed": sorted(model.model_fields)},
    )


def _without_absent(model: type[Request], arguments: Mapping[str, Any]) -> dict[str, Any]:
    optional = _optional(model)
    return {name: value for name, value in arguments.items() if value is not None or name not in optional}


@cache
def _optional(model: type[Request]) -> frozenset[str]:
    return frozenset(name for name, field in model.model_fields.items() if not field.is_required())


def _field_error(entry: Any, model: type[Request]) -> dict[str, str]:
    location = entry["loc"]
    if entry["type"] == "extra_forbidden":
        return {"field": _safe_name(str(location[0])), "rule": "unknown argument"}
    field = str(location[0]) if location else "arguments"
    place = "".join(f"[{part}]" for part in location[1:] if isinstance(part, int))
    rule = (
        f"must be one of {_choices(entry)}"
        if "expected" in entry.get("ctx", {})
        else entry["msg"].removeprefix("Value error, ")
    )
    return {"field": (field if field in model.model_fields else "arguments") + place, "rule": rule}


def _choices(entry: Any) -> str:
    """Return the allowed words from pydantic's "expected" text, without Python's notation for enum members."""
    return re.sub(r"<\w+\.\w+: ('[^']*')>", r"\1", entry["ctx"]["expected"])


def _safe_name(name: str) -> str:
    """Return an argument's name if it looks like one; a caller's text must not come back as a field name."""
    return (
        name
        if len(name) <= _NAME_MAX_CHARACTERS and name.isascii() and name.replace("_", "").isalnum()
        else "(unknown argument)"
    )
