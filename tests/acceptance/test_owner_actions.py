"""Whatever an owner does leaves a trace that nobody can take back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.contract import FeedbackCategory, FeedbackSource
from app.ports import FeedbackEntry
from app.store.engine import sqlstate
from app.store.signals import PostgresSignals
from tests.acceptance.conftest import copy_records
from tests.acceptance.integrity_signed import OWNER, SLUGS, allow, chatctx, make_key, owner_environ
from tests.databases import Database


@dataclass
class Desk:
    """An owner's desk: records, database, and the commands."""

    environ: dict[str, str]
    database: Database
    folder: Path

    def run(self, *arguments: str) -> str:
        return chatctx(self.environ, *arguments)

    def actions(self) -> list[dict[str, object]]:
        told: list[dict[str, object]] = json.loads(self.run("review", "actions", "--json"))
        return told

    def decisions(self) -> list[dict[str, object]]:
        told: list[dict[str, object]] = json.loads(self.run("review", "history", "--json"))
        return told


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    key = make_key(tmp_path, "key")
    allowed = allow(tmp_path / "allowed", OWNER, key)
    copy_records(tmp_path / "records")
    return Desk(owner_environ(database, tmp_path, allowed, key), database, tmp_path)


def approve(desk: Desk) -> None:
    desk.run("review", "approve", SLUGS[0], "--by", OWNER, "--yes", "--words-only", "--note", "read and found right")


def deprecate(desk: Desk) -> None:
    desk.run("review", "deprecate", SLUGS[0], "--by", OWNER, "--yes", "--reason", "no longer so")


def publish(desk: Desk) -> None:
    desk.run("review", "publish", "--allow-empty")


def create_key(desk: Desk) -> None:
    desk.run("keys", "create", "--label", "an agent", "--out", str(desk.folder / "key.txt"))


def change_quota(desk: Desk) -> None:
    desk.run("keys", "quota", key_id(desk), "7")


def revoke_key(desk: Desk) -> None:
    desk.run("keys", "revoke", key_id(desk))


def resolve_feedback(desk: Desk) -> None:
    entry = FeedbackEntry(FeedbackCategory.OUTDATED, SLUGS[0], FeedbackSource.SEARCH, "It moved.", b"f" * 32)
    identity = PostgresSignals(desk.database.server).record_feedback(entry, 10)
    desk.run("review", "feedback", "resolve", str(identity), "--outcome", "changed", "--note", "mended")


def delete_key_by_hand(desk: Desk) -> None:
    with desk.database.owner.begin() as connection:
        connection.execute(text("DELETE FROM api_key"))


def move_key_by_hand(desk: Desk) -> None:
    with desk.database.owner.begin() as connection:
        connection.execute(text("UPDATE api_key SET mac = CAST(repeat('f', 32) AS bytea)"))


def delete_feedback_by_hand(desk: Desk) -> None:
    with desk.database.owner.begin() as connection:
        connection.execute(text("DELETE FROM feedback"))


def take_publication_away_by_hand(desk: Desk) -> None:
    with desk.database.owner.begin() as connection:
        connection.execute(text("DELETE FROM publication"))


def key_id(desk: Desk) -> str:
    return str(json.loads(desk.run("keys", "list", "--json"))[0]["key_id"])


# What is done, in an order in which it can be done, and what must then have been noted of it, and where.
ACTIONS: list[tuple[Callable[[Desk], None], str, str]] = [
    (approve, "ledger", "approve"),
    (publish, "database", "published"),
    (deprecate, "ledger", "deprecate"),
    (publish, "database", "published"),
    (create_key, "database", "key_added"),
    (change_quota, "database", "key_changed"),
    (revoke_key, "database", "key_changed"),
    (resolve_feedback, "database", "feedback_resolved"),
    (move_key_by_hand, "database", "key_rekeyed"),
    (delete_key_by_hand, "database", "key_deleted"),
    (delete_feedback_by_hand, "database", "feedback_deleted"),
    (take_publication_away_by_hand, "database", "unpublished"),
]


