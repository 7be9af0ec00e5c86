"""The command line, run as a user runs it, on a real database."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from app.access import load_peppers
from app.access.admission import Access
from app.errors import Unauthorized
from app.runtime import LocalRuntime, SystemClock
from app.settings import read_settings
from app.store.access import PostgresAccessStore
from app.transports.cli import create_cli
from tests.core.records import make_record
from tests.databases import Database

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., Result]


@pytest.fixture
def environ(database: Database, tmp_path: Path) -> dict[str, str]:
    return {
        "DATABASE_URL": database.app_url,
        "CHATCTX_OWNER_DATABASE_URL": database.owner_url,
        "CHATCTX_HOME": str(tmp_path / "home"),
        "CHATCTX_EMBEDDER": "none",
    }


@pytest.fixture
def run(environ: dict[str, str], tmp_path: Path) -> Run:
    """Run a command; keyword arguments are added to the environment."""

    def invoke(*arguments: str, **changes: str) -> Result:
        cli = create_cli(LocalRuntime({**environ, **changes}, tmp_path))
        return CliRunner().invoke(cli, list(arguments), prog_name="chatctx")

    return invoke


def test_search_answers_from_the_shell(run: Run, database: Database) -> None:
    """A question gets its record with the verdict on the version that was named."""
    database.publish(make_record())
    result = run("search", "checkbox jumps to another row, rows keep the wrong text", "-t", "React==18.2")
    assert result.exit_code == 0, result.output
    assert "use-stable-keys" in result.output
    assert "React 18.2: applies (record: >=16.8)" in result.output
    assert "degraded: embedding_disabled" in result.output


def test_search_without_an_answer_exits_with_one(run: Run, database: Database) -> None:
    """A script can tell no_match from an answer."""
    database.publish(make_record())
    result = run("search", "best sourdough hydration for a rye loaf", "--json")
    assert result.exit_code == 1
    assert json.loads(result.output)["retrieval"]["mode"] == "no_match"


def test_explanation_shows_how_candidates_were_judged(run: Run, database: Database) -> None:
    """Scores, coverage and the gate's margin are shown for each candidate."""
    database.publish(make_record(), make_record("another-record", title="Another decision about rows"))
    result = run("search", "key of each row", "--explain", "--json")
    rows = json.loads(result.output)["candidates"]
    assert [row["place"] for row in rows] == [1, 2]
    assert all({"score", "words", "coverage", "margin"} <= set(row) for row in rows)


def test_get_prints_records_and_names_missing_ones(run: Run, database: Database) -> None:
    """What is found is printed, what is not is named, and the exit code says so."""
    database.publish(make_record())
    result = run("get", "use-stable-keys", "no-such-record")
    assert result.exit_code == 1
    assert "Key list rows by a stable id" in result.output
    assert "missing: no-such-record" in result.output


def test_call_runs_an_operation_with_json(run: Run, database: Database) -> None:
    """The operations can be called by name with the contract's own arguments."""
    database.publish(make_record())
    result = run("call", "get_guidance", '{"ids": ["use-stable-keys"]}')
    assert json.loads(result.output)["missing"] == []
    assert run("call", "get_guidance", "[]").exit_code == 1
    refused = run("call", "get_guidance", '{"ids": []}')
    assert refused.exit_code == 1
    assert "validation_error" in refused.output


def test_unknown_setting_is_refused_with_the_nearest_name(run: Run) -> None:
    """A misspelt variable is an error, not a silent default."""
    result = run("config", CHATCTX_GUEST_DAILY_QOUTA="5")
    assert result.exit_code == 2
    assert "did you mean CHATCTX_GUEST_DAILY_QUOTA?" in result.output


def test_config_lists_every_setting_and_masks_secrets(run: Run, environ: dict[str, str]) -> None:
    """Value, origin and meaning of each; no password is shown."""
    lines = {line["variable"]: line for line in json.loads(run("config", "--json").output)}
    assert lines["CHATCTX_GUEST_DAILY_QUOTA"]["value"] == "250"
    assert lines["DATABASE_URL"]["value"] == "********"
    assert lines["DATABASE_URL"]["origin"] == "environment"
    assert all(line["meaning"] for line in lines.values())
    password = re.search(r":([^:@]+)@", environ["DATABASE_URL"])
    assert password
    assert password[1] not in run("config").output


