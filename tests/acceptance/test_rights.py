"""What the server's login may do: read what is published, count, and nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import ProgrammingError

from app.cluster import Cluster
from app.cluster.address import APP
from app.errors import Unavailable
from app.store.access import KeyRing, PostgresAccessStore
from app.store.actions import owner_actions
from app.store.engine import server_engine, sql, sqlstate
from app.store.tables import SERVER_ROLE, metadata
from tests.core.records import make_record
from tests.databases import Database

DENIED = "42501"
KEY = "abcdefgh"
SERVERS = 8
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
    "puts a hash of its own in a key's place": "UPDATE api_key SET mac = repeat('c', 32)::bytea",
    "moves a key to a pepper of its own": "UPDATE api_key SET mac = repeat('c', 32)::bytea, pepper_id = 'mine'",
    "forgets which peppers a key was under": "UPDATE api_key SET former_pepper_ids = '{}'",
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
    """Whoever takes over the server's login can change counts, add feedback and move keys to a new pepper; no more."""
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


@pytest.fixture
def key(database: Database) -> Callable[[], tuple[object, ...]]:
    """Keep a key under the pepper p1; return what reads its hash and where it is and was."""
    KeyRing(database.owner).add(KEY, b"a" * 32, "p1", "an agent", 10)

    def read() -> tuple[object, ...]:
        with database.owner.connect() as connection:
            row = connection.execute(text("SELECT mac, pepper_id, former_pepper_ids FROM api_key")).one()
        return bytes(row.mac), row.pepper_id, row.former_pepper_ids

    return read


def moves(database: Database) -> list[tuple[str, str, object]]:
    """Return every move that is noted, oldest first, with the login that made it."""
    noted = reversed(owner_actions(database.owner, 1000))
    return [(act.login, act.subject, act.detail["pepper_id"]) for act in noted if act.action == "key_rekeyed"]


def test_t37_a_key_is_moved_to_a_pepper_that_it_never_had_and_each_time_noted(
    database: Database, key: Callable[[], tuple[object, ...]]
) -> None:
    """The server may move a key to a pepper that it never had, as when peppers change; each time is noted with it."""
    store = PostgresAccessStore(database.server)
    store.rekey(KEY, "p1", b"b" * 32, "p2")
    assert key() == (b"b" * 32, "p2", ["p1"])
    store.rekey(KEY, "p2", b"c" * 32, "p3")
    assert key() == (b"c" * 32, "p3", ["p1", "p2"])
    assert moves(database) == [(APP, KEY, ["p1", "p2"]), (APP, KEY, ["p2", "p3"])]


@pytest.mark.parametrize(
    ("old", "new"),
    [("p2", "p2"), ("p2", "p1"), ("p1", "p9"), ("p2", ""), ("p2", "a b"), ("p2", "x" * 33), ("p2", "p9\n")],
    ids=["stay", "go back", "from where it was", "nowhere", "two words", "far too long", "line end"],
)
def test_t37_a_hash_is_not_exchanged_where_it_is(
    database: Database, key: Callable[[], tuple[object, ...]], old: str, new: str
) -> None:
    """Nobody with the server's login gets another hash under a pepper that a key is or was under, in no two steps."""
    store = PostgresAccessStore(database.server)
    store.rekey(KEY, "p1", b"b" * 32, "p2")
    before = key()
    store.rekey(KEY, old, b"f" * 32, new)
    assert key() == before
    assert len(moves(database)) == 1


def test_t37_a_revoked_key_stays_as_it_is(database: Database, key: Callable[[], tuple[object, ...]]) -> None:
    """A key that is revoked is not moved, nor one that was moved a hundred times: what the server writes has an end."""
    store = PostgresAccessStore(database.server)
    for number in range(1, 130):
        store.rekey(KEY, f"p{number}", b"b" * 32, f"p{number + 1}")
    assert len(moves(database)) == 100
    KeyRing(database.owner).add("mnopqrst", b"a" * 32, "p1", "another", 10)
    KeyRing(database.owner).revoke("mnopqrst")
    store.rekey("mnopqrst", "p1", b"b" * 32, "p2")
    assert len(moves(database)) == 100


