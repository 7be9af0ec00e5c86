"""What an owner is told when something is not taken: which option, the limit, what there is, and what to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from review.ledger import read_ledger
from tests.acceptance.integrity_signed import allow, make_key
from tests.review.conftest import Bench
from tests.terminals import ROOT, converse

SLUG = "store-money-as-numeric"
OTHER = "keep-money-numeric"


@pytest.fixture
def candidate(bench: Bench) -> Bench:
    """A record that may be approved."""
    bench.write(SLUG)
    return bench


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        (
            "--note",
            "x",
            "'--note': a reason has 3 to 500 characters, and this has 1: say in a sentence what decided it",
        ),
        ("--note", "  ", "and this has 0: say in a sentence"),
        ("--note", "a" * 501, "and this has 501: say in a sentence"),
        ("--note", "read it\x1b[2J", "'--note': a reason is plain text: take control and other characters out"),
        ("--by", "", "'--by': a name has 1 to 80 printable characters, and no blanks around it"),
        ("--by", " ada", "'--by': a name has 1 to 80 printable characters, and no blanks around it"),
        ("--by", "a" * 81, "'--by': a name has 1 to 80 printable characters, and no blanks around it"),
    ],
)
def test_what_a_decision_cannot_carry_is_wrong_usage_that_says_what_is_wanted(
    candidate: Bench, option: str, value: str, told: str
) -> None:
    """Before any gate is asked, and nothing is decided."""
    refused = candidate.run("approve", SLUG, "--yes", option, value, code=2)
    assert told in refused.stderr
    assert "\x1b" not in refused.stderr
    assert refused.stdout == ""
    assert not (candidate.records / "ledger.jsonl").exists()


def test_a_reason_for_taking_a_record_out_is_held_to_the_same(candidate: Bench) -> None:
    candidate.approve(SLUG)
    refused = candidate.run("deprecate", SLUG, "--yes", "--reason", "no", code=2)
    assert "'--reason': a reason has 3 to 500 characters, and this has 2" in refused.stderr
    assert len(candidate.json("history")) == 1


def test_on_a_terminal_a_reason_is_asked_for_until_it_is_one(bench: Bench) -> None:
    """Nobody has to read the record a second time for want of two letters."""
    bench.write(SLUG, pitfall="Since PostgreSQL 15 totals are off by 0.01 in the report.")
    command = [sys.executable, "-m", "app.main", "review", "approve", SLUG, "--by", "ada"]
    ask = "Reason for approving it with these warnings:"
    said = "it is a remark in passing"
    code, output = converse(command, bench.environ, (ask, "x"), (ask, said), ("[y/N]:", "y"))
    assert code == 0, output
    assert "a reason has 3 to 500 characters, and this has 1" in output
    assert read_ledger(bench.records / "ledger.jsonl").entries[0].note == said


def test_a_login_without_a_name_is_told_to_give_one(candidate: Bench) -> None:
    """As in containers that run as a number."""
    without_name = (
        "import pwd\n"
        "def nobody(*_):\n"
        "    raise KeyError('getpwuid(): uid not found: 54321')\n"
        "pwd.getpwuid = nobody\n"
        "from app.main import main\n"
        "main()\n"
    )
    named = {"LOGNAME", "USER", "LNAME", "USERNAME"}
    environ = {name: value for name, value in os.environ.items() if name not in named} | candidate.environ
    done = subprocess.run(
        [sys.executable, "-c", without_name, "review", "approve", SLUG, "--yes"],
        env=environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        1,
        "invalid_decision: your login has no name here: say --by NAME, or set LOGNAME\n",
    )


def test_a_misspelt_record_is_answered_with_the_one_that_is_meant(candidate: Bench) -> None:
    wrong = candidate.run("approve", "data/store-money-as-numeric.md", "--yes", code=1)
    assert f"did you mean {SLUG}?" in wrong.stderr
    assert "its name is that of the file, without .md." in candidate.run("approve", "zzz", "--yes", code=1).stderr


def test_what_says_nothing_new_is_refused_and_does_not_blame_the_ledger(candidate: Bench) -> None:
    candidate.approve(SLUG)
    again = candidate.run("approve", SLUG, "--by", "ada", "--yes", code=1)
    assert again.stderr == f"refused: {SLUG} is already approved as it stands, by ada, unsigned.\n"
    candidate.run("deprecate", SLUG, "--yes", "--reason", "there is a better one")
    again = candidate.run("deprecate", SLUG, "--yes", "--reason", "there is a better one", code=1)
    assert again.stderr == f"refused: {SLUG} is not approved, so there is nothing to deprecate.\n"


def test_a_key_that_may_not_sign_in_a_name_says_where_names_stand(candidate: Bench) -> None:
    folder = candidate.records.parent
    candidate.environ["CHATCTX_SIGNING_KEY"] = str(make_key(folder, "k"))
    candidate.environ["CHATCTX_ALLOWED_SIGNERS"] = str(allow(folder / "allowed", "bob", folder / "k"))
    refused = candidate.run("approve", SLUG, "--by", "ada", "--yes", code=1)
    assert "say --by with the name that stands before it in the file of CHATCTX_ALLOWED_SIGNERS" in refused.stderr
    said = candidate.run("approve", SLUG, "--by", "bob", "--yes").stdout
    assert re.fullmatch(rf"approved: {SLUG} \(\w{{12}}\) by bob, signed\. .*\n", said)
