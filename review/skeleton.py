"""The file a new record starts from: it can be parsed as it stands, and the gates name what is still to be written.

render(Draft(slug, ...), today) -> str     what is known is filled in, the rest holds PLACEHOLDER
known_source(url) -> DraftSource           with what the list of publishers knows of the address, and no more
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from string import Template

from app.record import AppliesTo, Authority, Confidence, TaskType
from review.publishers import PUBLISHERS, publisher_of

# A record that still holds this is refused.
PLACEHOLDER = "TODO:"
# It has the form of a licence and is on no list, so that the license gate refuses it until it is looked up.
UNKNOWN_LICENCE = "LicenseRef-TODO"
TITLE_CHARACTERS = 90

_ACT = "what to do, starting with a verb, so that it can be acted on as it stands."
_SYMPTOMS = (
    "the problem as somebody who has it would type it",
    "the error message, or what is seen on the screen",
    "the question of somebody who does not know the answer",
)


@dataclass(frozen=True)
class DraftSource:
    """What is known of a source before it is read. Whose word it is stays secondary until that is known."""

    url: str = "https://example.com/TODO"
    title: str = f"{PLACEHOLDER} title of the page"
    publisher: str = f"{PLACEHOLDER} vendor"
    licence: str = UNKNOWN_LICENCE
    authority: Authority = Authority.SECONDARY


@dataclass(frozen=True)
class Draft:
    """What is known of a record before it is written.

    Attributes:
        recommendation: a text to start from, with its own PLACEHOLDER.
        notes: comments at the head of the file; they are no part of the record.
    """

    slug: str
    title: str = ""
    confidence: Confidence = Confidence.MEDIUM
    task_types: tuple[TaskType, ...] = (TaskType.BUILD,)
    applies_to: tuple[AppliesTo, ...] = ()
    symptoms: tuple[str, ...] = ()
    sources: tuple[DraftSource, ...] = ()
    recommendation: str = ""
    notes: tuple[str, ...] = ()


def skeleton(slug: str, today: date) -> str:
    """Return the text of a new record file of which nothing is known but its name."""
    return render(Draft(slug), today)


def render(draft: Draft, today: date) -> str:
    """Return the text of a new record file."""
    title = draft.title or f"{PLACEHOLDER} {draft.slug.replace('-', ' ')}"
    recommendation = draft.recommendation or f"{PLACEHOLDER} {_ACT}"
    lines = _front_matter(draft, today)
    return "\n".join(lines) + "\n" + _BODY.substitute(title=title, recommendation=recommendation)


def known_source(url: str) -> DraftSource:
    """Return a source with what the list of publishers says of its address: publisher, authority, a single licence."""
    publisher = publisher_of(url, PUBLISHERS)
    if publisher is None:
        return DraftSource(url)
    licence = next(iter(publisher.licences)) if len(publisher.licences) == 1 else UNKNOWN_LICENCE
    return DraftSource(url, publisher=publisher.name, licence=licence, authority=Authority.PRIMARY)


def licence_hint(url: str) -> str:
    """Return in one line what is known of an address, for whoever names it as a source."""
    publisher = publisher_of(url, PUBLISHERS)
    if publisher is None:
        return "Not on the list of publishers: secondary, and its licence is to be looked up."
    offered = " or ".join(sorted(publisher.licences))
    return f"{publisher.name}, primary; " + (f"licence {offered}." if offered else "its licence is to be looked up.")


def _front_matter(draft: Draft, today: date) -> list[str]:
    symptoms = draft.symptoms + tuple(f"{PLACEHOLDER} {hint}" for hint in _SYMPTOMS[len(draft.symptoms) :])
    return [
        "---",
        "# yaml-language-server: $schema=../record.schema.json",
        *(f"# {note}" for note in draft.notes),
        f"confidence: {draft.confidence.value}",
        f"updated: {today.isoformat()}",
        f"task_types: [{', '.join(task.value for task in draft.task_types)}]",
        *(_applies_to(draft.applies_to) if draft.applies_to else [_NO_TECHNOLOGY]),
        "symptoms:",
        *(f"  - {_quoted(symptom)}" for symptom in symptoms),
        "sources:",
        *(line for source in draft.sources or (DraftSource(),) for line in _source(source, today)),
        f"# A proof that runs, with its files in {draft.slug}.checks/:",
        _NO_CHECK,
        "---",
    ]


def _applies_to(entries: Iterable[AppliesTo]) -> list[str]:
    lines = ["applies_to:"]
    for entry in entries:
        lines += [f"  - kind: {entry.kind.value}", f"    name: {_plain(entry.name)}"]
        if entry.version_constraint and entry.scheme:
            lines += [
                f"    version_constraint: {_quoted(entry.version_constraint)}",
                f"    scheme: {entry.scheme.value}",
            ]
    return lines


def _source(source: DraftSource, today: date) -> list[str]:
    return [
        f"  - title: {_quoted(source.title)}",
        f"    url: {_quoted(source.url)}",
        f"    publisher: {_quoted(source.publisher)}",
        f"    licence: {_quoted(source.licence)}",
        f"    authority: {source.authority.value}",
        "    relation: supports",
        f'    locator: "{PLACEHOLDER} heading or anchor"',
        f"    retrieved: {today.isoformat()}",
        "    evidence_kind: paraphrase",
        f'    evidence_excerpt: "{PLACEHOLDER} one sentence in our own words, what the source says there."',
    ]


def _quoted(text: str) -> str:
    """Return a text as YAML in double quotes: JSON's are YAML's."""
    return json.dumps(text, ensure_ascii=False)


def _plain(name: str) -> str:
    return name if name[0].isalpha() and name.replace(".", "").replace(" ", "").isalnum() else _quoted(name)


_NO_TECHNOLOGY = """\
# Leave applies_to out for guidance that holds in any technology. Give a constraint whenever the version matters:
# applies_to:
#   - kind: library
#     name: SQLAlchemy
#     version_constraint: ">=2.0"
#     scheme: pep440"""
_NO_CHECK = """\
# checks:
#   - id: short-name
#     claim: "What it proves, in a sentence"
#     runner: python
#     right: right.py
#     wrong: wrong.py
#     wrong_shows: "text of the failure the record warns of\""""
_BODY = Template("""
# $title

## Summary
TODO: one or two sentences, the decision and what it protects.

## Recommendation
$recommendation

## Rationale
TODO: why it holds, the mechanism and not a slogan, so that a reader can tell when it does not.

## Conditions
- TODO: when the advice applies, or remove this section.

## Exceptions
- TODO: when not to apply it, or remove this section.

## Pitfalls
- TODO: what goes wrong, and how it looks when it does.

## Verification checks
- TODO: a step an agent can carry out, and the result to expect.

## Examples
```
TODO: a short example, or remove this section
```
""")
