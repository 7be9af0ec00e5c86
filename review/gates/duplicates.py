"""Two records that say the same thing split every answer between them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from app.lexical import analyse
from app.record import Record
from review.gates import Context, Finding, Gate, error, pair_key, warning

# Near in meaning and in words: the same advice. Either alone is only a likeness: meaning alone joins neighbours
# ("cache GET", "cache POST"), words alone join records about one technology. Measured with all-MiniLM-L6-v2: no two
# of 93 different records are above 0.75 in meaning or 0.18 in words; the same records told anew in other words are at
# 0.74 and 0.33, and at 0.87 and 0.46.
COSINE_ERROR, OVERLAP_ERROR = 0.70, 0.30
COSINE_WARNING, OVERLAP_WARNING = 0.60, 0.22
COSINE_ALONE_WARNING = 0.82
# Without embeddings words must carry the whole judgement.
WORDS_ONLY_ERROR, WORDS_ONLY_WARNING = 0.60, 0.42


def check(record: Record, context: Context) -> Iterator[Finding]:
    """No other record gives the same advice, unless one supersedes the other."""
    for other in context.corpus.values():
        if other.slug == record.slug or other.slug in record.supersedes or record.slug in other.supersedes:
            continue
        yield from _compare(record, other, context)


def word_overlap(one: Record, other: Record) -> float:
    """Return the Jaccard index of the content words of two records' titles, summaries and recommendations."""
    first, second = _words(one), _words(other)
    return len(first & second) / max(1, len(first | second))


def _compare(record: Record, other: Record, context: Context) -> Iterator[Finding]:
    overlap = word_overlap(record, other)
    if context.similarity is None:
        yield from _judged(
            other.slug,
            overlap >= WORDS_ONLY_ERROR,
            overlap >= WORDS_ONLY_WARNING,
            f"words {overlap:.2f}, no embeddings",
        )
        return
    cosine = context.similarity.get(pair_key(record.slug, other.slug), 0.0)
    same = (cosine >= COSINE_ERROR and overlap >= OVERLAP_ERROR) or overlap >= WORDS_ONLY_ERROR
    alike = (cosine >= COSINE_WARNING and overlap >= OVERLAP_WARNING) or cosine >= COSINE_ALONE_WARNING
    yield from _judged(other.slug, same, alike, f"meaning {cosine:.2f}, words {overlap:.2f}")


def _judged(slug: str, same: bool, alike: bool, measure: str) -> Iterator[Finding]:
    if same:
        yield error(
            f"says the same as {slug} ({measure})",
            "merge the two, or let the better one supersede the other",
            at="title",
        )
    elif alike:
        yield warning(
            f"is close to {slug} ({measure})", "say in the note why both are needed, or merge them", at="title"
        )


@lru_cache(maxsize=4096)
def _words(record: Record) -> frozenset[str]:
    return frozenset(analyse(f"{record.title} {record.summary} {record.recommendation}"))


GATE = Gate("duplicates", "No two served records give the same advice, by meaning and by words.", check)
