"""Averaging the quantiles of two instances weighs 100 requests like 10,000."""
import bisect

BOUNDS = [0.1, 0.2, 0.3, 0.45, 1.0, 2.5]
busy = [0.05] * 9900 + [0.15] * 100
small = [0.05] * 50 + [2.0] * 50
EVERYTHING = sorted(busy + small)
TRUE_P95 = EVERYTHING[int(0.95 * len(EVERYTHING))]


def buckets(values):
    counts = [0] * (len(BOUNDS) + 1)
    for value in values:
        counts[bisect.bisect_left(BOUNDS, value)] += 1
    return counts


def quantile(q, counts):
    """Linear interpolation inside the bucket, as histogram_quantile() does for classic histograms."""
    rank, seen = q * sum(counts), 0
    for place, count in enumerate(counts[:-1]):
        if seen + count >= rank and count:
            low = BOUNDS[place - 1] if place else 0.0
            return low + (BOUNDS[place] - low) * (rank - seen) / count
        seen += count
    return BOUNDS[-1]


average = sum(sorted(v)[int(0.95 * len(v))] for v in (busy, small)) / 2
assert abs(average - TRUE_P95) <= 0.1, f"average of p95 is {average:.2f} s, the true p95 is {TRUE_P95:.2f} s"
