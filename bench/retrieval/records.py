"""Documents as records of the product, so that its own code publishes and finds them.

A public document is longer than a record may be, so its record is made without the limits: title to title, text to
rationale, the field that counts as plain body. The vectors that stand for it are given by the part names publishing
asks for: `text`, `title`, and one empty symptom for each further vector. An empty symptom has no words, so the number
of vectors leaves the words leg as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime

from app.indexing import embedding_texts
from app.ports import Embedder, Vector
from app.record import SLUG_MAX_CHARACTERS, AppliesTo, Confidence, Kind, Record, Topic, content_hash
from app.store.publishing import PublishInput
from bench.retrieval.collection import Document

_DAY = date(2026, 11, 30)
_APPROVED_AT = datetime(2026, 11, 30, tzinfo=UTC)
_HASH_CHARACTERS = 10


def slug_of(identifier: str) -> str:
    """Return a slug for a document's id: the id itself where it is one, else what can be read of it and a hash."""
    readable = re.sub(r"[^a-z0-9]+", "-", identifier.casefold()).strip("-")
    if readable == identifier and len(readable) <= SLUG_MAX_CHARACTERS:
        return identifier
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:_HASH_CHARACTERS]
    return f"{readable[-(SLUG_MAX_CHARACTERS - _HASH_CHARACTERS - 1) :].strip('-')}-{digest}"


def record_of(document: Document, vectors: int = 2) -> Record:
    """Return the document's own record, or one that holds it.

    Args:
        document: what is to be found.
        vectors: how many vectors will stand for it, at least 2; no matter for a record of ours.
    """
    if document.record is not None:
        return document.record
    about = tuple(
        AppliesTo.model_construct(kind=Kind.LIBRARY, name=name, version_constraint=None, scheme=None)
        for name in document.technologies
    )
    return Record.model_construct(
        slug=slug_of(document.id), topic=Topic.IMPLEMENTATION, title=document.title, summary="", recommendation="",
        rationale=document.text, applies_to=about, pitfalls=(), verification_checks=(), symptoms=("",) * (vectors - 2),
        confidence=Confidence.MEDIUM, updated=_DAY, sources=(),
    )  # fmt: skip


def publish_input(document: Document, parts: Sequence[str], embedder: Embedder) -> PublishInput:
    """Return what is published of a document.

    Args:
        document: what is to be found.
        parts: the texts whose vectors stand for it; for a record of ours, those of `embedding_texts`.
        embedder: turns them into vectors.
    """
    vectors = embedder.embed(parts)
    record = record_of(document, max(2, len(parts)))
    named = dict(_named(embedding_texts(record), vectors))
    return PublishInput(record, content_hash(record), 1, _APPROVED_AT, "bench", vectors=named)


def _named(texts: Mapping[str, str], vectors: Vector) -> Iterator[tuple[str, Vector]]:
    """Give each part its vector; where there is only one vector, it stands for both parts that every record has."""
    if len(vectors) not in (1, len(texts)):
        raise ValueError(f"{len(vectors)} vectors cannot stand for {len(texts)} parts")
    for place, part in enumerate(texts):
        yield part, vectors[place] if len(vectors) > 1 else vectors[0]
