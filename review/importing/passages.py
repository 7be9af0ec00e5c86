"""Tells apart the decisions that a page states: by its headings, and by bullets where each says what to do.

passages(page) -> list[Passage]     in the order of the page; the same for the same page
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from review.imperatives import Form, first_word_form
from review.importing.reading import Page

_EMPHASIS = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)")
_LINK = re.compile(r"!?\[([^\]\n]{0,200})\]\([^()\s]{0,400}\)")
_FEWEST_RULES = 2


@dataclass(frozen=True)
class Passage:
    """A part of a page that states one decision.

    Attributes:
        title: the heading, or the rule itself.
        text: all of it, as it stands in the page.
        above: the headings it stands under, outermost first.
        first, last: its lines in the file, from 1.
    """

    title: str
    text: str
    above: tuple[str, ...]
    first: int
    last: int


@dataclass
class _Section:
    heading: str
    above: tuple[str, ...]
    start: int
    blocks: list[tuple[int, int]] = field(default_factory=list)
    bullets: list[tuple[int, int]] = field(default_factory=list)


def passages(page: Page) -> list[Passage]:
    """Return the decisions of a page. A section with nothing below its heading states none."""
    return [passage for section in _sections(page) for passage in _of_section(section, page)]


def plain(text: str) -> str:
    """Return a text on one line, without emphasis and with the words of links only."""
    return " ".join(_EMPHASIS.sub("", _LINK.sub(r"\1", text)).split())


def _of_section(section: _Section, page: Page) -> Iterator[Passage]:
    rules = [span for span in section.bullets if _says_what_to_do(_lines(page, span))]
    each = len(rules) >= _FEWEST_RULES and 2 * len(rules) >= len(section.bullets)
    if each:
        above = (*section.above, section.heading) if section.heading else section.above
        for span in section.bullets:
            text = _lines(page, span)
            yield Passage(_rule(text), text, above, page.first + span[0], page.first + span[1] - 1)
        return
    spans = sorted(section.blocks + section.bullets)
    text = "\n".join(page.lines[spans[0][0] : spans[-1][1]]).strip() if spans else ""
    if text:
        title = section.heading or page.head.get("description", "") or page.head.get("name", "") or _rule(text)
        yield Passage(plain(title), text, section.above, page.first + spans[0][0], page.first + spans[-1][1] - 1)


def _sections(page: Page) -> list[_Section]:
    source = "\n".join(page.lines)
    found = [_Section("", (), 0)]
    open_now: list[tuple[int, str]] = []
    # Blocks only, to a depth that the parser bounds: what is inside a line is not needed and may take it long.
    tokens = MarkdownIt("commonmark").disable("inline").parse(source)
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            depth, heading = int(token.tag[1]), plain(tokens[place + 1].content)
            open_now = [one for one in open_now if one[0] < depth]
            found.append(_Section(heading, tuple(name for _, name in open_now), 0))
            open_now.append((depth, heading))
        elif token.map and _is_block(token):
            into = found[-1].bullets if token.type == "list_item_open" else found[-1].blocks
            into.append(_span(token.map, page))
    return found


def _is_block(token: Token) -> bool:
    """Tell what stands by itself: items of a list at the top, and every other block at the top."""
    if token.type == "list_item_open":
        return token.level == 1
    return token.level == 0 and token.type not in ("heading_open", "bullet_list_open", "ordered_list_open", "hr")


def _span(lines: list[int], page: Page) -> tuple[int, int]:
    """Return where a block starts and ends; an item of a list counts the empty lines behind it as its own."""
    start, end = lines
    while end > start + 1 and not page.lines[end - 1].strip():
        end -= 1
    return start, end


def _lines(page: Page, span: tuple[int, int]) -> str:
    return re.sub(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+", "", "\n".join(page.lines[slice(*span)]).strip())


def _rule(text: str) -> str:
    """Return the first sentence of a rule."""
    return re.split(r"(?<=[.;!?])\s", plain(text), maxsplit=1)[0]


def _says_what_to_do(text: str) -> bool:
    return first_word_form(plain(text)) is Form.IMPERATIVE
