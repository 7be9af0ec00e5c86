"""The record file: Markdown with YAML front matter for data and fixed sections for prose.

Parsing is strict. Every refusal names the file, the line and the remedy, because it is read by the person who is
writing.
"""

from __future__ import annotations

import difflib
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError

from app.errors import RecordError
from app.record import Record, Topic, content_hash, is_slug

MAX_FILE_BYTES = 32_768
MAX_FIXTURE_BYTES = 16_384

_PROSE = {"Summary": "summary", "Recommendation": "recommendation", "Rationale": "rationale", "Examples": "examples"}
_LISTS = {
    "Conditions": "conditions",
    "Exceptions": "exceptions",
    "Pitfalls": "pitfalls",
    "Verification checks": "verification_checks",
}
SECTIONS = (
    "Summary", "Recommendation", "Rationale", "Conditions", "Exceptions", "Pitfalls", "Verification checks", "Examples",
)  # fmt: skip
_FRONT_MATTER_KEYS = frozenset(
    {
        "confidence", "updated", "task_types", "applies_to", "symptoms", "sources", "checks", "supersedes",
        "conflicts_with",
    }
)  # fmt: skip
_FENCE = re.compile(r"^(```|~~~)")


@dataclass(frozen=True)
class RecordFile:
    """A record as it lies on disk: parsed, with its check files and the hash an approval is given for."""

    path: Path
    record: Record
    fixtures: dict[str, bytes]
    sha256: str


@dataclass
class _Section:
    name: str
    line: int
    lines: list[str]


def read_record(path: Path) -> RecordFile:
    """Read a record and its check files from `<topic>/<slug>.md`.

    Raises:
        RecordError: the file, or a check file it names, cannot be read or breaks the format.
    """
    record = parse_record(_read_text(path), path)
    fixtures = _read_fixtures(path, record)
    return RecordFile(path, record, fixtures, content_hash(record, fixtures))


def record_paths(folder: Path) -> list[Path]:
    """Return the record files below a records folder, in the order of topic and slug."""
    return sorted(path for path in folder.glob("*/*.md") if path.is_file())


def parse_record(text: str, path: Path) -> Record:
    """Parse the text of a record; slug and topic come from the path.

    Raises:
        RecordError: with `details["file"]` and `details["line"]`.
    """
    if unicodedata.normalize("NFC", text) != text:
        raise _refusal(path, 1, "text is not in Unicode normal form NFC: save it normalised")
    lines = text.split("\n")
    end = _front_matter_end(lines, path)
    data = _front_matter("\n".join(lines[1:end]), path)
    title, sections = _body(lines, end + 1, path)
    fields: dict[str, Any] = dict(data)
    fields |= {"slug": path.stem, "topic": path.parent.name, "title": title}
    for section in sections:
        fields |= _section_value(section, path)
    return _validated(fields, data, path)


