"""Makes a candidate of each decision a page states: the skeleton of a record, in which nothing counts as written.

candidates(page, topic, taken, known) -> list[Candidate]

The page's words are somebody else's. They stand in the candidate as what is to be told anew, behind the skeleton's
marker, which no gate lets through; a source, a licence or a claim that nobody has looked up is not made up. What the
safety gate holds something against is left out altogether, and the finding is shown instead.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass

from app.record import SLUG_MAX_CHARACTERS, Topic
from app.technologytable import TECHNOLOGIES
from review.answers import slug_of
from review.errors import Refused
from review.gates import Finding, error
from review.gates.safety import text_findings
from review.importing.passages import Passage, passages, plain
from review.importing.reading import Page
from review.prose import ServedText
from review.skeleton import PLACEHOLDER, TITLE_CHARACTERS, Draft

MOST_CANDIDATES = 60
_REWRITE = f"{PLACEHOLDER} tell this in our own words, as a source bears it out: "
_LEFT_OUT = f"{PLACEHOLDER} left out, the safety gate holds something against the text: read it where it came from."
_RECOMMENDATION_CHARACTERS = 480
_CUT = " [...]"
# Nothing longer is one decision, and the gate's patterns are made for texts of a record's length.
_PASSAGE_CHARACTERS = 8_000
_URL = re.compile(r"https://[\x21\x23-\x26\x2a-\x3b\x3d\x3f-\x5b\x5d-\x5f\x61-\x7a\x7c\x7e]{4,200}")
_MOST_LINKS = 5
_MOST_TECHNOLOGIES = 6
_SHORTEST_NAME = 3


@dataclass(frozen=True)
class Candidate:
    """A record that may come of a passage.

    Attributes:
        mark: recognises the passage when it is imported again.
        findings: what the safety gate holds against the passage; its text is left out then.
    """

    topic: Topic
    draft: Draft
    first: int
    last: int
    mark: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Imported:
    """What came of a page.

    Attributes:
        known: lines at which passages start that were imported before.
    """

    candidates: tuple[Candidate, ...]
    known: tuple[int, ...] = ()


def candidates(page: Page, topic: Topic | None, taken: Collection[str], known: str = "") -> Imported:
    """Return a candidate for each decision.

    Args:
        topic: of all; None takes the one that a heading names, else implementation.
        taken: slugs that are in use.
        known: the text of every record there is, in which marks of earlier imports are found.

    Raises:
        Refused: nothing was found, or more than one sitting can look at.
    """
    found = passages(page)
    if not found:
        raise Refused("No decision was found in it: it needs a heading with text below it, or bullets.")
    if len(found) > MOST_CANDIDATES:
        raise Refused(f"It holds {len(found)} decisions, {MOST_CANDIDATES} are the most at once: import it in parts.")
    used, before = set(taken), []
    made: list[Candidate] = []
    for passage in found:
        mark = _mark(passage)
        if mark in known or any(mark == one.mark for one in made):
            before.append(passage.first)
            continue
        candidate = _candidate(passage, page, topic, mark, used)
        used.add(candidate.draft.slug)
        made.append(candidate)
    return Imported(tuple(made), tuple(before))


def _candidate(passage: Passage, page: Page, topic: Topic | None, mark: str, used: set[str]) -> Candidate:
    findings = _findings(passage, page)
    notes = [f"From {_readable(page.name)}, lines {passage.first} to {passage.last} ({mark}). Somebody else's words:"]
    notes.append("tell them anew, look up who says so and under which licence, and delete these comments.")
    title = f"{PLACEHOLDER} tell anew: {_readable(plain(passage.title))}"
    text = _REWRITE + _readable(plain(passage.text))
    if findings:
        title, text = f"{PLACEHOLDER} what to do", _LEFT_OUT
    else:
        notes += _hints(passage)
    draft = Draft(
        _free_slug("" if findings else plain(passage.title), used),
        _cut(title, TITLE_CHARACTERS),
        recommendation=_cut(text, _RECOMMENDATION_CHARACTERS),
        notes=tuple(notes),
    )
    return Candidate(topic or _topic(passage), draft, passage.first, passage.last, mark, findings)


def _findings(passage: Passage, page: Page) -> tuple[Finding, ...]:
    """Hold the whole passage against the safety gate, the headings above and the page's name included."""
    if len(passage.text) > _PASSAGE_CHARACTERS:
        long = f"text: longer than {_PASSAGE_CHARACTERS} characters, which is more than one decision"
        return (error(long, "split it under headings, then import it again"),)
    pieces = {"text": passage.text, "title": passage.title, "headings": " / ".join(passage.above), "file": page.name}
    found = [each for field, text in pieces.items() for each in text_findings(ServedText(field, text))]
    return tuple({finding.message.partition(": ")[2]: finding for finding in found}.values())


def _hints(passage: Passage) -> list[str]:
    """Return what the passage names, for whoever looks it up; nothing of it is taken over."""
    links = list(dict.fromkeys(url.rstrip(".,;:!?") for url in _URL.findall(passage.text)))[:_MOST_LINKS]
    words = " ".join((*passage.above, passage.title, passage.text))
    named = [name for name in TECHNOLOGIES if len(name) >= _SHORTEST_NAME and _names(words, name)]
    hints = [f"It links to {url}" for url in links]
    if named:
        hints.append(f"It names {', '.join(named[:_MOST_TECHNOLOGIES])}: say under applies_to what the advice is for.")
    return hints


def _names(words: str, name: str) -> bool:
    return name in words and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words) is not None


def _topic(passage: Passage) -> Topic:
    """Return the topic that a heading names, the innermost first."""
    for heading in (passage.title, *reversed(passage.above)):
        words = re.findall(r"[a-z]+", heading.casefold())
        named = next((topic for topic in Topic if topic.value in words), None)
        if named:
            return named
    return Topic.IMPLEMENTATION


def _free_slug(title: str, used: Collection[str]) -> str:
    slug = slug_of(title)
    base = slug if len(slug) >= _SHORTEST_NAME else "imported-passage"
    names = (base, *(f"{base[: SLUG_MAX_CHARACTERS - 5].rstrip('-')}-{place}" for place in range(2, 10_000)))
    return next(name for name in names if name not in used)


def _mark(passage: Passage) -> str:
    return "passage " + hashlib.sha256(" ".join(passage.text.split()).encode()).hexdigest()[:16]


def _readable(text: str) -> str:
    """Return a text for a heading, a paragraph or a comment of a record: on one line, and starting none of its own."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(_CUT)].rstrip() + _CUT
