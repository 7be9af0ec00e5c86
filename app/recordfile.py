"""The record file: Markdown with YAML front matter for data and fixed sections for prose.

Parsing is strict. Every refusal names the file, the line and the remedy, because it is read by the person who is
writing.
"""

from __future__ import annotations

import codecs
import difflib
import errno
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.errors import RecordError
from app.frontmatter import front_matter_end, line_of, parse_front_matter
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
_FENCE = re.compile(r"^(`{3,}|~{3,})")


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
    """Read a record and its check files from `<topic>/<slug>.md`. Links are not followed.

    Raises:
        RecordError: the file, or a check file it names, cannot be read or breaks the format.
    """
    record = parse_record(_read_text(path), path)
    fixtures = _read_fixtures(path, record)
    return RecordFile(path, record, fixtures, content_hash(record, fixtures))


def record_paths(folder: Path) -> list[Path]:
    """Return what stands where records stand, `<topic>/<name>.md`, in the order of topic and slug."""
    return sorted(folder.glob("*/*.md"))


def stray_paths(folder: Path) -> list[Path]:
    """Return files that look like records and lie where none is read, so that nobody waits for them to be served."""
    looks = (path for path in folder.rglob("*") if path.suffix.lower() in (".md", ".markdown"))
    return sorted(path for path in looks if path.parent.parent != folder or path.suffix != ".md")


def parse_record(text: str, path: Path) -> Record:
    """Parse the text of a record; slug and topic come from the path.

    Raises:
        RecordError: with `details["file"]` and `details["line"]`.
    """
    if "\r" in text:
        raise RecordError.at(
            path, text.count("\n", 0, text.index("\r")) + 1, "line ends are not Unix's: save with LF alone"
        )
    if unicodedata.normalize("NFC", text) != text:
        raise RecordError.at(path, 1, "text is not in Unicode normal form NFC: save it normalised")
    lines = text.split("\n")
    end = front_matter_end(lines, path)
    data = parse_front_matter("\n".join(lines[1:end]), path)
    title, sections = _body(lines, end + 1, path)
    fields: dict[str, Any] = dict(data)
    fields |= {"slug": path.stem, "topic": path.parent.name, "title": title}
    for section in sections:
        fields |= _section_value(section, path)
    return _validated(fields, data, path)