def test_t37_two_servers_that_move_a_key_at_once_move_it_once(
    database: Database, key: Callable[[], tuple[object, ...]], record_property: Callable[[str, object], None]
) -> None:
    """Two servers that move the same key at the same time move it once; the second one leaves it as the first did."""
    store = PostgresAccessStore(database.server)
    with database.server.connect().execution_options(isolation_level="READ COMMITTED") as first:
        first.execute(sql("rekey"), {"key_id": KEY, "old_pepper_id": "p1", "mac": b"b" * 32, "pepper_id": "p2"})
        with ThreadPoolExecutor(1) as second:
            waiting = second.submit(store.rekey, KEY, "p1", b"c" * 32, "p3")
            time.sleep(0.1)
            assert not waiting.done()
            first.commit()
            waiting.result(timeout=10)
    assert key() == (b"b" * 32, "p2", ["p1"])
    at_once = threading.Barrier(SERVERS)

    def move(number: int) -> None:
        at_once.wait()
        with suppress(Unavailable):
            store.rekey(KEY, "p2", bytes([number]) * 32, "p3")

    with ThreadPoolExecutor(SERVERS) as servers:
        list(servers.map(move, range(SERVERS)))
    assert key()[1:] == ("p3", ["p1", "p2"])
    assert len(moves(database)) == 2
    record_property("figure", f"2 and {SERVERS} at once, {len(moves(database))} moves")


def test_t37_a_shadow_does_not_lead_the_function_astray(
    database: Database, key: Callable[[], tuple[object, ...]]
) -> None:
    """The one function that runs with the owner's rights minds no table that its caller puts before ours."""
    with database.server.connect() as connection:
        shadow = "key_id text, mac bytea, pepper_id text, former_pepper_ids text[], revoked_at timestamptz"
        connection.execute(text(f"CREATE TEMPORARY TABLE api_key ({shadow})"))
        connection.execute(text("CREATE TEMPORARY TABLE owner_action (action text, subject text, detail jsonb)"))
        connection.execute(text("SET search_path = pg_temp, chatctx, public"))
        connection.execute(sql("rekey"), {"key_id": KEY, "old_pepper_id": "p1", "mac": b"b" * 32, "pepper_id": "p2"})
        assert connection.scalar(text("SELECT count(*) FROM pg_temp.owner_action")) == 0
    assert key() == (b"b" * 32, "p2", ["p1"])
    assert len(moves(database)) == 1


