"""What a person meets who starts the program, uses it and stops it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from app.cluster import Cluster
from tests.acceptance.conftest import ROOT, Start, answer_of, run_program

KEYS = "use-stable-keys-for-dynamic-react-lists"
QUESTION = {
    "query": "React list rows keep the wrong state after reordering",
    "technologies": ["React"],
    "topic": "implementation",
    "max_results": 3,
}


def _postgres_of(home: Path) -> psutil.Process | None:
    """Return the main process of a home's PostgreSQL, wherever its data is."""
    pid = Cluster(home).status().pid
    return psutil.Process(pid) if pid else None


def test_program_says_what_a_person_needs_next(start: Start) -> None:
    """Address, one line per client, how to ask from the shell, and whose records these are."""
    with start() as program:
        for needed in (
            "claude mcp add",
            "codex mcp add",
            "gemini mcp add",
            ".cursor/mcp.json",
            "chatctx search",
            "demo records",
        ):
            assert needed in program.output
        assert "/mcp" in program.output


def test_program_answers_with_the_shipped_model(start: Start) -> None:
    """With the model that is shipped, words and meaning are both searched, and nonsense gets no match."""
    with start(CHATCTX_EMBEDDER="onnx", CHATCTX_EMBEDDING_TIMEOUT_MS="10000") as program:
        found = answer_of(program.call("search_knowledge", QUESTION))
        assert found["results"][0]["slug"] == KEYS
        assert found["retrieval"]["mode"] == "hybrid"
        nothing = answer_of(program.call("search_knowledge", {"query": "best sourdough hydration for a rye loaf"}))
        assert nothing["retrieval"]["mode"] == "no_match"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_program_ends_cleanly_with_everything_it_started(start: Start, how: signal.Signals) -> None:
    """A signal ends it with exit code 0, and no PostgreSQL is left behind."""
    with start() as program:
        assert _postgres_of(program.home)
        assert program.stop(how) == 0
        assert _postgres_of(program.home) is None


def test_second_start_finds_everything_as_it_was(start: Start, tmp_path: Path) -> None:
    """Nothing is published or counted anew: a guest's units are still used."""
    with start(home=tmp_path / "home") as program:
        first = program.call("search_knowledge", QUESTION)
        assert first.headers["x-guest-quota-remaining"] == "249"
        assert program.stop() == 0
    with start(home=tmp_path / "home") as program:
        assert program.call("search_knowledge", QUESTION).headers["x-guest-quota-remaining"] == "248"


def test_second_program_on_the_port_says_who_holds_it(start: Start, approved_records: Path, tmp_path: Path) -> None:
    """It exits with 1, names port and holder, and leaves the first alone."""
    with start() as program:
        port = program.base.rpartition(":")[2]
        second = subprocess.run(
            [sys.executable, "-m", "app.main", "run"],
            cwd=ROOT,
            env={
                "PATH": "/usr/bin:/bin",
                "CHATCTX_PORT": port,
                "CHATCTX_HOME": str(tmp_path / "other"),
                "CHATCTX_RECORDS": str(approved_records),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert second.returncode == 1
        assert port in second.stderr
        assert str(program.process.pid) in second.stderr
        assert program.call("search_knowledge", QUESTION).status_code == 200


def test_two_programs_share_one_database(start: Start, tmp_path: Path) -> None:
    """On two ports with one home they serve the same records and count the same quota; one may leave."""
    home = tmp_path / "home"
    with start(home=home) as first:
        with start(home=home) as second:
            assert first.call("search_knowledge", QUESTION).headers["x-guest-quota-remaining"] == "249"
            assert second.call("search_knowledge", QUESTION).headers["x-guest-quota-remaining"] == "248"
            assert second.stop() == 0
        assert first.call("search_knowledge", QUESTION).headers["x-guest-quota-remaining"] == "247"


def test_home_with_spaces_works(start: Start, tmp_path: Path) -> None:
    """A path may have spaces and letters of any alphabet."""
    with start(home=tmp_path / "my own föld er") as program:
        assert program.call("search_knowledge", QUESTION).status_code == 200


def test_edited_record_is_withheld_at_the_next_start(start: Start, approved_records: Path, tmp_path: Path) -> None:
    """One changed character takes the approval away; the check says so, and the record is not served."""
    records = tmp_path / "records"
    shutil.copytree(approved_records, records)
    path = records / f"implementation/{KEYS}.md"
    path.write_text(
        path.read_text("utf-8")
        .replace("stays with the item", "stays with the Item", 1)
        .replace("stay with the item", "stay with the Item", 1),
        "utf-8",
    )
    environ = {"CHATCTX_RECORDS": str(records), "CHATCTX_EMBEDDER": "none"}
    with run_program(environ, tmp_path / "home") as program:
        assert f"withheld: {KEYS}" in program.output
        assert answer_of(program.call("get_guidance", {"ids": [KEYS]}))["missing"] == [KEYS]
        others = answer_of(program.call("get_guidance", {"ids": ["store-money-as-numeric"]}))
        assert others["missing"] == []
    check = subprocess.run(
        [sys.executable, "-m", "app.main", "review", "check", KEYS, "--words-only"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "CHATCTX_HOME": str(tmp_path / "home"), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "changed since approval" in check.stdout + check.stderr


def test_demonstration_records_are_refused_in_production(approved_records: Path, tmp_path: Path) -> None:
    """Records that no owner approved are not served as if one had, unless it is said in so many words."""
    environ = {"CHATCTX_RECORDS": str(approved_records), "CHATCTX_EMBEDDER": "none", "CHATCTX_ENV": "production"}
    with pytest.raises(AssertionError, match="demonstration set"), run_program(environ, tmp_path / "home"):
        pass
    with run_program({**environ, "CHATCTX_ALLOW_DEMO_RECORDS": "true"}, tmp_path / "home") as program:
        assert program.call("search_knowledge", QUESTION).status_code == 200


def test_agent_is_told_that_records_are_a_demonstration(start: Start) -> None:
    """The handshake says it, so does every file that describes the service."""
    with start() as program:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        assert "not approved by a human owner" in program.rpc("initialize", hello).text
        assert "not approved by a human owner" in httpx.get(f"{program.base}/llms-full.txt").text


def test_nothing_listens_but_the_server(start: Start) -> None:
    """The database opens no port."""
    with start() as program:
        postgres = _postgres_of(program.home)
        assert postgres
        family = [psutil.Process(program.process.pid), postgres]
        listening = {c.laddr.port for p in family for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN}
        assert listening == {int(program.base.rpartition(":")[2])}
        with socket.socket(socket.AF_INET) as probe:
            assert probe.connect_ex(("127.0.0.1", int(program.base.rpartition(":")[2]))) == 0
