"""Adding the buckets of both instances first gives the quantile of all requests, to within a bucket."""
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


merged = [a + b for a, b in zip(buckets(busy), buckets(small), strict=True)]
estimate = quantile(0.95, merged)
assert abs(estimate - TRUE_P95) <= 0.1, (estimate, TRUE_P95)
print(f"true {TRUE_P95:.2f} s, from merged buckets {estimate:.2f} s")