# What the server's login holds beside tables and columns. Of the catalog's own objects, what everybody has is left out.
HELD: dict[str, tuple[str, list[str]]] = {
    "functions of ours": (
        """SELECT proname FROM pg_proc WHERE pronamespace = CAST('chatctx' AS regnamespace)
        AND has_function_privilege(oid, 'EXECUTE')""",
        ["rekey"],
    ),
    "functions with another's rights": (
        """SELECT concat_ws(' ', proname, array_to_string(proconfig, ' ')) FROM pg_proc WHERE prosecdef
        AND has_function_privilege(oid, 'EXECUTE')""",
        ["rekey search_path=pg_catalog, pg_temp"],
    ),
    "sequences": (
        """SELECT relname FROM pg_class WHERE relkind = 'S' AND (has_sequence_privilege(oid, 'USAGE')
        OR has_sequence_privilege(oid, 'SELECT') OR has_sequence_privilege(oid, 'UPDATE'))""",
        [],
    ),
    "views, foreign and other tables of anybody's": (
        """SELECT relname FROM pg_class JOIN pg_namespace AS place ON place.oid = relnamespace
        WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema')
        AND relname <> ALL (CAST(:tables AS text[])) AND has_any_column_privilege(pg_class.oid, 'SELECT')
        AND has_schema_privilege(place.oid, 'USAGE')""",
        ["alembic_version", "published_record"],
    ),
    "views that it may write to": (
        """SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace = CAST('chatctx' AS regnamespace)
        AND (has_any_column_privilege(oid, 'INSERT, UPDATE') OR has_table_privilege(oid, 'DELETE'))""",
        [],
    ),
    "schemas to make things in": (
        """SELECT nspname FROM pg_namespace
        WHERE nspname !~ '^pg_(toast_)?temp_' AND has_schema_privilege(oid, 'CREATE')""",
        [],
    ),
    "things of its own": (
        """SELECT classid FROM pg_shdepend JOIN pg_roles AS owner ON owner.oid = refobjid
        WHERE deptype = 'o' AND rolname IN (current_user, 'chatctx_server')""",
        [],
    ),
    "rights on what will be made": (
        """SELECT privilege_type FROM pg_default_acl, aclexplode(defaclacl) AS given
        LEFT JOIN pg_roles AS who ON who.oid = given.grantee
        WHERE given.grantee = 0 OR who.rolname IN (current_user, 'chatctx_server')""",
        [],
    ),
    "rights to give on": (
        """SELECT relname FROM pg_class, aclexplode(relacl) AS given JOIN pg_roles AS who ON who.oid = given.grantee
        WHERE given.is_grantable AND who.rolname IN (current_user, 'chatctx_server')""",
        [],
    ),
    "roles it is in, and may let others into": (
        """SELECT role.rolname || CASE WHEN admin_option THEN ', admin' ELSE '' END FROM pg_auth_members
        JOIN pg_roles AS role ON role.oid = roleid JOIN pg_roles AS member ON member.oid = pg_auth_members.member
        WHERE member.rolname IN (current_user, 'chatctx_server')""",
        ["chatctx_server"],
    ),
    "powers": (
        """SELECT rolname FROM pg_roles WHERE rolname IN (current_user, 'chatctx_server')
        AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)""",
        [],
    ),
    "settings that need a right": (
        """SELECT parname || ' ' || given.privilege_type FROM pg_parameter_acl, aclexplode(paracl) AS given
        LEFT JOIN pg_roles AS who ON who.oid = given.grantee
        WHERE (given.grantee = 0 OR who.rolname IN (current_user, 'chatctx_server'))
        AND parname <> 'log_parameter_max_length'""",
        [],
    ),
    "servers elsewhere, and languages that reach out": (
        """SELECT srvname FROM pg_foreign_server WHERE has_server_privilege(oid, 'USAGE')
        UNION ALL SELECT lanname FROM pg_language WHERE has_language_privilege(oid, 'USAGE') AND NOT lanpltrusted
        AND lanname NOT IN ('c', 'internal')""",
        [],
    ),
}


@pytest.mark.parametrize("kind", HELD)
def test_t37_server_holds_nothing_besides(
    database: Database, kind: str, record_property: Callable[[str, object], None]
) -> None:
    """Beside tables, the server's login may run one function of ours; it owns nothing and may make or pass on nothing.

    Functions, sequences, views, schemas, default rights, roles, powers, settings, foreign servers and languages.
    """
    question, expected = HELD[kind]
    with database.server.connect() as connection:
        held = connection.execute(text(question), {"tables": TABLES} if ":tables" in question else {}).scalars().all()
    assert sorted(held) == expected
    record_property("figure", f"{len(HELD)} kinds of right looked at")


def test_t37_embedded_database_lets_nobody_fill_the_disk(cluster: Cluster) -> None:
    """In the embedded database the server's login makes no temporary table and no large object; elsewhere it may."""
    engine = server_engine(cluster.address.app_url)
    tries = (
        "CREATE TEMPORARY TABLE mine (x int)",
        "SELECT lo_create(0)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT lo_creat(1)",
    )
    assert {refusal(engine, statement) for statement in tries} == {DENIED}
    engine.dispose()


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
