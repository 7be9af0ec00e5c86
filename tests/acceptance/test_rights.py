"""What the server's login may do: read what is published, count, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import ProgrammingError

from app.store.access import KeyRing
from app.store.actions import owner_actions
from app.store.engine import server_engine, sqlstate
from app.store.tables import SERVER_ROLE, metadata
from tests.core.records import make_record
from tests.databases import Database

DENIED = "42501"
TABLES = sorted(table.name for table in metadata.tables.values())
# What the server may do to a whole table. Rights on single columns are tested one by one below.
WHOLE_TABLE = {
    "embedding_model": {"SELECT"},
    "ledger_line": {"SELECT"},
    "publication": {"SELECT"},
    "record_embedding": {"SELECT"},
    "term_posting": {"SELECT"},
    "quota_use": {"SELECT", "INSERT", "DELETE"},
    "daily_salt": {"SELECT", "INSERT", "DELETE"},
    "retrieval_event": {"INSERT"},
}
READ_AT_MOST = [
    table for table in TABLES if WHOLE_TABLE.get(table, set()) <= {"SELECT"} and table not in ("api_key", "feedback")
]
REFUSED = {
    "reads the records past the view": "SELECT slug FROM record",
    "reads old versions": "SELECT * FROM record_version",
    "reads what the owner did": "SELECT * FROM owner_action",
    "reads feedback": "SELECT comment FROM feedback",
    "reads statistics": "SELECT * FROM retrieval_event",
    "reads what the owner calls a key": "SELECT label FROM api_key",
    "writes through the view": "UPDATE published_record SET title = 'x'",
    "makes a key": "INSERT INTO api_key (key_id, label, mac, pepper_id) VALUES ('a', '', repeat('a', 32)::bytea, 'p')",
    "raises a key's quota": "UPDATE api_key SET daily_quota = 1000000",
    "revives a key": "UPDATE api_key SET revoked_at = NULL",
    "resolves feedback": "UPDATE feedback SET outcome = 'spam'",
    "moves a count to another day": "UPDATE quota_use SET day = day - 1",
    "changes a salt": "UPDATE daily_salt SET salt = salt",
    "changes the publication": "UPDATE publication SET demo = false",
    "approves a record": "INSERT INTO ledger_line (hash, prev, line) VALUES ('a', 'b', '{}')",
    "covers its tracks": "DELETE FROM owner_action",
    "makes a table": "CREATE TABLE chatctx.mine (x int)",
    "makes a table in public": "CREATE TABLE public.mine (x int)",
    "drops a table": "DROP TABLE publication",
    "takes the owner's role": "SET ROLE chatctx_owner",
    "takes the administrator's role": "SET SESSION AUTHORIZATION postgres",
    "runs a program": "COPY (SELECT 1) TO PROGRAM 'true'",
    "writes a file": "COPY (SELECT 1) TO '/tmp/chatctx-should-not-exist'",
    "reads a file": "SELECT pg_read_file('/etc/passwd')",
    "makes a role": "CREATE ROLE mine",
    "switches off the append-only trigger": "ALTER TABLE record_version DISABLE TRIGGER ALL",
    "reads passwords": "SELECT * FROM pg_authid",
}


def refusal(engine: Engine, statement: str) -> str:
    """Return the SQLSTATE with which a statement is refused."""
    with engine.connect() as connection, pytest.raises(ProgrammingError) as refused:
        connection.execute(text(statement.replace("::", r"\:\:")))
    return sqlstate(refused.value)


@pytest.mark.parametrize("table", TABLES)
def test_t37_server_holds_exactly_the_rights_it_needs(database: Database, table: str) -> None:
    """The server's login holds, on each of our 15 tables, exactly the rights it needs, and none to change guidance."""
    rights = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    with database.server.connect() as connection:
        held = {
            right
            for right in rights
            if connection.scalar(text("SELECT has_table_privilege(:table, :right)"), {"table": table, "right": right})
        }
    assert held == WHOLE_TABLE.get(table, set())


