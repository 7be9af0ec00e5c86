"""No word of a question is kept: a canary goes in everywhere, whatever fails, and must come out nowhere."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from app.cluster import Cluster, scratch_cluster
from app.cluster.address import DATABASE
from app.cluster.binaries import wheel_binaries
from app.embedding.endpoint import EndpointEmbedder
from app.store.catalogue import PostgresCatalogue
from tests.acceptance.conftest import ROOT, Program, Start
from tests.acceptance.privacy_canary import Canaries, Sinks
from tests.acceptance.privacy_failures import EmbeddingService, WatchedDatabase
from tests.acceptance.privacy_requests import QUESTION, REFUSED, VALID, Send, Sender
from tests.core.records import make_record
from tests.databases import Database, DatabaseServer
from tests.edge.wire import http_post, message
from tests.fakes import HashingEmbedder
from tests.store.corpus import ask

MODEL = "the-service-s-model"
UNITS = 40
LEAST_PATHS = 40
SENDERS = 6
OTHER_CALLER = "192.0.2.7"
SPENT_CALLER = "192.0.2.8"
KEPT = "keptword7f3a"
Note = Callable[[str, object], None]
# A caller is told again: the id of the request, ids of records and the name of an argument that do not exist, and a
# protocol version that is not spoken. Nobody else is.
REPEATED_TO_THE_SENDER = {
    "JSON-RPC id", "wrong JSON-RPC version", "id", "ids as text", "unknown argument", "MCP-Protocol-Version",
}  # fmt: skip
TALKATIVE = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_duration": "on",
    "log_min_messages": "debug1",
    "log_min_error_statement": "debug1",
    "log_error_verbosity": "verbose",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "-1",
    "log_lock_waits": "on",
    "debug_print_parse": "on",
    "debug_print_rewritten": "on",
    "debug_print_plan": "on",
}


@dataclass
class Stage:
    """A running program, what it depends on, and what was done to it."""

    program: Program
    database: WatchedDatabase
    service: EmbeddingService
    folder: Path
    environ: Mapping[str, str]
    canaries: Canaries = field(default_factory=Canaries)
    sinks: Sinks = field(default_factory=Sinks)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=20))

    def send(
        self,
        failure: str,
        ways: Mapping[str, Send],
        headers: Mapping[str, str] | None = None,
        at_once: int = SENDERS,
    ) -> str:
        """Send a new word each way, some at a time; return all that was answered."""
        with ThreadPoolExecutor(at_once) as senders:
            return "\n".join(senders.map(lambda way: self._send(failure, way, ways[way], headers or {}), ways))

    def _send(self, failure: str, way: str, send: Send, headers: Mapping[str, str]) -> str:
        word = self.canaries.word(f"{way}, while {failure}")
        sender = Sender(self.program.base, self.canaries.address(word), self.client, headers)
        send(sender, word)
        answers = "\n".join(sender.answers)
        if way not in REPEATED_TO_THE_SENDER:
            self.sinks.add("answers to the sender", answers)
        return answers

    def listen_as_another(self) -> None:
        """Keep what somebody else is told who asks meanwhile."""
        other = Sender(self.program.base, OTHER_CALLER, self.client)
        other.call("search_knowledge", {"query": f"{QUESTION} {next(self.numbers)}", "technologies": ["React"]})
        other.call("get_guidance", {"ids": ["use-stable-keys"]})
        other.post(message("tools/list"))
        self.sinks.add("answers to others", "\n".join(other.answers))
        for path in ("/readyz", "/livez", "/", "/llms.txt", "/llms-full.txt", "/api.json"):
            self.sinks.add("public files and health", httpx.get(self.program.base + path, timeout=20).text)


def _failures(stage: Stage) -> dict[str, tuple[AbstractContextManager[None], str]]:
    """Return what can fail, and what at least one caller is told or the log says when it does."""
    database, service = stage.database, stage.service
    return {
        "a lock is held on what is searched": (database.locked("term_posting"), "503 "),
        "a lock is held on the quota": (database.locked("quota_use"), "503 "),
        "statements are cancelled": (database.interrupting("pg_cancel_backend"), "503 "),
        "sessions are ended": (database.interrupting("pg_terminate_backend"), "503 "),
        "a search takes too long": (_with_each_row(database, "pg_sleep(2) IS NOT NULL"), "503 "),
        "a search fails in the database": (_with_each_row(database, "1 / (length(term) * 0) = 1"), "degraded"),
        "a constraint refuses feedback": (
            database.broken("ALTER TABLE feedback ADD CONSTRAINT refuses CHECK (false) NOT VALID",
                            "ALTER TABLE feedback DROP CONSTRAINT refuses"),
            "internal_error",
        ),
        "feedback is not unique": (
            database.broken("DELETE FROM feedback WHERE comment LIKE 'Tell %'; "
                            "CREATE UNIQUE INDEX only_one ON feedback ((true))", "DROP INDEX only_one"),
            "internal_error",
        ),
        "the words' table is gone": (_gone(database, "term_posting"), "degraded"),
        "the records' view is gone": (_gone(database, "published_record"), "503 "),
        "the statistics' table is gone": (_gone(database, "retrieval_event"), "200 "),
        **{
            f"the embedding service answers with {how}": (service.failing(how), reason)
            for how, reason in {
                "an error that repeats the question": "embedding_error",
                "a redirect that repeats the question": "embedding_error",
                "vectors of another length": "embedding_invalid",
                "no JSON, but the question": "embedding_invalid",
                "silence": "embedding_timeout",
                "a closed connection": "embedding_error",
            }.items()
        },
    }  # fmt: skip


def _with_each_row(database: WatchedDatabase, happens: str) -> AbstractContextManager[None]:
    """Let something happen at each row that a search reads, when the question is in the database's hands already."""
    return database.broken(
        f"CREATE POLICY each ON term_posting USING ({happens}); ALTER TABLE term_posting ENABLE ROW LEVEL SECURITY",
        "DROP POLICY each ON term_posting; ALTER TABLE term_posting DISABLE ROW LEVEL SECURITY",
    )


