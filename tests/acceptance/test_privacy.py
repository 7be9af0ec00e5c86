"""No word of a question is kept: a canary goes in everywhere and must come out nowhere."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.cluster import Cluster
from app.cluster.binaries import wheel_binaries
from app.store.engine import owner_engine
from tests.acceptance.conftest import Program, Start

CANARY = "zyzzyvacanary"
ADDRESS = "198.51.100.77"


@pytest.fixture
def used(start: Start) -> Iterator[Program]:
    """Lend a program that has been asked with the canary in every field, validly and not."""
    with start(CHATCTX_LOG_LEVEL="debug", CHATCTX_TRUSTED_PROXIES="127.0.0.1/32", CHATCTX_EMBEDDER="onnx") as program:
        for arguments in _searches():
            program.call("search_knowledge", arguments, **{"x-forwarded-for": ADDRESS, "user-agent": CANARY})
        program.call("get_guidance", {"ids": [CANARY, f"{CANARY}\0", f"'{CANARY}"]})
        program.call("get_guidance", {"ids": CANARY * 40})
        program.call(CANARY, {CANARY: CANARY})
        program.rpc(CANARY, {CANARY: CANARY})
        program.call("search_knowledge", {"query": "q1"}, authorization=f"Bearer {CANARY}")
        program.call("search_knowledge", {"query": "q2"}, origin=f"https://{CANARY}.example")
        yield program


def _searches() -> list[dict[str, object]]:
    return [
        {"query": f"{CANARY} in a React list"},
        {"query": f"rows {CANARY}", "technologies": [CANARY], "versions": {CANARY: CANARY}, "topic": ["ux"]},
        {"query": f"'{CANARY}\" & | ! :* <-> ("},
        {"query": f"{CANARY}\0"},
        {"query": f"{CANARY} \ud800"},
        {"query": CANARY * 100},
        {"query": CANARY * 200},
        {"query": "fine", CANARY: CANARY},
        {"query": "fine", "topic": CANARY},
        {"query": "fine", "max_results": CANARY},
        {"query": "fine", "versions": {"React": CANARY}},
    ]


def test_program_says_no_word_of_it(used: Program) -> None:
    """Neither the server's log lines nor anything else it prints holds a question, an address or an agent's name."""
    assert '"tool"' in used.output or "tool=" in used.output
    assert CANARY not in used.output
    assert ADDRESS not in used.output


def test_database_keeps_no_word_of_it(used: Program, tmp_path: Path) -> None:
    """A dump of everything and the server's statistics are free of it, and of the client's address."""
    with Cluster(used.home) as cluster:
        engine = owner_engine(cluster.address.owner_url)
        with engine.connect() as connection:
            activity = (
                connection.execute(text("SELECT to_jsonb(pg_stat_activity) FROM pg_stat_activity")).scalars().all()
            )
            events = connection.execute(text("SELECT count(*) FROM retrieval_event")).scalar_one()
        engine.dispose()
        dump = tmp_path / "dump.sql"
        subprocess.run(
            [wheel_binaries(18).folder / "pg_dump", "--file", str(dump), cluster.address.owner_uri],
            check=True,
            timeout=60,
        )
    assert events >= 4
    content = dump.read_text("utf-8", "replace")
    assert "quota_use" in content
    for kept in (content, json.dumps(activity, default=str)):
        assert CANARY not in kept
        assert ADDRESS not in kept


def test_files_of_the_server_keep_no_word_of_it(used: Program) -> None:
    """The database's own log and whatever else lies in the home folder are free of it."""
    status = Cluster(used.home).status()
    searched = 0
    for folder in {used.home, status.data_directory.parent}:
        for root, _, names in os.walk(folder):
            for name in names:
                if not (Path(root) / name).is_file():
                    continue
                content = (Path(root) / name).read_bytes()
                searched += 1
                assert CANARY.encode() not in content, Path(root) / name
                assert ADDRESS.encode() not in content, Path(root) / name
    assert searched > 100
    assert status.log_file.is_file()


def test_error_answers_repeat_no_word_of_it(start: Start) -> None:
    """What is wrong is said without what was sent."""
    with start() as program:
        # An unknown argument is refused by its name; no value is ever repeated.
        for arguments in (search for search in _searches()[3:] if CANARY not in search):
            answer = program.call("search_knowledge", arguments)
            assert CANARY not in answer.text
        assert CANARY not in program.call("get_guidance", {"ids": CANARY * 40}).text
        assert CANARY not in program.call("search_knowledge", {"query": "q"}, authorization=f"Bearer {CANARY}").text