def _validated(fields: dict[str, Any], data: Any, path: Path) -> Record:
    if path.parent.name not in set(Topic):
        raise _refusal(path, 1, f"folder is not a topic: move the file into one of {', '.join(Topic)}")
    if not is_slug(path.stem):
        raise _refusal(path, 1, "file name is not a slug: use lower-case words joined by single hyphens")
    try:
        return Record.model_validate_json(_as_json(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "record"
        raise _refusal(path, _line_of(data, first["loc"]), f"{place}: {first['msg']}") from error


def _as_json(fields: dict[str, Any]) -> bytes:
    """Serialise plain YAML values; strict JSON validation then refuses a number where text is due."""
    from pydantic_core import to_json  # noqa: PLC0415 - kept beside its only use

    return to_json(fields)


def _read_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _refusal(path, 1, f"cannot be read: {error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        raise _refusal(path, 1, f"larger than {MAX_FILE_BYTES} bytes: split the decision in two")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(path, line, "not UTF-8: save the file as UTF-8") from error


def _read_fixtures(path: Path, record: Record) -> dict[str, bytes]:
    folder = path.with_suffix(".checks")
    named = {name for check in record.checks for name in (check.right, check.wrong) if name}
    present = {entry.name for entry in folder.iterdir() if entry.is_file()} if folder.is_dir() else set()
    for name in sorted(named - present):
        raise _refusal(path, 1, f"check file {folder.name}/{name} is missing: add it or remove the check")
    for name in sorted(present - named):
        raise _refusal(path, 1, f"{folder.name}/{name} belongs to no check: name it in `checks` or delete it")
    fixtures = {name: (folder / name).read_bytes() for name in sorted(named)}
    for name, content in fixtures.items():
        if len(content) > MAX_FIXTURE_BYTES:
            raise _refusal(path, 1, f"{folder.name}/{name} is larger than {MAX_FIXTURE_BYTES} bytes")
    return fixtures


def _front_matter_end(lines: list[str], path: Path) -> int:
    if lines[0] != "---":
        raise _refusal(path, 1, "does not start with front matter: begin the file with a line `---`")
    for number, line in enumerate(lines[1:], start=1):
        if line == "---":
            return number
    raise _refusal(path, 1, "front matter is not closed: end it with a line `---`")


def _front_matter(text: str, path: Path) -> Any:
    loader = YAML(typ="rt", pure=True)
    try:
        data = loader.load(io.StringIO(text))
    except DuplicateKeyError as error:
        raise _refusal(path, _mark_line(error), "a key is given twice: keep one of them") from error
    except MarkedYAMLError as error:
        raise _refusal(path, _mark_line(error), f"front matter is not YAML: {error.problem}") from error
    if not isinstance(data, dict):
        raise _refusal(path, 2, "front matter is empty: give at least confidence, updated, symptoms and sources")
    _refuse_unknown_keys(data, path)
    _refuse_unquoted_versions(data, path)
    return data


def _refuse_unknown_keys(data: Any, path: Path) -> None:
    for key in data:
        if key not in _FRONT_MATTER_KEYS:
            near = difflib.get_close_matches(str(key), _FRONT_MATTER_KEYS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"allowed are {', '.join(sorted(_FRONT_MATTER_KEYS))}"
            raise _refusal(path, _line_of(data, (key,)), f"unknown key in front matter: {hint}")


def _refuse_unquoted_versions(data: Any, path: Path) -> None:
    entries = data.get("applies_to")
    for place, entry in enumerate(entries if isinstance(entries, list) else []):
        version = entry.get("version_constraint") if isinstance(entry, dict) else None
        if version is not None and not isinstance(version, str):
            line = _line_of(data, ("applies_to", place, "version_constraint"))
            raise _refusal(path, line, "version_constraint is a number: put it in quotes, 1.10 would become 1.1")


def _body(lines: list[str], start: int, path: Path) -> tuple[str, list[_Section]]:
    title: str | None = None
    sections: list[_Section] = []
    for number, line, fenced in _outside_fences(lines, start):
        if not fenced and line.startswith("# "):
            if title is not None:
                raise _refusal(path, number, "second title: a record has one `# ` heading")
            title = line[2:].strip()
        elif not fenced and line.startswith("## "):
            sections.append(_new_section(line[3:].strip(), number, sections, path))
        elif sections:
            sections[-1].lines.append(line)
        elif line.strip():
            raise _refusal(path, number, "text outside a section: put it under a `## ` heading")
    if title is None:
        raise _refusal(path, start + 1, "no title: add a `# ` heading after the front matter")
    _require_sections(sections, path)
    return title, sections


def _outside_fences(lines: list[str], start: int) -> Iterator[tuple[int, str, bool]]:
    fence = ""
    for number, line in enumerate(lines[start:], start=start + 1):
        match = _FENCE.match(line)
        opens = match is not None and not fence
        yield number, line, bool(fence) or opens
        if match and opens:
            fence = match[1]
        elif match and line.startswith(fence):
            fence = ""


def _new_section(name: str, number: int, before: list[_Section], path: Path) -> _Section:
    if name not in SECTIONS:
        near = difflib.get_close_matches(name, SECTIONS, 1)
        hint = f"did you mean `## {near[0]}`?" if near else f"allowed are {', '.join(SECTIONS)}"
        raise _refusal(path, number, f"unknown heading: {hint}")
    if before and SECTIONS.index(before[-1].name) >= SECTIONS.index(name):
        raise _refusal(path, number, f"`## {name}` is out of order or repeated: the order is {', '.join(SECTIONS)}")
    return _Section(name, number, [])


def _require_sections(sections: list[_Section], path: Path) -> None:
    present = {section.name for section in sections}
    for name in ("Summary", "Recommendation", "Rationale", "Pitfalls", "Verification checks"):
        if name not in present:
            raise _refusal(path, 1, f"section `## {name}` is missing: add it")


def _section_value(section: _Section, path: Path) -> dict[str, Any]:
    if section.name in _LISTS:
        return {_LISTS[section.name]: _bullets(section, path)}
    text = "\n".join(section.lines).strip()
    if section.name != "Examples":
        text = " ".join(text.split())
    if not text:
        raise _refusal(path, section.line, f"`## {section.name}` is empty: write it or leave the heading out")
    return {_PROSE[section.name]: text}


def _bullets(section: _Section, path: Path) -> list[str]:
    bullets: list[str] = []
    for number, line in enumerate(section.lines, start=section.line + 1):
        if line.startswith("- "):
            bullets.append(line[2:].strip())
        elif line.startswith("  ") and bullets and line.strip():
            bullets[-1] += " " + line.strip()
        elif line.strip():
            raise _refusal(path, number, f"`## {section.name}` holds only `- ` bullets: start the line with `- `")
    if not bullets:
        raise _refusal(path, section.line, f"`## {section.name}` is empty: write it or leave the heading out")
    return bullets


def _mark_line(error: MarkedYAMLError) -> int:
    mark = error.problem_mark
    return int(mark.line) + 2 if mark is not None else 1


def _line_of(data: Any, location: tuple[Any, ...]) -> int:
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


def _refusal(path: Path, line: int, problem: str) -> RecordError:
    where = f"{path.parent.name}/{path.name}"
    return RecordError(f"{where}:{line}: {problem}", details={"file": where, "line": line})