def _gone(database: WatchedDatabase, table: str) -> AbstractContextManager[None]:
    return database.broken(f"ALTER TABLE {table} RENAME TO gone", f"ALTER TABLE gone RENAME TO {table}")


def _send_everything(stage: Stage) -> None:
    """Send a word each way while nothing fails, and those that get furthest in every failure."""
    questions = {way: VALID[way] for way in ("query", "query of operators")}
    assert "200 " in stage.send("nothing fails", VALID | REFUSED)
    stage.send("nothing fails", {"comment": _keep})
    for failure, (failing, told) in _failures(stage).items():
        with failing:
            assert told in stage.send(failure, questions if "embedding" in failure or "search" in failure else VALID), (
                failure
            )
        # Asks what was not asked before, so that the breaker closes that failing embeddings would open.
        stage.listen_as_another()
    _send_to_a_crowd(stage)
    _send_without_right(stage)
    _send_and_leave(stage)
    _send_as_the_database_dies(stage)
    stage.listen_as_another()


def _keep(sender: Sender, _: str) -> None:
    comment = {"category": "other", "comment": f"{KEPT} is out of date"}
    sender.call("submit_feedback", comment)
    assert '"accepted' in sender.answers[0].replace("\\", "")


def _send_to_a_crowd(stage: Stage) -> None:
    crowd = {f"{way} {n}": VALID[way] for way in VALID.keys() - REPEATED_TO_THE_SENDER for n in range(3)}
    with stage.database.stalled():
        told = stage.send("the database stalls", crowd, at_once=len(crowd))
    assert "The call took too long" in told
    assert "The server is busy" in told