def test_doctor_finds_what_is_missing_and_says_how_to_mend_it(run: Run) -> None:
    """An empty database is diagnosed, with the command that fills it."""
    result = run("doctor", "--json")
    findings = {entry["name"]: entry for entry in json.loads(result.output)}
    assert result.exit_code == 1
    assert findings["records"]["state"] == "broken"
    assert "review publish" in findings["records"]["remedy"]
    assert {findings[name]["state"] for name in ("database", "pgvector", "schema")} == {"ok"}


def test_doctor_is_content_with_a_published_database(run: Run, database: Database) -> None:
    """Records that are published and verified are fine."""
    database.publish(make_record())
    findings = {entry["name"]: entry for entry in json.loads(run("doctor", "--json").output)}
    assert findings["records"]["state"] == "ok"
    assert "1 published and verified" in findings["records"]["found"]


def test_dead_database_is_said_and_exits_with_three(run: Run, tmp_path: Path) -> None:
    """A database that cannot be reached is one line, not a traceback."""
    nowhere = f"postgresql://nobody:secret@/nothing?host={tmp_path}"
    result = run("search", "anything at all", DATABASE_URL=nowhere, CHATCTX_OWNER_DATABASE_URL=nowhere)
    assert result.exit_code == 3
    assert result.output.startswith("unavailable: ")
    assert "secret" not in result.output


def test_key_is_refused_to_a_pipe(run: Run) -> None:
    """Where output may end in a log, no key is shown; none was made either."""
    result = run("keys", "create", "--label", "builds")
    assert result.exit_code == 1
    assert "kb_live_" not in result.output
    assert json.loads(run("keys", "list", "--json").output) == []


def test_key_goes_to_a_private_file_and_works_until_revoked(
    run: Run, environ: dict[str, str], database: Database, tmp_path: Path
) -> None:
    """The file is the owner's alone; the key lets in until it is revoked by its id; the list shows no secret."""
    out = tmp_path / "key"
    assert run("keys", "create", "--label", "builds", "--quota", "5", "--out", str(out)).exit_code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    text = out.read_text().strip()
    settings = read_settings(environ, base=tmp_path)
    access = Access(
        PostgresAccessStore(database.server), load_peppers(settings.home / "pepper"), settings, SystemClock()
    )
    key = access.read_key([f"Bearer {text}".encode()])
    assert key
    assert access.identify(key, "192.0.2.1").daily_quota == 5
    listing = run("keys", "list").output
    assert "builds" in listing
    assert text not in listing
    assert run("keys", "revoke", text).exit_code == 0
    with pytest.raises(Unauthorized):
        access.identify(key, "192.0.2.1")
    assert run("keys", "revoke", "nosuchkey000").exit_code == 1


def test_key_is_never_written_over_a_file(run: Run, tmp_path: Path) -> None:
    """An existing file is kept, and no key is made that nobody could ever read."""
    out = tmp_path / "precious"
    out.write_text("keep me")
    assert run("keys", "create", "--label", "builds", "--out", str(out)).exit_code == 1
    assert out.read_text() == "keep me"
    assert json.loads(run("keys", "list", "--json").output) == []


def test_key_that_could_not_be_made_leaves_no_file_behind(run: Run, tmp_path: Path) -> None:
    """Once the database is there again, the same command works."""
    out = str(tmp_path / "key")
    nowhere = "postgresql://nobody:secret@127.0.0.1:1/none"
    failed = run(
        "keys", "create", "--label", "me", "--out", out, DATABASE_URL=nowhere, CHATCTX_OWNER_DATABASE_URL=nowhere
    )
    assert failed.exit_code == 3
    assert run("keys", "create", "--label", "me", "--out", out).exit_code == 0


def test_key_is_listed_with_the_pepper_it_depends_on(run: Run, tmp_path: Path) -> None:
    """So an owner who changes the pepper sees which keys still need the old one."""
    run("keys", "create", "--label", "builds", "--out", str(tmp_path / "key"))
    newest = load_peppers(tmp_path / "home" / "pepper").newest
    assert [line["pepper_id"] for line in json.loads(run("keys", "list", "--json").output)] == [newest]
    assert newest in run("keys", "list").output


