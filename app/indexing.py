"""What a record is found by: the words that are scored and the texts that are embedded.

BM25 as in Robertson & Zaragoza, The Probabilistic Relevance Framework (2009), section 3, with one weighted stream of
fields (their "simple BM25F"): a term's frequency is the sum of its weighted frequencies over the fields.
"""

from __future__ import annotations

import math
from collections import defaultdict

from app.lexical import analyse
from app.record import Record

K1 = 1.2
B = 0.75

# How much a word in each field weighs against one in the body.
_FIELD_WEIGHTS = {"title": 3.0, "symptoms": 2.0, "applies_to": 2.0, "summary": 1.5, "recommendation": 1.5, "body": 1.0}


def record_terms(record: Record) -> dict[str, float]:
    """Return each term of a record with its weighted frequency."""
    weighted: defaultdict[str, float] = defaultdict(float)
    for field, text in _fields(record):
        for term in analyse(text):
            weighted[term] += _FIELD_WEIGHTS[field]
    return dict(weighted)


def embedding_texts(record: Record) -> dict[str, str]:
    """Return the texts that stand for a record in vector space, by name: its own text, and each symptom on its own."""
    names = ", ".join(entry.name for entry in record.applies_to)
    body = f"{record.title}. {names}. {record.summary} {record.recommendation} {record.rationale}"
    symptoms = {f"symptom:{place}": text for place, text in enumerate(record.symptoms)}
    return {"text": body, "title": f"{record.title}. {names}".strip(), **symptoms}


def inverse_document_frequency(document_frequency: int, document_count: int) -> float:
    """Return Lucene's BM25 idf, ln(1 + (N - df + 0.5) / (df + 0.5)): positive, and largest for an unknown term."""
    return math.log(1.0 + (document_count - document_frequency + 0.5) / (document_frequency + 0.5))


def impact(frequency: float, length: float, average_length: float) -> float:
    """Return the saturated part of BM25, in [0, K1 + 1): multiply by the idf to score.

    Args:
        frequency: weighted frequency of the term in the record.
        length: sum of all weighted frequencies of the record.
        average_length: mean of that over all records, greater than 0.
    """
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average_length))


def _fields(record: Record) -> list[tuple[str, str]]:
    body = (record.rationale, *record.conditions, *record.exceptions, *record.pitfalls, *record.verification_checks)
    return [
        ("title", record.title),
        ("symptoms", "\n".join(record.symptoms)),
        ("applies_to", "\n".join(entry.name for entry in record.applies_to)),
        ("summary", record.summary),
        ("recommendation", record.recommendation),
        ("body", "\n".join((*body, record.examples or ""))),
    ]
