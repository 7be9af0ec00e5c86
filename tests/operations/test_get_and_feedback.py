"""get_guidance and submit_feedback."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from sqlalchemy import text

from app.answers import GetResponse
from app.errors import FeedbackClosed, InvalidInput, UnknownTool
from app.operations import Services, call
from app.record import record_id
from tests.databases import Database

KEYS = "use-stable-keys-for-dynamic-react-lists"


def test_full_record_has_everything_an_agent_needs(services: Services) -> None:
    """Standing, scope, limits, proofs and examples are in a full record."""
    answer = call(services, "get_guidance", {"ids": [KEYS]})
    GetResponse.model_validate(answer)
    record = answer["results"][0]
    assert (record["status"], record["content_version"]) == ("approved", 1)
    assert record["version_constraints"] == {"React": ">=16.8"}
    assert all(
        record[field] for field in ("rationale", "exceptions", "pitfalls", "verification_checks", "examples", "sources")
    )


def test_record_is_found_by_slug_and_by_id_once(services: Services) -> None:
    """Both names of a record give one copy of it."""
    answer = call(services, "get_guidance", {"ids": [KEYS, str(record_id(KEYS)), KEYS], "detail": "brief"})
    assert [record["slug"] for record in answer["results"]] == [KEYS]
    assert answer["missing"] == []


@pytest.mark.parametrize(
    "name", ["no-such-record", str(uuid.UUID(int=7)), "'; DROP TABLE record; --", "x" * 120, "日本語"]
)
def test_unknown_identifier_is_missing_not_an_error(services: Services, name: str) -> None:
    """What names no record is listed, and the rest of the call is answered."""
    answer = call(services, "get_guidance", {"ids": [name, KEYS], "detail": "brief"})
    assert answer["missing"] == [name]
    assert len(answer["results"]) == 1


@pytest.mark.parametrize("ids", [[], ["a"] * 11, [""], ["a" * 121], [5], None, ["nul\0"]])
def test_bad_identifiers_are_refused(services: Services, ids: Any) -> None:
    """Too few, too many, too long or not text."""
    with pytest.raises(InvalidInput):
        call(services, "get_guidance", {"ids": ids})


def test_feedback_is_kept_without_sender_and_without_secrets(services: Services, shipped: Database) -> None:
    """A stored comment has lost its credentials; the row has a day, and no mark of who sent it."""
    comment = "Write to ann@example.org, key kb_live_abcdefabcdef_0123456789"
    receipt = call(services, "submit_feedback", {"category": "outdated", "record": KEYS, "comment": comment})
    assert receipt["accepted"] is True
    assert uuid.UUID(receipt["id"]).version == 4
    with shipped.owner.connect() as connection:
        rows = connection.execute(text("SELECT to_jsonb(feedback) FROM feedback")).scalars().all()
    stored = json.dumps(rows)
    assert "[redacted:email]" in stored
    assert not any(secret in stored for secret in ("ann@example.org", "0123456789"))


def test_feedback_says_nothing_about_whether_a_record_exists(services: Services) -> None:
    """An unknown record gets the same receipt as a known one."""
    known = call(services, "submit_feedback", {"category": "helpful", "record": KEYS})
    unknown = call(services, "submit_feedback", {"category": "not_helpful", "record": "no-such-record"})
    assert {**known, "id": ""} == {**unknown, "id": ""}


def test_feedback_closes_at_the_daily_cap(services: Services) -> None:
    """Over the cap a caller is told so, with a code of its own."""

    def send_all() -> None:
        for number in range(60):
            call(services, "submit_feedback", {"category": "missing", "comment": f"{number} is missing here"})

    with pytest.raises(FeedbackClosed):
        send_all()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"category": "bad"},
        {"category": "helpful", "comment": ""},
        {"category": "helpful", "comment": "x" * 1001},
        {"category": "helpful", "who": "me"},
    ],
)
def test_bad_feedback_is_refused(services: Services, arguments: dict[str, Any]) -> None:
    """Unknown categories and arguments, empty and over-long comments."""
    with pytest.raises(InvalidInput):
        call(services, "submit_feedback", arguments)


def test_unknown_tool_is_refused(services: Services) -> None:
    """Only the three operations exist."""
    with pytest.raises(UnknownTool):
        call(services, "drop_everything", {})
