"""The front matter of a record file: YAML 1.2, data only, with the line of every value at hand."""

from __future__ import annotations

import difflib
import io
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

from app.errors import RecordError

# A list of sources or of applies_to, in the front matter's mapping: nothing is deeper.
MAX_DEPTH = 4
_KEYS = frozenset(
    {
        "confidence", "updated", "task_types", "applies_to", "symptoms", "sources", "checks", "supersedes",
        "conflicts_with",
    }
)  # fmt: skip


def front_matter_end(lines: list[str], path: Path) -> int:
    """Return the index of the line that closes the front matter. Raises RecordError."""
    if lines[0] != "---":
        raise RecordError.at(path, 1, "does not start with front matter: begin the file with a line `---`")
    for number, line in enumerate(lines[1:], start=1):
        if line == "---":
            return number
    raise RecordError.at(path, 1, "front matter is not closed: end it with a line `---`")


def parse_front_matter(text: str, path: Path) -> Any:
    """Return the front matter as a mapping that knows its lines (`line_of`). Raises RecordError."""
    loader = YAML(typ="rt", pure=True)
    try:
        _refuse_yaml_tricks(text, path)
        data = loader.load(io.StringIO(text))
    except DuplicateKeyError as error:
        raise RecordError.at(path, _mark_line(error), "a key is given twice: keep one of them") from error
    except MarkedYAMLError as error:
        raise RecordError.at(path, _mark_line(error), f"front matter is not YAML: {error.problem}") from error
    except (YAMLError, ValueError, TypeError, RecursionError) as error:
        # The library lets a date such as 2026-02-31 out as a bare ValueError, without a place.
        raise RecordError.at(
            path, 2, "front matter holds a value that cannot be read, such as a date that does not exist"
        ) from error
    if not isinstance(data, dict):
        raise RecordError.at(path, 2, "front matter is empty: give at least confidence, updated, symptoms and sources")
    _refuse_unknown_keys(data, path)
    _refuse_unquoted_versions(data, path)
    return data


def _refuse_yaml_tricks(text: str, path: Path) -> None:
    """Refuse what data has no need of and a reader would not see through: tags, anchors, aliases, deep nesting."""
    depth = 0
    for event in YAML(typ="rt", pure=True).parse(io.StringIO(text)):
        line = event.start_mark.line + 2
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise RecordError.at(path, line, "nested too deeply: front matter has no more than three levels")
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            raise RecordError.at(path, line, "YAML anchors and aliases are not read: write the value out")
        if getattr(event, "tag", None):
            raise RecordError.at(path, line, "YAML tags are not read: write the plain value")


def _refuse_unknown_keys(data: Any, path: Path) -> None:
    for key in data:
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"allowed are {', '.join(sorted(_KEYS))}"
            raise RecordError.at(path, line_of(data, (key,)), f"unknown key in front matter: {hint}")


def _refuse_unquoted_versions(data: Any, path: Path) -> None:
    entries = data.get("applies_to")
    for place, entry in enumerate(entries if isinstance(entries, list) else []):
        version = entry.get("version_constraint") if isinstance(entry, dict) else None
        if version is not None and not isinstance(version, str):
            line = line_of(data, ("applies_to", place, "version_constraint"))
            raise RecordError.at(path, line, "version_constraint is a number: put it in quotes, 1.10 would become 1.1")


def _mark_line(error: MarkedYAMLError) -> int:
    mark = error.problem_mark
    return int(mark.line) + 2 if mark is not None else 1


def line_of(data: Any, location: tuple[Any, ...]) -> int:
    """Return the file line of a value in the front matter; line 1 when it is not in there."""
    line = 1
    for part in location:
        try:
            marks = data.lc  # of ruamel.yaml's round-trip types only
            position = marks.key(part) if hasattr(data, "keys") else marks.item(part)
            line, data = int(position[0]) + 2, data[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return line
