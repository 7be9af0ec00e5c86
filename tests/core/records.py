"""Small valid records for tests of pure code."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from app.ports import Candidate, PublishedRecord
from app.record import AppliesTo, Record, Topic, content_hash, record_id

SOURCE = {
    "title": "Rendering Lists",
    "url": "https://react.dev/learn/rendering-lists",
    "publisher": "React",
    "licence": "CC-BY-4.0",
    "authority": "primary",
    "relation": "supports",
    "locator": "Rules of keys",
    "retrieved": date(2026, 11, 30),
    "evidence_kind": "paraphrase",
    "evidence_excerpt": "Keys identify an item among its siblings, whatever its position is.",
}


def make_record(slug: str = "use-stable-keys", **changes: Any) -> Record:
    """Return a valid record; `changes` replace fields."""
    fields: dict[str, Any] = {
        "slug": slug,
        "topic": "implementation",
        "title": "Key list rows by a stable id",
        "summary": "Give each row a key taken from the item, so that state stays with it.",
        "recommendation": "Set the key of each row to an identifier that is stored with the item.",
        "rationale": "React matches old and new children by key, so state follows the key and not the item.",
        "applies_to": [{"kind": "framework", "name": "React", "version_constraint": ">=16.8", "scheme": "npm"}],
        "conditions": ["Rows can be reordered while mounted."],
        "exceptions": ["A list that never changes may use the index."],
        "pitfalls": ["Two rows with one id: React warns and may drop a row."],
        "verification_checks": ["Type into the second row, reverse the list: the text moves with it."],
        "symptoms": ["rows keep the wrong text", "checkbox jumps to another row", "unique key prop warning"],
        "confidence": "high",
        "updated": date(2026, 11, 30),
        "sources": [SOURCE],
    }
    from pydantic_core import to_json  # noqa: PLC0415 - only the factory needs it

    return Record.model_validate_json(to_json(fields | changes))


def make_published(record: Record, version: int = 1) -> PublishedRecord:
    """Return a record as the store would serve it."""
    return PublishedRecord(
        record, record_id(record.slug), version, content_hash(record), datetime(2026, 11, 30, tzinfo=UTC)
    )


def make_candidate(slug: str, *, applies_to: tuple[AppliesTo, ...] = (), **signals: Any) -> Candidate:
    """Return a candidate with the signals given."""
    facts: dict[str, Any] = {
        "words": 1.0,
        "matched": frozenset({"key"}),
        "cosine": 0.5,
        "phrase": 0.0,
        "task_types": (),
    }
    topic = signals.pop("topic", Topic.IMPLEMENTATION)
    return Candidate(slug=slug, title=f"Title of {slug}", topic=topic, applies_to=applies_to, **{**facts, **signals})