def _send_without_right(stage: Stage) -> None:
    spent = {"x-forwarded-for": SPENT_CALLER}
    spender = Sender(stage.program.base, SPENT_CALLER, stage.client)
    while not spender.answers or not spender.answers[-1].startswith("429"):
        spender.call("get_guidance", {"ids": ["a"]})
        assert len(spender.answers) < 10 * UNITS
    assert "429 " in stage.send("the quota is used up", VALID, spent)
    assert "401 " in stage.send("the key is wrong", VALID, {"authorization": "Bearer kb_live_wrong"})


def _send_and_leave(stage: Stage) -> None:
    """Hang up in the middle of the call."""

    def leave(sender: Sender, word: str) -> None:
        call = message("tools/call", {"name": "search_knowledge", "arguments": {"query": f"{QUESTION} {word}"}})
        sender.send_raw(http_post(sender.port, repr(call).replace("'", '"').encode()), wait=0.1)

    with stage.database.locked("term_posting"):
        stage.send("the caller hangs up", {f"query of leaver {number}": leave for number in range(6)})


def _send_as_the_database_dies(stage: Stage) -> None:
    # Whoever starts it again also shortens a long log.
    _read_log(stage)
    stage.database.cluster.watch()
    with stage.database.killed():
        assert "503 " in stage.send("the database is dead", VALID)
    deadline = time.monotonic() + 60
    while httpx.get(f"{stage.program.base}/readyz", timeout=20).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _gather(stage: Stage) -> None:
    """Add everything that the program and its database have kept or shown."""
    sinks, database = stage.sinks, stage.database
    for command in ("config", "doctor"):
        sinks.add(
            "chatctx config and doctor", _shown({**stage.environ, "CHATCTX_HOME": str(stage.program.home)}, command)
        )
    views = database.read("SELECT viewname FROM pg_views WHERE viewname LIKE 'pg\\_stat%'")
    for view in sorted({*views} - {"pg_stat_activity"}):
        sinks.add("statistics views", "\n".join(database.read(f"SELECT to_jsonb(v)::text FROM {view} v")))  # noqa: S608 - from the catalogue
    sinks.add("what sessions run", "\n".join(sorted(database.seen)))
    sinks.add("dump of the database", _dump(database))
    stage.program.stop()
    sinks.add("the program's output", stage.program.output)
    sinks.add_folder("home folder", stage.program.home)
    if temporary := stage.environ.get("TMPDIR"):
        sinks.add_folder("temporary files", Path(temporary))
    sinks.add("traces", (stage.folder / "spans").read_bytes())
    status = database.cluster.status()
    sinks.add_folder("data folder", status.data_directory)
    _read_log(stage)


def _read_log(stage: Stage) -> None:
    log = stage.database.cluster.status().log_file
    for part in log.parent.glob(f"{log.stem}.log*"):
        stage.sinks.add("PostgreSQL's log", part.read_bytes())


def _shown(environ: Mapping[str, str], command: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "app.main", command], cwd=ROOT, env={**os.environ, "COLUMNS": "1000", **environ},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def _dump(database: WatchedDatabase) -> bytes:
    uri = database.cluster.address.owner_uri.replace(f"/{DATABASE}?", f"/{database.name}?")
    return subprocess.run([wheel_binaries(18).folder / "pg_dump", uri], check=True, capture_output=True).stdout