def _validated(fields: dict[str, Any], data: Any, path: Path) -> Record:
    if path.parent.name not in set(Topic):
        raise RecordError.at(path, 1, f"folder is not a topic: move the file into one of {', '.join(Topic)}")
    if not is_slug(path.stem):
        raise RecordError.at(path, 1, "file name is not a slug: use lower-case words joined by single hyphens")
    try:
        return Record.model_validate_json(_as_json(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "record"
        raise RecordError.at(path, line_of(data, first["loc"]), f"{place}: {first['msg']}") from error
    except ValueError as error:
        raise RecordError.at(path, 2, "front matter holds a value that cannot be read: write plain values") from error


def _as_json(fields: dict[str, Any]) -> bytes:
    """Serialise plain YAML values; strict JSON validation then refuses a number where text is due."""
    from pydantic_core import to_json  # noqa: PLC0415 - kept beside its only use

    return to_json(fields)


def _read_text(path: Path) -> str:
    content = _read_plain(path, path, MAX_FILE_BYTES, "split the decision in two")
    if content.startswith(codecs.BOM_UTF8):
        raise RecordError.at(path, 1, "starts with a byte order mark: save the file as UTF-8 without one")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RecordError.at(path, line, "not UTF-8: save the file as UTF-8") from error


def _read_plain(file: Path, path: Path, limit: int, remedy: str) -> bytes:
    """Read a regular file that is no link: a link could bring any file of the reader's into a record or a check."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RecordError.at(path, 1, f"{file.name} is not a plain file: replace it by one")
            content = opened.read(limit + 1)
    except OSError as error:
        what = (
            "is a link: replace it by the file" if error.errno == errno.ELOOP else f"cannot be read: {error.strerror}"
        )
        raise RecordError.at(path, 1, f"{file.name} {what}") from error
    if len(content) > limit:
        raise RecordError.at(path, 1, f"{file.name} is larger than {limit} bytes: {remedy}")
    return content


def _read_fixtures(path: Path, record: Record) -> dict[str, bytes]:
    folder = path.with_suffix(".checks")
    if folder.is_symlink():
        raise RecordError.at(path, 1, f"{folder.name} is a link: replace it by the folder")
    named = {name for check in record.checks for name in (check.right, check.wrong) if name}
    present = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    for name in sorted(named - present):
        raise RecordError.at(path, 1, f"check file {folder.name}/{name} is missing: add it or remove the check")
    for name in sorted(present - named):
        raise RecordError.at(path, 1, f"{folder.name}/{name} belongs to no check: name it in `checks` or delete it")
    limit, remedy = MAX_FIXTURE_BYTES, "prove less in it"
    return {name: _read_plain(folder / name, path, limit, remedy) for name in sorted(named)}


def _body(lines: list[str], start: int, path: Path) -> tuple[str, list[_Section]]:
    title: str | None = None
    sections: list[_Section] = []
    for number, line, fenced in _outside_fences(lines, start, path):
        if not fenced and line.startswith("# "):
            if title is not None:
                raise RecordError.at(path, number, "second title: a record has one `# ` heading")
            title = line[2:].strip()
        elif not fenced and line.startswith("## "):
            sections.append(_new_section(line[3:].strip(), number, sections, path))
        elif sections:
            sections[-1].lines.append(line)
        elif line.strip():
            raise RecordError.at(path, number, "text outside a section: put it under a `## ` heading")
    if title is None:
        raise RecordError.at(path, start + 1, "no title: add a `# ` heading after the front matter")
    _require_sections(sections, path)
    return title, sections


def _outside_fences(lines: list[str], start: int, path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield each line with its number, and whether it is inside a code fence."""
    fence, opened = "", start
    for number, line in enumerate(lines[start:], start=start + 1):
        match = _FENCE.match(line)
        opens = match is not None and not fence
        yield number, line, bool(fence) or opens
        if match and opens:
            fence, opened = match[1], number
        elif match and line.rstrip() == fence:
            fence = ""
    if fence:
        raise RecordError.at(path, opened, f"code fence is not closed: end it with a line `{fence}`")


def _new_section(name: str, number: int, before: list[_Section], path: Path) -> _Section:
    if name not in SECTIONS:
        near = difflib.get_close_matches(name, SECTIONS, 1)
        hint = f"did you mean `## {near[0]}`?" if near else f"allowed are {', '.join(SECTIONS)}"
        raise RecordError.at(path, number, f"unknown heading: {hint}")
    if before and SECTIONS.index(before[-1].name) >= SECTIONS.index(name):
        raise RecordError.at(
            path, number, f"`## {name}` is out of order or repeated: the order is {', '.join(SECTIONS)}"
        )
    return _Section(name, number, [])


def _require_sections(sections: list[_Section], path: Path) -> None:
    present = {section.name for section in sections}
    for name in ("Summary", "Recommendation", "Rationale", "Pitfalls", "Verification checks"):
        if name not in present:
            raise RecordError.at(path, 1, f"section `## {name}` is missing: add it")


def _section_value(section: _Section, path: Path) -> dict[str, Any]:
    if section.name in _LISTS:
        return {_LISTS[section.name]: _bullets(section, path)}
    text = "\n".join(section.lines).strip()
    if section.name != "Examples":
        text = " ".join(text.split())
    if not text:
        raise RecordError.at(path, section.line, f"`## {section.name}` is empty: write it or leave the heading out")
    return {_PROSE[section.name]: text}


def _bullets(section: _Section, path: Path) -> list[str]:
    bullets: list[str] = []
    for number, line in enumerate(section.lines, start=section.line + 1):
        if line.startswith("- "):
            bullets.append(line[2:].strip())
        elif line.startswith("  ") and bullets and line.strip():
            bullets[-1] += " " + line.strip()
        elif line.strip():
            raise RecordError.at(path, number, f"`## {section.name}` holds only `- ` bullets: start the line with `- `")
    if not bullets:
        raise RecordError.at(path, section.line, f"`## {section.name}` is empty: write it or leave the heading out")
    return bullets
