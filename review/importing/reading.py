"""Reads what is to be imported: a file of any origin, which may be anything and mean harm.

read_page(path, kind) -> Page     plain text with its head apart; Refused for what is no text of a sane size
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from review.errors import Refused

MAX_BYTES = 262_144
# `---`, lines, `---`: no more of it is read than `key: text`, so that no YAML of a stranger's is ever parsed.
_KEY = re.compile(r"([A-Za-z][\w-]{0,40}):(?:[ \t]+(.*))?")
_MOST_KEYS = 40
_BLOCK = frozenset({">", "|", ">-", "|-", ">+", "|+"})


class Kind(StrEnum):
    """What sort of page it is."""

    CURSOR = "cursor"
    SKILL = "skill"
    AGENTS = "agents"
    MARKDOWN = "markdown"


@dataclass(frozen=True)
class Page:
    """A page as it was read.

    Attributes:
        name: the file's name, printable.
        head: what stands in its front matter as plain `key: text`.
        lines: the rest, with the number of the first one.
    """

    name: str
    kind: Kind
    head: dict[str, str]
    lines: tuple[str, ...]
    first: int


def read_page(path: Path, kind: Kind | None = None) -> Page:
    """Read a page; without a kind, what its name says. Raises Refused for what is no text of up to MAX_BYTES."""
    content = _read(path)
    if b"\0" in content:
        raise Refused("The file is binary: import takes text.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("The file is not UTF-8: save it as UTF-8.") from None
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = text.split("\n")
    end = _head_end(lines)
    head = _head(lines[1:end]) if end else {}
    name = "".join(character if character.isprintable() else "?" for character in path.name)[:80]
    return Page(name, kind or kind_of(path), head, tuple(lines[end + 1 if end else 0 :]), end + 2 if end else 1)


def kind_of(path: Path) -> Kind:
    """Return the kind that a file's name says."""
    name = path.name.casefold()
    if name.endswith(".mdc") or name == ".cursorrules":
        return Kind.CURSOR
    if name == "skill.md":
        return Kind.SKILL
    return Kind.AGENTS if name in ("agents.md", "claude.md", "gemini.md") else Kind.MARKDOWN


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Refused("That is no plain file: name a file of text.")
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise Refused(f"The file cannot be read: {error.strerror}.") from None
    if len(content) > MAX_BYTES:
        raise Refused(f"The file is larger than {MAX_BYTES // 1024} KiB: import it in parts.")
    return content


def _head_end(lines: list[str]) -> int:
    """Return the index of the line that closes the front matter, 0 where there is none."""
    if lines[0].rstrip() != "---":
        return 0
    return next((place for place, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), 0)


def _head(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in lines:
        match = _KEY.fullmatch(line.rstrip())
        if match and len(found) < _MOST_KEYS:
            key = match[1].casefold()
            text = (match[2] or "").strip()
            found.setdefault(key, "" if text in _BLOCK else text.strip("\"'"))
        elif key and line.startswith((" ", "\t")):
            found[key] = f"{found[key]} {line.strip()}".strip()
    return found
