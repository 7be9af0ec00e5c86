"""Every line that the server logs: made to appear on a running one, and held against a list of what lines may say."""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from app.cluster import Cluster
from app.cluster.address import DATABASE
from app.transports import eventlog
from tests.acceptance.conftest import ROOT, Program, Start, run_program
from tests.acceptance.integrity_signed import allow, make_key
from tests.acceptance.privacy_failures import DEFECT, WatchedDatabase
from tests.acceptance.privacy_requests import QUESTION
from tests.edge.wire import META, http_post, raw

Note = Callable[[str, object], None]
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?=\{)")
WORD = r"[a-z][a-z_]{0,39}"
# What a line may say. A key or a value that is not here was not weighed for what it tells about a caller.
KEYS: dict[str, str | tuple[float, float]] = {
    "event": "request|defect|started|stopped|note",
    "http": "GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|PROPFIND",
    "method": "[a-z]+(/[a-z]+)*|other",
    "status": (0, 599),
    "ms": (0, 600_000),
    "tool": "search_knowledge|get_guidance|submit_feedback|unknown",
    "mode": "hybrid|keyword_fallback|no_match",
    "era": r"20\d\d-\d\d-\d\d|other",
    "reason": rf"{WORD}|rpc-?\d{{1,6}}",
    "error": r"[A-Z][A-Za-z]{2,40}",
    "place": r"[a-z_]+\.py:\d{1,5}",
    "port": (1, 65_535),
    "level": "warning|error",
    "source": r"(app|chatctx|uvicorn)(\.[a-z]+)*",
    "text": r"[ -~]{1,2000}",
}
# Of the program's own words. Empty, and should stay so.
NOT_PROVOKED: set[str] = set()


def test_t35_every_line_of_the_log_says_only_what_is_listed(
    start: Start, tmp_path: Path, record_property: Note
) -> None:
    """Every event the server can log is made to happen: each is one line of listed fields with values of a known form.

    All lines in the program's code are found by reading it, so a new one that no test provokes fails this, and so does
    a new field. What libraries log passes the same form. Line ends, escape sequences and forged lines that callers send
    in every field do not get into the log.
    """
    signers = allow(tmp_path / "allowed", "owner", make_key(tmp_path, "key"))
    environ = {"CHATCTX_LOG_LEVEL": "debug", "CHATCTX_VERIFY_SECONDS": "1", "CHATCTX_ALLOWED_SIGNERS": str(signers)}
    with start(**environ) as program, Cluster(program.home) as cluster:
        database = WatchedDatabase(cluster, DATABASE)
        announced = len(program.lines)
        _answer_in_every_way(program)
        _fail_in_every_way(program, database)
        signers.write_text("names nobody\x1b[31m\n", "utf-8")
        _await(program, "allowed signers cannot be read")
        _lose_the_database(program, database)
        program.stop()
        events = [_event(line) for line in program.lines[announced:]]
        _cut_the_ledger(database)
    with run_program({"CHATCTX_EMBEDDER": "none"}, program.home, command="serve") as again:
        again.stop()
    events += [_event(line) for line in again.lines if MOMENT.match(line)]
    _check_coverage(events)
    kinds = {event.get("text", event["event"]) for event in events}
    record_property("figure", f"{len(events)} lines, {len(kinds)} different, {len(KEYS)} fields, none beyond the list")


def _event(line: str) -> dict[str, Any]:
    """Return what a line says; fail if it is no line of the log or says what is not listed."""
    moment = MOMENT.match(line)
    assert moment, line
    event: dict[str, Any] = json.loads(line[moment.end() :])
    assert line.isascii()
    assert line.isprintable()
    assert {name: value for name, value in event.items() if not _is_listed(name, value)} == {}
    return event


def _is_listed(name: str, value: object) -> bool:
    shape = KEYS.get(name, "nothing is listed under this name")
    if isinstance(shape, tuple):
        return isinstance(value, int | float) and shape[0] <= value <= shape[1]
    return isinstance(value, str) and value != eventlog.UNFIT and re.fullmatch(shape, value) is not None


def _check_coverage(events: list[dict[str, Any]]) -> None:
    assert {event["event"] for event in events} == set(_event_names())
    assert {name for event in events for name in event} == set(KEYS)
    notes = [event["text"] for event in events if "text" in event]
    silent = {words for words in _notes_in_code() if not any(_of(words).fullmatch(note) for note in notes)}
    assert silent == NOT_PROVOKED


def _of(words: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, words.split("%s"))), re.DOTALL)


