"""What the server's login may do: read what is published, count, and nothing else."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import ProgrammingError

from app.store.engine import server_engine, sqlstate
from app.store.tables import SERVER_ROLE, metadata
from tests.core.records import make_record
from tests.databases import Database

DENIED = "42501"
TABLES = sorted(table.name for table in metadata.tables.values())
# What the server may do to a whole table. Rights on single columns are tested one by one below.
WHOLE_TABLE = {
    "embedding_model": {"SELECT"},
    "publication": {"SELECT"},
    "record_embedding": {"SELECT"},
    "term_posting": {"SELECT"},
    "quota_use": {"SELECT", "INSERT", "DELETE"},
    "daily_salt": {"SELECT", "INSERT", "DELETE"},
    "retrieval_event": {"INSERT"},
}
REFUSED = {
    "reads the records past the view": "SELECT slug FROM record",
    "reads old versions": "SELECT * FROM record_version",
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
def test_server_holds_exactly_the_rights_it_needs(database: Database, table: str) -> None:
    """The matrix of rights on whole tables, for every table there is."""
    rights = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    with database.server.connect() as connection:
        held = {
            right
            for right in rights
            if connection.scalar(text("SELECT has_table_privilege(:table, :right)"), {"table": table, "right": right})
        }
    assert held == WHOLE_TABLE.get(table, set())


@pytest.mark.parametrize("table", sorted({"record", "record_version", "record_source", "record_applicability"}))
@pytest.mark.parametrize("statement", ["INSERT INTO {} DEFAULT VALUES", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_server_cannot_change_records(database: Database, table: str, statement: str) -> None:
    """Whoever takes over the server cannot change the guidance."""
    assert refusal(database.server, statement.format(table)) == DENIED


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
def test_server_is_refused_what_is_not_its_own(database: Database, statement: str) -> None:
    """Each of these is what an intruder would try next."""
    assert refusal(database.server, statement) == DENIED


def test_owner_that_serves_drops_to_the_same_rights(database: Database) -> None:
    """With one login for everything, the server's connections still may not write records."""
    engine = server_engine(database.owner_url, drop_rights=True)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT current_user")) == SERVER_ROLE
        assert connection.scalar(text("SELECT count(*) FROM published_record")) == 0
    assert refusal(engine, "DELETE FROM record") == DENIED
    assert refusal(engine, "UPDATE publication SET demo = false") == DENIED
    engine.dispose()


def test_server_sees_approved_records_only(database: Database) -> None:
    """A deprecated record is in the table and not in the view."""
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
def test_versions_are_append_only_for_the_owner_too(database: Database, statement: str) -> None:
    """What was served once cannot be rewritten."""
    database.publish(make_record())
    with database.owner.connect() as connection, pytest.raises(Exception, match="append-only") as refused:
        connection.execute(text(statement))
    assert sqlstate(refused.value) == "23001"
