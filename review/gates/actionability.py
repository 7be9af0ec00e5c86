"""A record can be acted on as it stands, and one can tell whether it was."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.record import Record
from review.gates import Context, Finding, Gate, error, warning
from review.imperatives import Form, first_word_form
from review.prose import all_texts
from review.skeleton import PLACEHOLDER

_VAGUE = re.compile(
    r"""\b(?: make\ sure\ (?:it|that\ (?:it|everything))\ (?:works|is\ (?:correct|fine|ok))
          | test\ (?:it|this|thoroughly|everything|well)\b
          | (?:works?|behaves?|functions?)\ (?:correctly|as\ expected|properly|well|fine)
          | (?:check|verify|ensure|confirm)\ (?:that\ )?(?:everything|all|it)\ (?:is\ )?
            (?:works?|correct|ok|fine|good|right)
          | best\ practices?\b | as\ (?:appropriate|needed|necessary) | etc\. )""",
    re.IGNORECASE | re.VERBOSE,
)
_EVIDENCE = re.compile(r"`[^`]+`|\d|[\"“][^\"”]+[\"”]")
_RESULT = re.compile(
    r""":\s | \b(?:returns?|shows?|lists?|prints?|fails?|passes|raises?|throws?|reports?|stays?|remains?|finds?|gives?
        |answers?|contains?|equals?|matches|ends?|exits?|is|are|has|have|no|none|nothing|never|each|every|must|still
        |appears?|moves?|announces?|reads?|changes?|receives?|keeps?|arrives?|closes?|refuses?|rejects?|succeeds?|works
        |increases?|decreases?|logs?|expect)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK = re.compile(r"^(?:consider|try|think about|be careful|be aware|remember|maybe|perhaps)\b", re.IGNORECASE)


def check(record: Record, _context: Context) -> Iterator[Finding]:
    """The recommendation starts with a verb and the verification checks can be carried out."""
    unwritten = [piece.field for piece in all_texts(record) if PLACEHOLDER in piece.text]
    if unwritten:
        yield error(
            f"still to be written: {', '.join(unwritten)}",
            f"replace every `{PLACEHOLDER}` of the skeleton",
            waivable=False,
            at=unwritten[0],
        )
    yield from _opening("recommendation", record.recommendation)
    title = first_word_form(record.title)
    if title is Form.OTHER:
        yield warning("the title does not start with a verb", "say what to do, not what it is about", at="title")
    for place, text in enumerate(record.verification_checks, start=1):
        yield from _check_findings(place, text)
    if not any(_EVIDENCE.search(text) for text in record.verification_checks):
        yield error(
            "no verification check names a command, a value or an output",
            "give at least one step an agent can carry out, and what to expect",
            at="verification_checks",
        )


def _opening(field: str, text: str) -> Iterator[Finding]:
    form = first_word_form(text)
    if _WEAK.match(text):
        yield error(
            f"the {field} only asks to consider something",
            "say what to do; doubts belong to Conditions and Exceptions",
            at=field,
        )
    elif form is Form.OTHER:
        yield error(
            f"the {field} does not start with a verb in the imperative",
            "begin with what to do: Use, Set, Write ...",
            at=field,
        )
    elif form is Form.UNKNOWN:
        yield warning(
            f"the {field}'s first word is not a known verb",
            "begin with a verb, or add it to review/imperatives.py",
            at=field,
        )


def _check_findings(place: int, text: str) -> Iterator[Finding]:
    vague, at = _VAGUE.search(text), f"verification_checks {place}"
    if vague and not _EVIDENCE.search(text):
        yield error(
            f"verification check {place} is vague ({vague[0]!r})", "name the step and the result to expect", at=at
        )
    elif not (_EVIDENCE.search(text) or _RESULT.search(text)):
        yield warning(
            f"verification check {place} does not say what to expect", "add the result that shows success", at=at
        )


GATE = Gate(
    "actionability", "The recommendation starts with a verb; the verification checks can be carried out.", check
)
