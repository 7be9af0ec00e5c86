"""How many different questions found nothing, by what they were about: for the owner, without a word of any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from sqlalchemy import Engine

from app.contract import DegradedReason
from app.store.engine import connected, sql

# A search that lacked something on purpose, or saw the question cut, found what it could; every other reason means
# that it may have missed what is there.
_FOUND_WHAT_IT_COULD = frozenset({DegradedReason.EMBEDDING_DISABLED, DegradedReason.QUESTION_TRUNCATED})


class Aspect(StrEnum):
    """What questions are counted together by."""

    ALL = "all"
    TOPIC = "topic"
    TECHNOLOGY = "technology"
    TOPIC_AND_TECHNOLOGY = "topic_and_technology"
    RECORD = "record"


@dataclass(frozen=True)
class Missed:
    """Different questions of a month that found nothing.

    Attributes:
        month: its first day.
        topic: the topic named; None where none was, or where the aspect is another. Likewise `technology`, `record`.
        questions: how many; a repeated one counts once.
    """

    month: date
    aspect: Aspect
    topic: str | None
    technology: str | None
    record: str | None
    questions: int


def missed_questions(owner: Engine, since: date) -> Sequence[Missed]:
    """Return the counts from a UTC day on, without searches that a failure kept from seeing all. Raises Unavailable."""
    failures = [reason.value for reason in DegradedReason if reason not in _FOUND_WHAT_IT_COULD]
    with connected(owner) as connection:
        rows = connection.execute(sql("missed_questions"), {"since": since, "failures": failures}).all()
    return [Missed(row.month, Aspect(row.aspect), *row[2:]) for row in rows]


def asked_questions(owner: Engine, since: date) -> int:
    """Return how many different questions were asked from a UTC day on, each month's counted. Raises Unavailable."""
    with connected(owner) as connection:
        return int(connection.execute(sql("asked_questions"), {"since": since}).scalar_one())