def test_key_is_shown_once_on_a_terminal(environ: dict[str, str], run: Run) -> None:
    """On a terminal the key is printed, whole."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", "keys", "create", "--label", "me"],
        cwd=ROOT,
        env={**os.environ, **environ},
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    output = b""
    try:
        while chunk := os.read(master, 4096):
            output += chunk
    except OSError:  # the terminal closes with its last writer
        pass
    os.close(master)
    assert process.wait() == 0, output
    assert re.search(rb"kb_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b", output)


def test_quota_of_a_key_is_set_and_taken_back(run: Run, tmp_path: Path) -> None:
    """A key's calls a day can be changed, and returned to the default."""
    run("keys", "create", "--label", "builds", "--out", str(tmp_path / "key"))
    key_id = json.loads(run("keys", "list", "--json").output)[0]["key_id"]
    run("keys", "quota", key_id, "7")
    assert json.loads(run("keys", "list", "--json").output)[0]["daily_quota"] == 7
    run("keys", "quota", key_id)
    assert json.loads(run("keys", "list", "--json").output)[0]["daily_quota"] is None


def test_public_files_check_names_what_differs(run: Run, tmp_path: Path) -> None:
    """The check changes nothing and fails; writing makes it pass."""
    assert run("files", "--check", "--folder", str(tmp_path)).exit_code == 1
    assert not (tmp_path / "api.json").exists()
    assert run("files", "--folder", str(tmp_path)).exit_code == 0
    assert run("files", "--check", "--folder", str(tmp_path)).exit_code == 0


def test_feedback_from_the_shell_gets_a_receipt(run: Run) -> None:
    """Feedback can be sent without an agent."""
    result = run("feedback", "missing", "--comment", "nothing about Kafka")
    assert result.exit_code == 0, result.output
    assert "Recorded anonymously" in result.output


def test_feedback_from_the_shell_tells_what_came_of_it(run: Run, database: Database) -> None:
    """Outcome and versions are sent as an agent sends them; a technology without its version is wrong usage."""
    told = ("--record", "a-record", "--outcome", "worked_with_changes", "-t", "reactjs==18.2.0", "-t", "Acme Portal==3")
    result = run("feedback", "helpful", *told)
    assert result.exit_code == 0, result.output
    with database.owner.connect() as connection:
        kept = connection.execute(text("SELECT caller_outcome, caller_versions FROM feedback")).one()
    assert tuple(kept) == ("worked_with_changes", {"React": "18.2.0"})
    assert run("feedback", "helpful", "-t", "React").exit_code == 2
    assert run("feedback", "helpful", "--outcome", "fine").exit_code == 2


def test_operator_is_told_why_the_database_cannot_be_reached(run: Run, database: Database) -> None:
    """A refused login is named to the person at the shell; an agent only learns that it may work later."""
    refused = database.app_url.replace("chatctx_app:", "chatctx_app:not", 1)
    result = run("search", "anything at all", DATABASE_URL=refused)
    assert result.exit_code == 3
    assert "password authentication failed" in result.output
    diagnosis = {entry["name"]: entry for entry in json.loads(run("doctor", "--json", DATABASE_URL=refused).output)}
    assert "password authentication failed" in diagnosis["database"]["found"]


def test_missing_rights_are_told_with_the_setting_that_gives_them(run: Run, database: Database) -> None:
    """With the server's login alone, keys cannot be made: the owner's login is asked for by its setting."""
    result = run("keys", "list", CHATCTX_OWNER_DATABASE_URL=database.app_url)
    assert result.exit_code == 1
    assert "CHATCTX_OWNER_DATABASE_URL" in result.output


def test_unknown_technology_is_pointed_out(run: Run, database: Database) -> None:
    """A misspelt technology narrows nothing, and that is said."""
    database.publish(make_record())
    result = run("search", "key of each row", "-t", "React=18")
    assert "'React=18'" in result.output
    assert "after `==`" in result.output


def test_nothing_is_folded_in_a_pipe(run: Run) -> None:
    """What a script reads has a row a line."""
    lines = run("doctor").output.splitlines()
    assert lines[0].split("\t") == ["state", "what", "found"]
    assert all(line.count("\t") == 2 for line in lines)