def _check(stage: Stage, *, talkative: bool, note: Note) -> None:
    """Fail if a word is in any sink; or if a sink holds nothing, or the search would not see a word in it."""
    canaries, sinks = stage.canaries, stage.sinks
    assert all(canaries.found_in(form) for word in canaries.paths for form in canaries.encoded(word))
    alive = {
        "answers to the sender": "unknown argument",
        "answers to others": "use-stable-keys",
        "public files and health": '"ready":true',
        "chatctx config and doctor": "CHATCTX_LOG_LEVEL",
        "statistics views": "retrieval_event",
        "what sessions run": "term_posting",
        "dump of the database": KEPT,
        "the program's output": '"tool": "search_knowledge"',
        "home folder": "pepper",
        "traces": "recorded-control-span",
        "data folder": KEPT,
        "PostgreSQL's log": "term_posting" if talkative else "database system",
    }
    assert set(sinks.contents) - {"temporary files"} == set(alive)
    assert {name: sign for name, sign in alive.items() if sign.encode() not in sinks.text(name)} == {}
    asked = canaries.found_in(stage.service.heard)
    assert len(asked) > 20, "the words did not travel"
    assert sinks.leaks(canaries) == {}
    sent = {re.sub(r" \d+,", ",", path) for path in canaries.paths.values()}
    places, failures = ({path.split(", while ")[part] for path in sent} for part in (0, 1))
    assert len(places) >= LEAST_PATHS
    size = sum(len(sinks.text(name)) for name in sinks.contents) / 1e6
    note(
        "figure",
        f"words in {len(places)} places of requests and while {len(failures) - 1} things fail, in {len(sent)} "
        f"combinations; {len(sinks.contents)} sinks ({size:.0f} MB) searched, 0 found",
    )


def _environ(folder: Path, service: EmbeddingService) -> dict[str, str]:
    return {
        "CHATCTX_LOG_LEVEL": "debug",
        "CHATCTX_TRUSTED_PROXIES": "127.0.0.1/32",
        "CHATCTX_GUEST_DAILY_QUOTA": str(UNITS),
        "CHATCTX_MAX_CONCURRENT_CALLS": "4",
        "CHATCTX_EMBEDDER": "openai-compatible",
        "CHATCTX_EMBEDDING_URL": service.url,
        "CHATCTX_EMBEDDING_MODEL": MODEL,
        "PYTHONPATH": str(Path(__file__).parent / "privacy_site"),
        "RECORDED_SPANS": str(folder / "spans"),
    }


@pytest.fixture
def service() -> Iterator[EmbeddingService]:
    """Run an embedding service."""
    running = EmbeddingService()
    yield running
    running.shutdown()
    running.server_close()


def test_t33_no_word_of_a_caller_is_kept_or_shown_by_the_program_and_its_own_database(
    start: Start, service: EmbeddingService, tmp_path: Path, record_property: Note
) -> None:
    """No word of a caller is kept or shown, by any of 40 and more ways in and whatever fails meanwhile.

    Unique words go in through every argument, header and part of a message, and callers' addresses with them, while
    embedding service, database, statements, quota and key fail. Then the program's output at level debug, the log, data
    files, views and a dump of its own PostgreSQL, all files of its folders, recorded traces, health, public files,
    `chatctx config` and `chatctx doctor`, and what other callers are told are searched for them, in plain text and
    encoded. The caller himself is told again the id of his request, ids of records and the name of an argument that do
    not exist, and a protocol version that is not spoken. Comments in feedback are kept, without what is private in
    them. An in-process recorder stands in for a telemetry SDK. pg_stat_statements is not in the wheel: not looked at.
    """
    environ = _environ(tmp_path, service)
    with start(**environ) as program, Cluster(program.home) as cluster:
        stage = Stage(program, WatchedDatabase(cluster, DATABASE), service, tmp_path, environ)
        _play(stage)
    _check(stage, talkative=False, note=record_property)


