"""From any revision to the newest and back, on a database with data in it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text
from sqlalchemy.schema import CreateTable

import migrations
from app.cluster.address import APP, DATABASE
from app.contract import Mode
from app.errors import SettingsError
from app.ports import RetrievalEvent
from app.store.access import KeyRing, PostgresAccessStore
from app.store.engine import owner_engine
from app.store.migrating import configuration, current_revision, downgrade, head_revision, is_at_head, upgrade
from app.store.signals import PostgresSignals
from app.store.tables import SCHEMA, metadata
from tests.core.records import make_record
from tests.databases import Database, DatabaseServer

SCRIPTS = ScriptDirectory(str(Path(migrations.__file__).parent))
REVISIONS = [revision.revision for revision in SCRIPTS.walk_revisions("base", "head")][::-1]


@pytest.fixture
def empty(database_server: DatabaseServer) -> Iterator[Database]:
    """Lend a database from before the first migration."""
    with database_server.clone(DATABASE) as lent:
        yield lent


def shape(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """Return everything that is ours in a database: columns, constraints, indexes, views, triggers, rights."""
    questions = {
        "columns": """SELECT table_name, column_name, data_type, is_nullable, column_default, generation_expression
            FROM information_schema.columns WHERE table_schema = :schema""",
        "constraints": """SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
            WHERE connamespace = CAST(:schema AS regnamespace)""",
        "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = :schema",
        "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = :schema",
        "triggers": """SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger
            WHERE NOT tgisinternal AND tgrelid IN
                (SELECT oid FROM pg_class WHERE relnamespace = CAST(:schema AS regnamespace))""",
        "rights": """SELECT relname, CAST(relacl AS text) FROM pg_class
            WHERE relnamespace = CAST(:schema AS regnamespace)""",
        "column rights": """SELECT CAST(CAST(attrelid AS regclass) AS text), attname, CAST(attacl AS text)
            FROM pg_attribute WHERE attacl IS NOT NULL AND attrelid IN
                (SELECT oid FROM pg_class WHERE relnamespace = CAST(:schema AS regnamespace))""",
    }
    with engine.connect() as connection:
        return {
            name: sorted((tuple(row) for row in connection.execute(text(question), {"schema": SCHEMA})), key=repr)
            for name, question in questions.items()
        }


def seed(database: Database) -> None:
    """Put something into every table."""
    database.publish(make_record(), make_record("another"), index_from_rows=1)
    KeyRing(database.owner).add("abcdefabcdef", b"m" * 32, "p1", "laptop", 5)
    store = PostgresAccessStore(database.server)
    store.take(b"s" * 32, 5)
    store.daily_salt()
    PostgresSignals(database.server).record_retrieval(RetrievalEvent(b"12345678", (), (), Mode.HYBRID, 1, None))


def test_base_leaves_nothing_of_ours_behind(database: Database) -> None:
    """Only the schema, with the table in which the revision is noted."""
    seed(database)
    downgrade(database.owner, "base")
    with database.owner.connect() as connection:
        left = connection.scalars(
            text("SELECT table_name FROM information_schema.tables WHERE table_schema = :schema"), {"schema": SCHEMA}
        ).all()
    assert left == ["alembic_version"]
    assert current_revision(database.owner) is None


def test_upgrade_is_safe_to_repeat(database: Database) -> None:
    """It changes nothing at the newest revision."""
    before = shape(database.owner)
    upgrade(database.owner, server_login=APP)
    assert shape(database.owner) == before
    assert current_revision(database.server) == head_revision()


def test_servers_that_start_together_migrate_once(empty: Database) -> None:
    """Four processes at once: one migrates, the others wait and find it done."""
    assert not is_at_head(empty.owner)
    assert not is_at_head(empty.server)
    program = (
        "import sys; from app.store.engine import owner_engine; from app.store.migrating import upgrade; "
        "upgrade(owner_engine(sys.argv[1]), server_login=sys.argv[2])"
    )
    command_line = [sys.executable, "-c", program, empty.owner_url, APP]
    started = [subprocess.Popen(command_line, cwd=Path(migrations.__file__).parents[1]) for _ in range(4)]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]
    assert is_at_head(empty.owner)


def test_models_and_migrations_agree(database: Database) -> None:
    """Alembic finds nothing to generate, with an index of publishing's in the database."""
    seed(database)
    command.check(configuration(database.owner))


def test_generated_columns_are_those_of_the_metadata(database: Database) -> None:
    """Alembic does not look at their expressions: the live ones equal those of a table made from the metadata."""
    question = text("""
        SELECT attribute.attname, pg_get_expr(expression.adbin, expression.adrelid)
        FROM pg_attribute AS attribute
        JOIN pg_attrdef AS expression ON expression.adrelid = attribute.attrelid AND expression.adnum = attribute.attnum
        WHERE attribute.attgenerated = 's' AND attribute.attrelid = CAST(:name AS regclass)
    """)
    with database.owner.begin() as connection:
        live = dict(tuple(row) for row in connection.execute(question, {"name": "chatctx.record"}))
        connection.execute(text("CREATE SCHEMA fresh"))
        made = str(CreateTable(metadata.tables["chatctx.record"]).compile(connection))
        connection.exec_driver_sql(made.replace("chatctx.record", "fresh.record"))
        fresh = dict(tuple(row) for row in connection.execute(question, {"name": "fresh.record"}))
    assert live == fresh
    assert set(live) == {"applies_to", "task_types", "search_text"}


def test_every_constraint_has_a_name_of_ours(database: Database) -> None:
    """A later migration can name what it changes."""
    with database.owner.connect() as connection:
        names = connection.scalars(
            text("""SELECT conname FROM pg_constraint
                WHERE connamespace = CAST('chatctx' AS regnamespace) AND contype <> 'n'
                AND conrelid <> CAST('chatctx.alembic_version' AS regclass)""")
        ).all()
    assert names
    assert all(name.startswith(("pk_", "uq_", "fk_", "ck_")) for name in names)


def test_database_without_pgvector_is_refused_with_the_remedy(database_server: DatabaseServer, empty: Database) -> None:
    """The owner of a database may not add it: the message says who runs what."""
    database_server.run("CREATE DATABASE without_pgvector TEMPLATE template0")
    engine = owner_engine(database_server.url("without_pgvector"))
    try:
        with pytest.raises(SettingsError, match="CREATE EXTENSION vector"):
            upgrade(engine, server_login=APP)
    finally:
        engine.dispose()
        database_server.run("DROP DATABASE without_pgvector")


def test_login_that_does_not_exist_is_refused_with_the_remedy(empty: Database) -> None:
    """The server's login is somebody's to make."""
    with pytest.raises(SettingsError, match="no login 'nobody-here'"):
        upgrade(empty.owner, server_login="nobody-here")


def test_template_of_a_revision_states_the_rules() -> None:
    """Whoever writes the next revision reads them first."""
    template = (Path(migrations.__file__).parent / "script.py.mako").read_text("utf-8")
    for rule in ("CONCURRENTLY", "NOT VALID", "downgrade", "import pgvector.sqlalchemy", "chatctx_server"):
        assert rule in template
