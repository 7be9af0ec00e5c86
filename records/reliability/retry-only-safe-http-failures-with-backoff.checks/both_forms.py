"""Retry-After is a number of seconds or a date; both become a bounded delay, anything else falls back to backoff."""
import random
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime, parsedate_to_datetime

LIMIT = 30.0


def delay(attempt, retry_after, now):
    backoff = random.uniform(0, min(LIMIT, 0.5 * 2**attempt))
    if retry_after is None:
        return backoff
    if retry_after.strip().isdigit():
        asked = float(retry_after)
    else:
        try:
            asked = (parsedate_to_datetime(retry_after) - now).total_seconds()
        except (TypeError, ValueError):
            return backoff
    return min(LIMIT, max(0.0, asked))


now = datetime.now(timezone.utc).replace(microsecond=0)
later = format_datetime(now + timedelta(seconds=12), usegmt=True)
earlier = format_datetime(now - timedelta(seconds=12), usegmt=True)
assert delay(0, "7", now) == 7
assert delay(0, later, now) == 12
assert delay(0, earlier, now) == 0
assert delay(0, "86400", now) == LIMIT
assert 0 <= delay(3, "soon", now) <= 4
assert 0 <= delay(9, None, now) <= LIMIT
print("ok")