def _calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield every call in the program as what it is made on, its name, and itself."""
    for path in (ROOT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield ast.unparse(node.func.value), node.func.attr, node


def _notes_in_code() -> set[str]:
    return {_words(call) for on, name, call in _calls() if on.lower() == "_log" and name in _LEVELS}


_LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}


def _event_names() -> set[str]:
    written = {_words(call) for on, name, call in _calls() if on == "eventlog" and name == "write"}
    return written | {"defect", "note"}


def _words(call: ast.Call) -> str:
    words = ast.literal_eval(call.args[0])
    assert isinstance(words, str), "what is logged must be fixed words, with values beside them"
    return words


# A constraint fails that no caller's words can break.
UNCOUNTED = (
    "ALTER TABLE quota_use ADD CONSTRAINT refuses CHECK (false) NOT VALID",
    "ALTER TABLE quota_use DROP CONSTRAINT refuses",
)
FORGED = '\r\n2026-12-01 00:00:00,000 {"event": "forged"}\x1b[2J\x1b[31m\u2028\x85\x00'


def _answer_in_every_way(program: Program) -> None:
    """Ask so that every field of a request's line is filled, in the plain way and with what forges lines."""
    for text in ("plain", FORGED):
        program.call("search_knowledge", {"query": f"{QUESTION} {text}", "technologies": ["React", text]})
        program.call("search_knowledge", {"query": "who won the football cup in 1954", text: text})
        program.call("get_guidance", {"ids": [text]})
        program.call("submit_feedback", {"category": "other", "comment": text, "record": text})
        program.call(text, {text: text})
        program.rpc(text, {text: text})
        program.rpc("initialize", {"protocolVersion": text, "clientInfo": {"name": text, "version": text}})
        program.rpc("ping", {"_meta": META}, **{"mcp-protocol-version": "2026-07-28 plain"})
    program.call("search_knowledge", {"query": QUESTION}, authorization="Bearer wrong")
    port = int(program.base.rsplit(":", 1)[1])
    versions = {"method": "notifications/initialized", "params": {"_meta": META}, "jsonrpc": "2.0"}
    for hostile in (b"forged\x1b[2J", b"forged\x85", b"forged\tforged"):
        header = b"MCP-Protocol-Version: " + hostile
        raw(port, http_post(port, json.dumps(versions).encode(), "x: y").replace(b"x: y", header), wait=1)
        raw(port, b"GET /" + hostile + b" HTTP/1.1\r\n\r\n", wait=1)
        raw(port, hostile + b" / HTTP/1.1\r\n\r\n", wait=1)
    for method in ("GET", "HEAD", "PUT", "PROPFIND"):
        httpx.request(method, f"{program.base}/a%0a%0dforged%1b[2J?a=%0a")
    httpx.get(program.base, headers={"connection": "upgrade", "upgrade": "websocket"})


def _fail_in_every_way(program: Program, database: WatchedDatabase) -> None:
    for table in ("quota_use", "retrieval_event", "term_posting", "published_record"):
        with database.broken(f"ALTER TABLE {table} RENAME TO gone", f"ALTER TABLE gone RENAME TO {table}"):
            program.call("search_knowledge", {"query": f"{QUESTION} without {table}"})
            if table == "published_record":
                _await(program, '"source": "app.serving"')
    for breaking, mending in (DEFECT, UNCOUNTED):
        with database.broken(breaking, mending):
            program.call("search_knowledge", {"query": f"{QUESTION} once more"})
    database.run("UPDATE record SET topic = 'of the future' WHERE slug = 'store-money-as-numeric'")
    program.call("search_knowledge", {"query": "money amounts in a numeric column"})
    _await(program, "is withheld")
    _continue_another_ledger(program, database)
    database.run("UPDATE record SET topic = 'data' WHERE slug = 'store-money-as-numeric'")


def _continue_another_ledger(program: Program, database: WatchedDatabase) -> None:
    known = database.read("SELECT ledger_head FROM publication")[0]
    database.run("UPDATE publication SET ledger_head = repeat('f', 64)")
    _await(program, "does not continue")
    database.run(f"UPDATE publication SET ledger_head = '{known}'")  # noqa: S608 - a hash that was read there


def _cut_the_ledger(database: WatchedDatabase) -> None:
    database.run("ALTER TABLE ledger_line DISABLE TRIGGER ALL", "DELETE FROM ledger_line WHERE prev = repeat('0', 64)")


def _lose_the_database(program: Program, database: WatchedDatabase) -> None:
    """Kill it twice; the second time let the first attempt to start it fail."""
    with database.killed():
        _await(program, "PostgreSQL runs again")
    secrets = database.cluster.status().data_directory.parent / "secrets.json"
    kept = secrets.read_text("utf-8")
    secrets.write_text("no JSON\n\x1b[31mforged", "utf-8")
    with database.killed():
        _await(program, "could not be started again")
    secrets.write_text(kept, "utf-8")


def _await(program: Program, words: str) -> None:
    deadline = time.monotonic() + 30
    while words not in program.output:
        assert time.monotonic() < deadline, f"{words} is not in\n" + "\n".join(program.lines[-20:])
        time.sleep(0.05)
