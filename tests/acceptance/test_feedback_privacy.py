"""What is kept of a comment, sent as an agent sends it and read in the table it ends in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import text

from bench.feedback_samples import clean_comments, secret_samples
from tests.acceptance.conftest import Program, Start
from tests.core.records import make_record
from tests.databases import Database
from tests.edge.wire import JSON_HEADERS, message, tool_answer

AGENT = "curious-agent/7.3"
ADDRESS = "198.51.100.83"
LEAST_REDACTED = 0.99
MOST_CLEAN_ALTERED = 0.01
Note = Callable[[str, object], None]


@pytest.fixture
def server(database: Database, serve: Start) -> Iterator[Program]:
    """Lend a server that takes as much feedback as a test sends."""
    database.publish(make_record())
    plenty = {"CHATCTX_FEEDBACK_GUEST_QUOTA": "10000", "CHATCTX_GUEST_DAILY_QUOTA": "10000"}
    with serve(database, CHATCTX_TRUSTED_PROXIES="127.0.0.1/32", **plenty) as program:
        yield program


def _send(client: httpx.Client, comment: str) -> UUID:
    call = message("tools/call", {"name": "submit_feedback", "arguments": {"category": "other", "comment": comment}})
    headers = {**JSON_HEADERS, "user-agent": AGENT, "x-forwarded-for": ADDRESS}
    failed, receipt = tool_answer(client.post("/mcp", content=json.dumps(call), headers=headers))
    assert not failed, receipt
    return UUID(receipt["id"])


def _kept_of(server: Program, database: Database, comments: Sequence[str]) -> list[str]:
    """Send comments over MCP and return what the table holds of each."""
    with httpx.Client(base_url=server.base, timeout=30) as client, ThreadPoolExecutor(4) as senders:
        receipts = list(senders.map(lambda comment: _send(client, comment), comments))
    rows = dict(_read(database, "SELECT feedback_id, comment FROM feedback"))
    return [str(rows[receipt]) for receipt in receipts]


def test_t34_feedback_is_kept_without_the_secrets_and_personal_data_in_it(
    server: Program, database: Database, record_property: Note
) -> None:
    """Of 250 feedback comments with a credential or personal data in them, at least 99 % are kept without it.

    Keys of some fifty vendors and our own, tokens, cookies, private keys, connection strings, addresses of people and
    machines, numbers of phones, cards, accounts and passports, user names in paths. A sample counts as redacted when no
    eight characters of it in a row are left. The samples are made up.
    """
    samples = secret_samples()
    assert len(samples) == len({sample.comment for sample in samples}) == 250
    kept = _kept_of(server, database, [sample.comment for sample in samples])
    missed = [sample.kind for sample, row in zip(samples, kept, strict=True) if sample.survives_in(row)]
    unmarked = [sample.kind for sample, row in zip(samples, kept, strict=True) if "[redacted:" not in row]
    kinds = len({sample.kind for sample in samples})
    record_property("figure", f"{len(samples) - len(missed)} of {len(samples)} redacted, {kinds} kinds of secret")
    assert len(missed) <= (1 - LEAST_REDACTED) * len(samples), missed
    assert set(unmarked) <= set(missed)


def test_t34_technical_feedback_is_kept_as_it_was_written(
    server: Program, database: Database, record_property: Note
) -> None:
    """Of 200 technical feedback comments without anything private, at most 1 % are changed at all."""
    comments = clean_comments()
    assert len(comments) == len(set(comments)) == 200
    kept = _kept_of(server, database, comments)
    altered = [comment for comment, row in zip(comments, kept, strict=True) if comment != row]
    record_property("figure", f"{len(altered)} of {len(comments)} changed")
    assert len(altered) <= MOST_CLEAN_ALTERED * len(comments), altered


def test_t34_feedback_keeps_of_versions_only_numbers_of_known_technologies(
    server: Program, database: Database, record_property: Note
) -> None:
    """Of versions in feedback, numbers of technologies that are known are kept, and no name, tag or address in them.

    A name that is not known may be a customer's, a product's or a person's, and a version may name who built it.
    """
    said = {
        "reactjs": "18.2.0-acme.4", "Acme Portal": "7.1", "ann@example.org": "3", "Ann Example": "18",
        "PostgreSQL": "10.20.30.40", "redis": "2125550123", "Django": "kb_live_abcdefabcdef_0123456789",
        "Python": "git+https://ann:secret@git.acme.example/5.git", "node": "v20.11.1", "docker": "acme-internal",
        "nginx": "1.27\u202e", "Kafka": "\u0663.\u0664",
    }  # fmt: skip
    call = {"category": "helpful", "outcome": "worked_as_written", "versions": said}
    with httpx.Client(base_url=server.base, timeout=30) as client:
        headers = {**JSON_HEADERS, "x-forwarded-for": ADDRESS}
        request = message("tools/call", {"name": "submit_feedback", "arguments": call})
        failed, receipt = tool_answer(client.post("/mcp", content=json.dumps(request), headers=headers))
    assert not failed, receipt
    [(outcome, kept)] = _read(database, "SELECT caller_outcome, caller_versions FROM feedback")
    numbers = {"React": "18.2.0", "PostgreSQL": "10.20.30", "Python": "5", "Node.js": "20.11.1", "nginx": "1.27"}
    assert (outcome, kept) == ("worked_as_written", numbers)
    record_property("figure", f"{len(kept)} numbers kept of {len(said)} versions, 0 names, tags or addresses")


def test_t34_feedback_row_says_neither_who_sent_it_nor_when(
    server: Program, database: Database, record_property: Note
) -> None:
    """Kept feedback holds no address, no client name, no time finer than a day and no number its sender's quota has.

    PostgreSQL stamps every row with the number of the transaction that wrote it: feedback and quota are written in
    different ones. That the two numbers are near each other is not hidden from whoever owns the database.
    """
    with httpx.Client(base_url=server.base, timeout=30) as client:
        for number in range(5):
            _send(client, f"The link of step {number} is dead.")
            shared = _read(database, "SELECT count(*) FROM feedback f JOIN quota_use q ON f.xmin = q.xmin")
            assert shared == [(0,)]
    (row,) = _read(database, "SELECT to_jsonb(feedback) FROM feedback LIMIT 1")[0]
    _check_row(row)
    types = dict(_read(database, _COLUMN_TYPES))
    assert not {"timestamp with time zone", "timestamp without time zone", "time", "inet", "cidr"} & set(types.values())
    counted = _read(database, "SELECT count(*), count(DISTINCT xmin::text) FROM quota_use")[0][0]
    assert counted >= 2
    record_property("figure", f"{len(row)} columns, none says who or when; 0 of 5 rows share a transaction with quota")


_COLUMN_TYPES = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'feedback'"


def _check_row(row: dict[str, Any]) -> None:
    assert UUID(row["feedback_id"]).version == 4
    assert date.fromisoformat(row["received_on"]).isoformat() == row["received_on"]
    assert set(row) == {
        "feedback_id", "received_on", "category", "record", "source", "comment", "redactions", "fingerprint", "repeats",
        "resolved_on", "outcome", "resolution", "caller_outcome", "caller_versions",
    }  # fmt: skip
    for telling in (AGENT, "curious", ADDRESS, "127.0.0.1"):
        assert telling not in json.dumps(row)


def _read(database: Database, statement: str) -> list[tuple[Any, ...]]:
    with database.owner.connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]
