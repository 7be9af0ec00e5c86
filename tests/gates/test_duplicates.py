"""duplicates: no two served records give the same advice, by meaning and by words."""

from __future__ import annotations

import pytest

from review.gates import pair_key
from review.gates.duplicates import word_overlap
from tests.gates.records import findings, make_record, messages

ORIGINAL = make_record()
TWIN = make_record(slug="use-numeric-for-money", pitfalls=["Something else goes wrong here, and how it looks."])
REPHRASED = make_record(
    slug="keep-prices-decimal",
    title="Keep prices in a decimal type, never in a float",
    summary="Declare prices as decimals with a fixed scale, so that sums and comparisons come out exact to the cent.",
    recommendation="Use `numeric` with the scale of the currency for prices and map it to a decimal. Avoid `real`.",
)
OTHER = make_record(
    slug="build-indexes-concurrently",
    title="Build indexes concurrently on live tables",
    summary="A plain index build blocks writers until it ends; the concurrent form does not.",
    recommendation="Write `CREATE INDEX CONCURRENTLY` outside a transaction and look for an invalid index afterwards.",
)


def near(other: object, cosine: float) -> dict[tuple[str, str], float]:
    """Return a similarity table with one pair."""
    return {pair_key(ORIGINAL.slug, other.slug): cosine}


@pytest.mark.parametrize(
    ("other", "similarity"),
    [
        (OTHER, None),
        (OTHER, near(OTHER, 0.81)),
        (REPHRASED, near(REPHRASED, 0.5)),
        (make_record(slug="keep-it-numeric", supersedes=[ORIGINAL.slug]), near(TWIN, 1.0)),
    ],
)
def test_records_that_differ_in_meaning_or_words_pass(other, similarity):
    """Nearness in one alone is no duplicate; a record that supersedes the other may say the same."""
    assert findings("duplicates", ORIGINAL, other, similarity=similarity) == []


@pytest.mark.parametrize(
    ("other", "similarity", "expected"),
    [
        (TWIN, near(TWIN, 0.99), f"error: says the same as {TWIN.slug} (meaning 0.99, words 1.00)"),
        (TWIN, None, f"error: says the same as {TWIN.slug} (words 1.00, no embeddings)"),
        (REPHRASED, near(REPHRASED, 0.93), f"error: says the same as {REPHRASED.slug}"),
        (REPHRASED, near(REPHRASED, 0.71), f"error: says the same as {REPHRASED.slug}"),
        (REPHRASED, near(REPHRASED, 0.65), f"warning: is close to {REPHRASED.slug}"),
        (REPHRASED, None, f"warning: is close to {REPHRASED.slug}"),
        (OTHER, near(OTHER, 0.9), f"warning: is close to {OTHER.slug}"),
    ],
)
def test_records_that_say_the_same_are_found(other, similarity, expected):
    """By meaning and words; by words alone, and more strictly, where no embeddings are at hand."""
    assert expected in messages(findings("duplicates", ORIGINAL, other, similarity=similarity))


def test_the_thresholds_of_words_lie_where_the_tests_believe_them():
    """The rephrased twin shares enough words to count and too few to count alone."""
    assert 0.42 <= word_overlap(ORIGINAL, REPHRASED) < 0.6
    assert word_overlap(ORIGINAL, OTHER) < 0.1
