"""An agent pays for every token, so a record says one thing and stops."""

from __future__ import annotations

from collections.abc import Iterator

from app.contract import Detail, count_tokens, serialise
from app.record import Record
from review.cards import card
from review.gates import Context, Finding, Gate, error

BRIEF_TOKENS = 350
FULL_TOKENS = 1500


def check(record: Record, _context: Context) -> Iterator[Finding]:
    """The brief card and the full record fit their budgets, counted on the JSON that is sent."""
    brief = count_tokens(serialise(card(record, Detail.BRIEF)))
    if brief > BRIEF_TOKENS:
        yield error(
            f"the brief card takes {brief} tokens of {BRIEF_TOKENS}",
            f"cut about {(brief - BRIEF_TOKENS) * 3} bytes from recommendation, conditions or title",
            at="recommendation",
        )
    full = count_tokens(serialise(card(record, Detail.FULL)))
    if full > FULL_TOKENS:
        yield error(
            f"the full record takes {full} tokens of {FULL_TOKENS}",
            f"cut about {(full - FULL_TOKENS) * 3} bytes, first from examples, or split the decision in two",
            at="examples",
        )


GATE = Gate("brevity", f"A brief card fits {BRIEF_TOKENS} tokens and a full record {FULL_TOKENS}.", check)
