"""A source nobody has looked at for a year is no longer evidence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from app.record import Record
from review.gates import Context, Finding, Gate, error, warning

# The warning comes half a year before the error, so that re-reading can be planned.
WARN_AFTER = timedelta(days=365)
REFUSE_AFTER = timedelta(days=548)
# Authors and servers may be in different time zones.
_TOLERANCE = timedelta(days=1)


def check(record: Record, context: Context) -> Iterator[Finding]:
    """Every source was read within the last year; no date lies in the future."""
    if record.updated > context.today + _TOLERANCE:
        yield error(
            f"`updated` lies in the future: {record.updated}", "write the day the text last changed", at="updated"
        )
    for place, source in enumerate(record.sources, start=1):
        age, at = context.today - source.retrieved, f"source {place} retrieved"
        if age < -_TOLERANCE:
            yield error(
                f"source {place}: `retrieved` lies in the future: {source.retrieved}",
                "write the day it was read",
                at=at,
            )
        elif age > REFUSE_AFTER:
            yield error(
                f"source {place}: last read {source.retrieved}, {age.days} days ago",
                "read it again, then set retrieved",
                at=at,
            )
        elif age > WARN_AFTER:
            yield warning(
                f"source {place}: last read {source.retrieved}, {age.days} days ago", "read it again soon", at=at
            )


GATE = Gate("freshness", "Every source was read again within the last year (refused after eighteen months).", check)
