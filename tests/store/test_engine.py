"""Connections, timeouts, and what becomes of a driver's errors."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.cluster import scratch_cluster
from app.errors import SettingsError, Unavailable
from app.ports import CandidateRequest
from app.store.access import PostgresAccessStore
from app.store.catalogue import PostgresCatalogue
from app.store.engine import connected, owner_engine, server_engine, sql, transaction
from app.store.migrating import upgrade
from tests.databases import Database

CANARY = "canary-7f3a"


def test_database_that_is_down_is_unavailable_in_time() -> None:
    """Nobody listens: every port answers within the connect timeout, without a word of the driver's."""
    engine = server_engine("postgresql://somebody:secret@127.0.0.1:9/nowhere")
    calls = (
        lambda: PostgresAccessStore(engine).take(b"s" * 32, 1),
        lambda: PostgresAccessStore(engine).find_key("abc"),
        lambda: PostgresCatalogue(engine).fetch(["a-slug"]),
        lambda: PostgresCatalogue(engine).find_candidates(CandidateRequest(("a",), "a", None, frozenset())),
    )
    for call in calls:
        started = time.monotonic()
        with pytest.raises(Unavailable) as refused:
            call()
        assert time.monotonic() - started < 3
        assert refused.value.details == {"retry_after_seconds": 2}
        assert not {"secret", "somebody", "127.0.0.1", "nowhere"} & set(refused.value.message.replace(",", " ").split())


def test_server_recovers_by_itself_after_the_database_did(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Connections from before a restart are replaced without an error reaching a caller."""
    with scratch_cluster(tmp_path_factory.mktemp("restarted")) as cluster:
        owner = owner_engine(cluster.address.owner_url)
        upgrade(owner, server_login="chatctx_app")
        owner.dispose()
        engine = server_engine(cluster.address.app_url)
        store = PostgresAccessStore(engine)
        assert store.take(b"s" * 32, 9).used == 1
        with engine.connect(), owner.connect():
            pass
        engine_address = cluster.address
        cluster.stop()
        with pytest.raises(Unavailable):
            store.take(b"s" * 32, 9)
        cluster.start()
        assert cluster.address == engine_address
        assert store.take(b"s" * 32, 9).used == 2
        engine.dispose()
        owner.dispose()


def test_slow_statement_is_unavailable_not_waited_for(database: Database) -> None:
    """The server's statements end after a second."""
    started = time.monotonic()
    with pytest.raises(Unavailable), connected(database.server) as connection:
        connection.execute(text("SELECT pg_sleep(30)"))
    assert time.monotonic() - started < 3


def test_locked_row_is_unavailable_not_waited_for(database: Database) -> None:
    """A writer that waits for a lock gives up after a quarter of a second."""
    store = PostgresAccessStore(database.server)
    store.take(b"s" * 32, 9)
    with database.owner.begin() as other:
        other.execute(text("SELECT FROM quota_use FOR UPDATE"))
        with pytest.raises(Unavailable):
            store.take(b"s" * 32, 9)
    assert store.take(b"s" * 32, 9).used == 2


def test_exhausted_pool_is_unavailable_soon(database: Database) -> None:
    """More callers than connections wait half a second, then hear so."""
    engine = server_engine(database.app_url, pool_size=1)
    with engine.connect():
        started = time.monotonic()
        with pytest.raises(Unavailable):
            PostgresAccessStore(engine).find_key("abc")
        assert time.monotonic() - started < 2
    engine.dispose()


def test_killed_connection_is_unavailable_once(database: Database) -> None:
    """An administrator ends the session in the middle of a statement; the next one works."""
    store = PostgresAccessStore(database.server)

    def kill() -> None:
        time.sleep(0.3)
        with database.owner.begin() as connection:
            connection.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'chatctx_app'")
            )

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(Unavailable), connected(database.server) as connection:
        connection.execute(text("SELECT pg_sleep(0.9)"))
    killer.join()
    assert store.take(b"s" * 32, 9).admitted


def test_wrong_statement_is_a_defect_and_hides_its_parameters(database: Database) -> None:
    """An error that is ours is not called unavailable, and what a caller sent is not in it."""
    with pytest.raises(ProgrammingError) as failed, connected(database.server) as connection:
        connection.execute(text("SELECT slug FROM published_record WHERE slug = CAST(:slug AS)"), {"slug": CANARY})
    assert CANARY not in str(failed.value)


def test_failed_transaction_leaves_nothing(database: Database) -> None:
    """An error inside undoes all of it."""

    def write_and_fail() -> None:
        with transaction(database.owner) as connection:
            connection.execute(text("INSERT INTO daily_salt SELECT current_date, decode(repeat('ab', 32), 'hex')"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    with connected(database.owner) as connection:
        assert connection.scalar(text("SELECT count(*) FROM daily_salt")) == 0


def test_callers_text_is_bound_by_the_server(database: Database) -> None:
    """pg_stat_activity shows the statement with its places, so that no log of statements holds a question."""
    with connected(database.server) as connection:
        shown = connection.scalar(
            text("SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid() AND CAST(:canary AS text) <> ''"),
            {"canary": CANARY},
        )
    assert "$1" in str(shown)
    assert CANARY not in str(shown)


def test_frequent_statement_is_prepared(database: Database) -> None:
    """After a few searches the plan is kept by the session."""
    with connected(database.server) as connection:
        for _ in range(8):
            connection.execute(sql("publication_state"))
        assert connection.scalar(text("SELECT count(*) FROM pg_prepared_statements")) >= 1


@pytest.mark.parametrize(
    "url", ["", "mysql://a@b/c", "postgresql", "sqlite:///x.db", "postgresql://u:secret@host:port/name"]
)
def test_unusable_address_is_refused_without_repeating_it(url: str) -> None:
    """An address may hold a password."""
    with pytest.raises(SettingsError) as refused:
        server_engine(url)
    assert "secret" not in refused.value.message


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_usual_form_of_address_is_understood(scheme: str) -> None:
    """Hosts and tools hand out all three; options in the address are kept beside ours."""
    engine = owner_engine(f"{scheme}://u:p@host/name?options=-c%20work_mem%3D8MB&sslmode=require")
    assert engine.dialect.driver == "psycopg"
    assert engine.url.query == {"sslmode": "require"}
