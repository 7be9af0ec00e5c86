"""`review new`: the file of a new record, by options and by questions on a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from app.recordfile import read_record
from review.answers import slug_of
from review.skeleton import skeleton

ROOT = Path(__file__).parents[2]


def test_everything_can_be_given_as_options(bench):
    """The slug comes from the title, names are canonical, publisher and licence from the list where it knows them."""
    written = bench.json(
        "new", "--topic", "data", "--title", "Store money as numeric, never as float",
        "--applies-to", "tool:postgres", "--applies-to", "framework:reactjs:>=18 <20",
        "--applies-to", "library:SQLAlchemy:>=2.0:pep440", "--symptom", "invoice total is off by one cent",
        "--source", "https://www.postgresql.org/docs/current/datatype-numeric.html",
        "--source", "https://blog.cleancoder.com/money", "--task-type", "debug", "--confidence", "high",
    )  # fmt: skip
    assert written["slug"] == "store-money-as-numeric-never-as-float"
    record = read_record(Path(written["path"])).record
    assert [(entry.name, entry.version_constraint, entry.scheme) for entry in record.applies_to] == [
        ("PostgreSQL", None, None),
        ("React", ">=18 <20", "npm"),
        ("SQLAlchemy", ">=2.0", "pep440"),
    ]
    known, unknown = record.sources
    assert (known.publisher, known.licence, known.authority) == ("PostgreSQL", "PostgreSQL", "primary")
    assert (unknown.licence, unknown.authority) == ("LicenseRef-TODO", "secondary")
    assert record.symptoms[0] == "invoice total is off by one cent"
    assert (record.task_types, record.confidence) == (("debug",), "high")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--applies-to", "framework:React:>=abc"], "not a npm constraint"),
        (["--applies-to", "framework:React:>=18,<20"], "not a npm constraint"),
        (["--applies-to", "framework:React:>=18:pep440"], "written in npm or semver"),
        (["--applies-to", "tool:Git:>=2.40:cargo"], "written in"),
        (["--applies-to", "language:Rust:>=1.70"], "add the scheme"),
        (["--applies-to", "framework:Rekt"], "unknown technology"),
        (["--applies-to", "thing:React"], "kinds are"),
        (["--source", "http://react.dev/learn"], "https address"),
        (["--source", "https://127.0.0.1/x"], "cite the page at its own https address"),
        (["--slug", "Store Money"], "lower-case words"),
        (["--title", "Short"], "10 to 90 characters"),
        (["--symptom", "slow"], "10 to 160 characters"),
    ],
)
def test_an_answer_that_a_record_cannot_hold_is_refused_at_once(bench, arguments, said):
    """As wrong usage, without a file."""
    base = [] if arguments[0] == "--title" else ["--title", "Store money as numeric"]
    result = bench.run("new", "--topic", "data", *base, *arguments, code=2)
    assert said in " ".join(result.stderr.split())
    assert not list(bench.records.rglob("*.md"))


def test_without_a_terminal_nothing_is_asked(bench):
    """What names the file has to be given."""
    assert "or --topic and --title" in " ".join(bench.run("new", code=2, stdin="x\n").stderr.split())
    bench.run("new", "data/some-record", "--slug", "other", code=2)


def answered(bench, *answers: str, code: int = 0) -> str:
    """Run `review new` on a terminal, answer what it asks and return what it showed."""
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "app.main", "review", "new"]
    environ = {**os.environ, **bench.environ}
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, cwd=ROOT, env=environ) as process:
        os.close(follower)
        os.write(leader, "".join(f"{answer}\n" for answer in answers).encode())
        output = b""
        # The kernel reports the other end's leaving as an error.
        with contextlib.suppress(OSError):
            while block := os.read(leader, 4096):
                output += block
        assert process.wait(30) == code, output.decode()
    os.close(leader)
    return output.decode()


def test_on_a_terminal_it_asks_for_what_it_must_know_and_again_where_it_cannot_be(bench):
    """The slug is proposed, a constraint is read with its scheme, a source's licence is hinted at."""
    shown = answered(
        bench, "Short", "Key list rows by a stable id", "implementation", "", "framework:React:>=18,<20",
        "framework:React:>=18 <20", "", "", "https://react.dev/learn/rendering-lists", "",
    )  # fmt: skip
    assert "10 to 90 characters" in shown
    assert "[key-list-rows-by-a-stable-id]" in shown
    assert "not a npm constraint" in shown
    assert "React, primary; licence CC-BY-4.0." in shown
    record = read_record(bench.records / "implementation/key-list-rows-by-a-stable-id.md").record
    assert record.title == "Key list rows by a stable id"
    assert record.applies_to[0].version_constraint == ">=18 <20"
    assert (record.sources[0].publisher, record.sources[0].licence) == ("React", "CC-BY-4.0")


def test_a_skeleton_names_a_licence_and_an_authority_that_no_gate_lets_through(bench):
    """What nobody has looked up must not look as if somebody had."""
    bench.run("new", "data/some-record")
    gates = {entry["gate"] for entry in bench.json("check", code=1)["records"][0]["findings"]}
    assert {"license", "source_authority", "actionability"} <= gates
    assert "# yaml-language-server: $schema=../record.schema.json\n" in skeleton("some-record", date(2026, 1, 1))


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Store money as numeric, never as float", "store-money-as-numeric-never-as-float"),
        ("Don't use `eval()`: it runs code", "dont-use-eval-it-runs-code"),
        ("Überprüfe Node.js 20", "uberprufe-node-js-20"),
        ("../../etc/passwd", "etc-passwd"),
        ("word " * 40, "-".join(["word"] * 13)[:64]),
        ("x" * 100, "x" * 64),
        ("!!!", ""),
    ],
)
def test_a_slug_is_made_of_a_title(title, slug):
    """Of whole words, as many as fit."""
    assert slug_of(title) == slug
