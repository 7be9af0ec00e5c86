"""What was asked and not found: counts of different questions, none of which can be told from four others.

read_report(owner, since) -> Report     what the database tells
report(since, counts, ...) -> Report    the same from counts at hand; pure

No word of a question is kept, so none is here. What stands beside the counts is ours: topics, names of technologies
that we know, records that came close. Words about a gap come from callers who sent them, as feedback.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from app.contract import FeedbackCategory
from app.store.engine import Engine
from app.store.gaps import Aspect, Missed, asked_questions, missed_questions
from app.store.signals import FeedbackDesk
from review.feedback import Group, Order, groups

_MOST = 10_000
# Different questions of one month that a row stands for, at least. Hashes of two months cannot be compared, so that
# months are never added up to reach it.
LEAST_QUESTIONS = 5


@dataclass(frozen=True)
class Gap:
    """Questions that found nothing and have something in common.

    Attributes:
        aspect: what they have in common.
        topic: the topic named, None for none, or where the aspect is another.
        technology: canonical name of a technology named, as `topic`.
        record: slug of a record that came close.
        questions: different questions; one asked in two months counts twice.
        latest: first day of the last month with enough of them.
    """

    aspect: Aspect
    topic: str | None
    technology: str | None
    record: str | None
    questions: int
    latest: date


@dataclass(frozen=True)
class Report:
    """Everything the owner learns about what is missing.

    Attributes:
        asked: different questions in all, counted by month.
        unanswered: those of them that found nothing.
        gaps: most questions first within each aspect.
        withheld: rows that are not shown because too few questions stand behind them.
        missing: feedback that says what is missing.
    """

    since: date
    asked: int
    unanswered: int
    gaps: tuple[Gap, ...]
    withheld: int
    missing: tuple[Group, ...] = ()

    def by(self, aspect: Aspect) -> tuple[Gap, ...]:
        """Return the gaps of one aspect."""
        return tuple(gap for gap in self.gaps if gap.aspect is aspect)


def read_report(owner: Engine, since: date) -> Report:
    """Return the report from a UTC day on, with what callers said is missing, most often said first.

    Raises:
        Unavailable: the database does not answer.
    """
    waiting = groups(FeedbackDesk(owner).pending(_MOST), order=Order.MOST)
    missing = [group for group in waiting if group.category == FeedbackCategory.MISSING]
    return report(since, missed_questions(owner, since), asked=asked_questions(owner, since), missing=missing)


def report(since: date, counts: Iterable[Missed], *, asked: int = 0, missing: Iterable[Group] = ()) -> Report:
    """Return what may be told of the counts: rows of at least LEAST_QUESTIONS different questions in a month."""
    months: defaultdict[tuple[Aspect, str | None, str | None, str | None], list[Missed]] = defaultdict(list)
    unanswered = 0
    for count in counts:
        if count.aspect is Aspect.ALL:
            unanswered += count.questions
        else:
            months[count.aspect, count.topic, count.technology, count.record].append(count)
    told = {key: [month for month in row if month.questions >= LEAST_QUESTIONS] for key, row in months.items()}
    gaps = [
        Gap(*key, sum(month.questions for month in row), max(month.month for month in row))
        for key, row in told.items()
        if row
    ]
    return Report(since, asked, unanswered, tuple(sorted(gaps, key=_order)), len(told) - len(gaps), tuple(missing))


def _order(gap: Gap) -> tuple[object, ...]:
    place = list(Aspect).index(gap.aspect)
    return place, -gap.questions, gap.topic or "", gap.technology or "", gap.record or ""