def test_t33_a_database_that_logs_every_statement_logs_no_word_of_a_caller(
    serve: Start, service: EmbeddingService, tmp_path: Path, record_property: Note
) -> None:
    """A database of one's own may log every statement and error: no word of a caller is in its log, nor anywhere else.

    It logs all there is, with the values in statements. The server's role has the right to leave the values out
    (`GRANT SET ON PARAMETER log_parameter_max_length TO chatctx_server`), which `chatctx migrate` gives it where the
    owner may, and which `chatctx doctor` asks for otherwise. A second cluster on this machine stands in for the other
    server.
    """
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with _database_of_somebody_else(tmp_path / "elsewhere") as (cluster, database):
        watched = WatchedDatabase(cluster, database.name)
        watched.run(_GRANT, *_talkative(database))
        database.publish(make_record(), embedder=EndpointEmbedder(service.url, MODEL))
        environ = {**_environ(tmp_path, service), "TMPDIR": str(temporary)}
        with serve(database, **environ) as program:
            urls = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
            stage = Stage(program, watched, service, tmp_path, environ | urls)
            _play(stage)
    _check(stage, talkative=True, note=record_property)


def test_t33_doctor_warns_where_a_database_would_log_questions(
    serve: Start, cluster: Cluster, database: Database, tmp_path: Path, record_property: Note
) -> None:
    """Where a database logs the values in statements and the server may not stop it, `chatctx doctor` says so.

    It names the settings and the one statement for an administrator; once that has run, a server started anew leaves no
    word in the log. Plans that the extension auto_explain logs are warned of too, which is not shown here: it is not in
    the wheel.
    """
    database.publish(make_record())
    watched, canaries = WatchedDatabase(cluster, database.name), Canaries()
    watched.run(*_talkative(database))
    urls = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    environ = {**urls, "CHATCTX_EMBEDDER": "none", "CHATCTX_HOME": str(tmp_path / "home")}

    def logged() -> set[str]:
        before = cluster.status().log_file.stat().st_size
        with serve(database) as program:
            program.call("search_knowledge", {"query": f"{QUESTION} {canaries.word('query')}"})
        return canaries.found_in(cluster.status().log_file.read_bytes()[before:])

    assert logged() == {"query"}
    warning = _shown(environ, "doctor")
    assert "log_statement=all, log_min_duration_statement=0" in warning
    assert _GRANT in warning
    watched.run(_GRANT)
    try:
        assert logged() == set()
        assert _GRANT not in _shown(environ, "doctor")
    finally:
        watched.run(_GRANT.replace("GRANT", "REVOKE").replace(" TO ", " FROM "))
    record_property("figure", "1 of 1 question logged and warned of before the grant, 0 of 1 after it")


def test_t33_statements_that_a_session_keeps_hold_no_word_of_a_question(
    database: Database, record_property: Note
) -> None:
    """Statements that are prepared on the server's connections hold the text of the program, not of a question."""
    database.publish(make_record())
    catalogue, embedder, canaries = PostgresCatalogue(database.server), HashingEmbedder(), Canaries()
    for number in range(12):
        question = f"{QUESTION} {canaries.word(f'query {number}')}"
        ask(catalogue, question, embedder.question(question), technologies=(canaries.word("technology"),))
        catalogue.fetch([canaries.word("id")])
    with database.server.connect() as connection:
        kept = connection.execute(text("SELECT to_jsonb(p)::text FROM pg_prepared_statements p")).scalars().all()
    assert any("posting" in statement for statement in kept)
    assert canaries.found_in("\n".join(kept).encode()) == set()
    record_property("figure", f"{len(canaries.paths)} words in, {len(kept)} prepared statements, 0 found")


_GRANT = "GRANT SET ON PARAMETER log_parameter_max_length TO chatctx_server"


def _play(stage: Stage) -> None:
    with stage.client, stage.database.watched():
        _send_everything(stage)
    _gather(stage)


def _talkative(database: Database) -> list[str]:
    return [f"ALTER DATABASE {database.name} SET {name} = '{value}'" for name, value in TALKATIVE.items()]


@contextmanager
def _database_of_somebody_else(folder: Path) -> Iterator[tuple[Cluster, Database]]:
    """Run another PostgreSQL, which is started again when it is killed."""
    with scratch_cluster(folder) as cluster:
        server = DatabaseServer(cluster.address)
        server.make_template()
        with server.clone() as database:
            yield cluster, database
        server.close()
