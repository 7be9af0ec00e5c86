"""The file a new record starts from: it can be parsed as it stands, and the gates name what is still to be written."""

from __future__ import annotations

from datetime import date
from string import Template

# A record that still holds this is refused.
PLACEHOLDER = "TODO:"

_TEXT = Template("""\
---
confidence: medium
updated: $today
task_types: [build]
# Leave applies_to out for guidance that holds in any technology. Give a constraint whenever the version matters:
# applies_to:
#   - kind: library
#     name: SQLAlchemy
#     version_constraint: ">=2.0"
#     scheme: pep440
symptoms:
  - "TODO: the problem as somebody who has it would type it"
  - "TODO: the error message, or what is seen on the screen"
  - "TODO: the question of somebody who does not know the answer"
sources:
  - title: "TODO: title of the page"
    url: "https://example.com/TODO"
    publisher: "TODO: vendor"
    licence: "CC-BY-4.0"
    authority: primary
    relation: supports
    locator: "TODO: heading or anchor"
    retrieved: $today
    evidence_kind: paraphrase
    evidence_excerpt: "TODO: one sentence in our own words, what the source says there."
# A proof that runs, with its files in $slug.checks/:
# checks:
#   - id: short-name
#     claim: "What it proves, in a sentence"
#     runner: python
#     right: right.py
#     wrong: wrong.py
#     wrong_shows: "text of the failure the record warns of"
#     packages: ["pydantic==1.10.26", "pydantic==2.12.5"]
---

# TODO: $title

## Summary
TODO: one or two sentences, the decision and what it protects.

## Recommendation
TODO: what to do, starting with a verb, so that it can be acted on as it stands.

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


def skeleton(slug: str, today: date) -> str:
    """Return the text of a new record file."""
    return _TEXT.substitute(slug=slug, title=slug.replace("-", " "), today=today.isoformat())