@pytest.mark.parametrize("table", READ_AT_MOST)
def test_t37_server_cannot_change_records(
    database: Database, table: str, record_property: Callable[[str, object], None]
) -> None:
    """Whoever takes over the server's login changes counts, feedback and, noted, a key's hash and pepper; no more."""
    columns = metadata.tables[f"chatctx.{table}"].columns
    column = next(column.name for column in columns if column.identity is None and column.computed is None)
    tries = (
        f"INSERT INTO {table} DEFAULT VALUES",
        f"UPDATE {table} SET {column} = {column}",  # noqa: S608 - names of our own tables
        f"DELETE FROM {table}",  # noqa: S608
        f"TRUNCATE {table} CASCADE", f"ALTER TABLE {table} DISABLE TRIGGER ALL", f"DROP TABLE {table} CASCADE",
        f"COPY {table} FROM PROGRAM 'true'",
    )  # fmt: skip
    assert {refusal(database.server, statement) for statement in tries} == {DENIED}
    record_property("figure", f"{len(tries)} ways refused on {table}")


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
def test_t37_server_is_refused_what_is_not_its_own(database: Database, statement: str) -> None:
    """What an intruder with the server's login would try next is refused: other columns, roles, files, programs."""
    assert refusal(database.server, statement) == DENIED


def test_t37_a_key_that_the_server_moves_to_another_pepper_is_noted(database: Database) -> None:
    """The server may put a key's hash under another pepper, as it does when peppers change; each time is noted."""
    KeyRing(database.owner).add("abcdefgh", b"a" * 32, "old", "an agent", 10)
    with database.server.begin() as connection:
        connection.execute(text("UPDATE api_key SET last_used_on = current_date"))
        connection.execute(text("UPDATE api_key SET mac = CAST(repeat('b', 32) AS bytea), pepper_id = 'new'"))
    noted = [(action.action, action.subject, action.detail) for action in owner_actions(database.owner, 10)]
    assert noted[0] == ("key_rekeyed", "abcdefgh", {"pepper_id": ["old", "new"]})
    assert len(noted) == 2
    assert owner_actions(database.owner, 1)[0].login.startswith("chatctx_app")
    # What a forger would do: a hash he knows, under the pepper that is there.
    assert refusal(database.server, "UPDATE api_key SET mac = repeat('c', 32)::bytea") == DENIED


def test_t37_owner_that_serves_drops_to_the_same_rights(database: Database) -> None:
    """With one login for everything, the server's connections still may not write records."""
    engine = server_engine(database.owner_url, drop_rights=True)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT current_user")) == SERVER_ROLE
        assert connection.scalar(text("SELECT count(*) FROM published_record")) == 0
    assert refusal(engine, "DELETE FROM record") == DENIED
    assert refusal(engine, "UPDATE publication SET demo = false") == DENIED
    engine.dispose()


def test_t37_server_sees_approved_records_only(database: Database) -> None:
    """A record that was taken out of service does not exist for the server's login."""
    database.publish(make_record("stays-served"), make_record("goes-away"))
    database.publish(make_record("stays-served"))
    with database.server.connect() as connection:
        assert connection.scalars(text("SELECT slug FROM published_record")).all() == ["stays-served"]
    with database.owner.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM record")) == 2


@pytest.mark.parametrize(
    "statement",
    ["UPDATE record_version SET note = 'x'", "DELETE FROM record_version", "TRUNCATE record_version"],
)
def test_t37_versions_are_append_only_for_the_owner_too(database: Database, statement: str) -> None:
    """Statements that rewrite the text of a version that was served are refused, the owner's too."""
    database.publish(make_record())
    with database.owner.connect() as connection, pytest.raises(Exception, match="append-only") as refused:
        connection.execute(text(statement))
    assert sqlstate(refused.value) == "23001"