def noted_by(desk: Desk, act: Callable[[Desk], None]) -> list[tuple[str, str]]:
    """Do something and return what was noted meanwhile, as (where, what)."""
    actions, decisions = len(desk.actions()), len(desk.decisions())
    act(desk)
    new = desk.actions()[: len(desk.actions()) - actions]
    decided = desk.decisions()[decisions:]
    return [("database", str(entry["action"])) for entry in new] + [
        ("ledger", str(entry["decision"])) for entry in decided
    ]


def test_t39_every_action_of_an_owner_is_noted_once(desk: Desk, record_property: Callable[[str, object], None]) -> None:
    """Each thing an owner does (decide, publish, keys, quotas, feedback) is noted once, together with the change."""
    for act, where, what in ACTIONS:
        assert noted_by(desk, act) == [(where, what)], act.__name__
    told = desk.run("review", "actions")
    assert "daily_quota null to 7" in told
    assert "chatctx_owner" in told
    record_property("figure", f"{len(ACTIONS)} of {len(ACTIONS)} noted once")


def test_t39_what_changes_nothing_is_not_noted(desk: Desk) -> None:
    """A publish that changes nothing, and what a server writes by itself, are no actions."""
    approve(desk)
    publish(desk)
    create_key(desk)
    assert noted_by(desk, publish) == []
    with desk.database.server.begin() as connection:
        connection.execute(text("UPDATE api_key SET last_used_on = current_date"))
    assert len(desk.actions()) == 2


@pytest.mark.parametrize(
    "trigger", ["note_key_added", "note_key_changed", "note_key_rekeyed", "note_published", "note_feedback_resolved"]
)
def test_a_note_left_out_would_be_seen(desk: Desk, trigger: str) -> None:
    """The test above is one that can fail: with any of the triggers away, an action is missing."""
    with desk.database.owner.begin() as connection:
        table = connection.scalar(
            text("SELECT CAST(tgrelid AS regclass) FROM pg_trigger WHERE tgname = :name"), {"name": trigger}
        )
        connection.execute(text(f"DROP TRIGGER {trigger} ON {table}"))
    missing = [what for act, where, what in ACTIONS if noted_by(desk, act) != [(where, what)]]
    assert missing


@pytest.mark.parametrize("table", ["api_key", "feedback", "publication", "record"])
def test_t39_a_table_that_is_emptied_leaves_a_note(desk: Desk, table: str) -> None:
    """Emptying the table of keys, feedback, records or the publication at once is noted too."""
    approve(desk)
    publish(desk)
    create_key(desk)
    with desk.database.owner.begin() as connection:
        connection.execute(text("ALTER TABLE record_version DISABLE TRIGGER USER"))
        connection.execute(text(f"TRUNCATE {table} CASCADE"))
    assert ("emptied", table) in {(entry["action"], entry["subject"]) for entry in desk.actions()}


@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = {}", "DELETE FROM {}", "TRUNCATE {}"])
@pytest.mark.parametrize(("table", "column"), [("owner_action", "login"), ("ledger_line", "prev")])
def test_t39_not_even_the_owner_can_change_what_was_noted(desk: Desk, statement: str, table: str, column: str) -> None:
    """Statements that change or delete what was noted are refused, the owner's too."""
    approve(desk)
    publish(desk)
    with desk.database.owner.connect() as connection, pytest.raises(DBAPIError, match="append-only") as refused:
        connection.execute(text(statement.format(table, column, column)))
    assert sqlstate(refused.value) == "23001"


def test_t39_no_statement_writes_a_note(desk: Desk) -> None:
    """A statement that adds a note, in whoever's name, is refused, the owner's too: only what is done leaves one."""
    forged = "INSERT INTO owner_action (at, login, action, subject, detail) VALUES (now(), 'x', 'published', '9', '{}')"
    with desk.database.owner.connect() as connection, pytest.raises(DBAPIError, match="triggers alone") as refused:
        connection.execute(text(forged))
    assert sqlstate(refused.value) == "23001"
    assert desk.actions() == []
