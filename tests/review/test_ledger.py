"""The ledger: append-only, chained, and nothing lost when two write or one crashes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
import rfc8785

from app.errors import LedgerError
from review.errors import Refused
from review.ledger import GENESIS, Decision, Entry, State, append, read_ledger

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
ONE, TWO = "1" * 64, "2" * 64


def decide(path: Path, slug: str, sha256: str = ONE, decision: Decision = Decision.APPROVE, by: str = "ada") -> Entry:
    """Append a decision."""
    return append(path, slug=slug, sha256=sha256, decision=decision, by=by, note=None, at=AT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a ledger of five decisions lies."""
    ledger = tmp_path / "ledger.jsonl"
    for number in range(5):
        decide(ledger, f"record-{number}")
    return ledger


def test_a_missing_ledger_is_an_empty_one(tmp_path):
    """Nothing has been decided yet."""
    assert read_ledger(tmp_path / "ledger.jsonl").entries == ()


def test_every_line_carries_the_hash_of_the_line_before(path):
    """The first carries the hash that stands for none."""
    entries = read_ledger(path).entries
    assert [entry.prev for entry in entries] == [GENESIS, *(entry.hash for entry in entries[:-1])]
    assert read_ledger(path).head == entries[-1].hash


def test_a_line_of_an_earlier_release_is_read_and_written_as_it_was(tmp_path):
    """Its bytes are what its hash and whoever keeps a copy know it by."""
    line = (
        '{"slug":"use-rls","sha256":"' + "ab" * 32 + '","decision":"approve","at":"2026-11-30T12:00:00Z","by":"ann",'
        '"note":"Größe, „so“","prev":"' + GENESIS + '",'
        '"hash":"a22bc1e47ba3e5c89fd37b8bd56e32409d4934951b8ad7dbf14b59fc6724abf1"}'
    ).encode()
    (tmp_path / "ledger.jsonl").write_bytes(line + b"\n")
    ledger = read_ledger(tmp_path / "ledger.jsonl")
    assert [entry.line() for entry in ledger.entries] == [line]
    assert ledger.knows(ledger.entries[0].hash)
    assert not ledger.knows(GENESIS)


def test_a_record_is_approved_only_while_its_content_is_what_was_approved(tmp_path):
    """new, approved, changed, approved again, deprecated, approved again: the version counts approvals."""
    path = tmp_path / "ledger.jsonl"
    assert read_ledger(path).state("a-record", ONE) is State.NEW
    decide(path, "a-record", ONE)
    assert read_ledger(path).state("a-record", ONE) is State.APPROVED
    assert read_ledger(path).state("a-record", TWO) is State.CHANGED
    decide(path, "a-record", TWO)
    assert read_ledger(path).content_version("a-record") == 2
    decide(path, "a-record", TWO, Decision.DEPRECATE)
    assert read_ledger(path).state("a-record", TWO) is State.DEPRECATED
    assert read_ledger(path).approved_slugs() == frozenset()
    decide(path, "a-record", ONE)
    assert read_ledger(path).state("a-record", ONE) is State.APPROVED
    assert read_ledger(path).content_version("a-record") == 3


def test_a_decision_that_changes_nothing_is_refused(path):
    """Approving what is approved, deprecating what is not."""
    with pytest.raises(Refused, match="already approved"):
        decide(path, "record-0")
    with pytest.raises(Refused, match="nothing to deprecate"):
        decide(path, "unknown", decision=Decision.DEPRECATE)


def resealed(line, **changes):
    """Return the line with other values and the hash that belongs to them."""
    body = {name: value for name, value in {**json.loads(line), **changes}.items() if name != "hash"}
    digest = hashlib.sha256(b"chatctx-ledger-v1\0" + rfc8785.dumps(body)).hexdigest()
    return json.dumps({**body, "hash": digest}, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("tamper", "line", "what"),
    [
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1, "does not follow"),
        (lambda lines: [*lines[:2], *lines[3:]], 3, "does not follow"),
        (lambda lines: lines[1:], 1, "does not follow"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], 4, "does not follow"),
        (lambda lines: [*lines[:1], lines[1].replace(b"ada", b"eve"), *lines[2:]], 2, "was edited"),
        (lambda lines: [*lines[:1], lines[1].replace(b"record-1", b"record-9"), *lines[2:]], 2, "was edited"),
        (lambda lines: [*lines[:1], lines[1].replace(b'"by":', b'"by": '), *lines[2:]], 2, "was edited"),
        (lambda lines: [*lines[:1], b"{}", *lines[2:]], 2, "is not a ledger entry"),
        (lambda lines: [*lines[:1], b"", *lines[2:]], 2, "is not a ledger entry"),
        (lambda lines: [*lines[:1], lines[1][:-1] + b',"x":1}', *lines[2:]], 2, "was edited"),
        (lambda lines: [*lines[:1], b"\xff\xfe", *lines[2:]], 2, "is not a ledger entry"),
        (lambda lines: [*lines[:1], b"[" * 100_000, *lines[2:]], 2, "is not a ledger entry"),
        (lambda lines: [*lines[:1], resealed(lines[1], at="noon"), *lines[2:]], 2, "is not a ledger entry"),
        (lambda lines: [*lines[:1], resealed(lines[1], at="2026-02-30T00:00:00Z"), *lines[2:]], 2, "is not a ledger"),
        (lambda lines: [*lines[:1], resealed(lines[1], slug=["a"]), *lines[2:]], 2, "is not a ledger entry"),
        (lambda lines: [*lines[:1], resealed(lines[1], sig=5), *lines[2:]], 2, "is not a ledger entry"),
    ],
    ids=[
        "moved", "dropped", "beheaded", "repeated", "signer", "slug", "spacing", "empty", "blank", "added", "garbage",
        "nested", "no time", "no day", "no name", "no signature",
    ],
)  # fmt: skip
def test_a_line_that_was_touched_is_found_and_named(path, tamper, line, what):
    """Whatever is done to the lines, reading and appending both refuse, and the file is left as it was."""
    path.write_bytes(b"".join(part + b"\n" for part in tamper(path.read_bytes().splitlines())))
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=what) as refused:
        read_ledger(path)
    assert refused.value.details["line"] == line
    with pytest.raises(LedgerError):
        decide(path, "another-record")
    assert path.read_bytes() == before


def test_every_single_changed_byte_is_found(path):
    """A ledger with one bit flipped anywhere is refused, or says that its last line is torn."""
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        try:
            ledger = read_ledger(path)
        except LedgerError:
            continue
        assert ledger.torn is not None, place


def test_a_rewritten_entry_breaks_the_chain_after_it(path):
    """Who recomputes the hash of an edited line would have to recompute every later one."""
    lines = path.read_bytes().splitlines()
    other = path.with_name("other.jsonl")
    decide(other, "record-0")
    decide(other, "record-1", by="eve")
    path.write_bytes(b"\n".join([lines[0], other.read_bytes().splitlines()[1], *lines[2:], b""]))
    with pytest.raises(LedgerError, match="does not follow") as refused:
        read_ledger(path)
    assert refused.value.details["line"] == 3


@pytest.mark.parametrize("kept", [1, 40, -1])
def test_a_line_torn_by_a_crash_is_reported_and_set_aside_by_the_next_decision(path, kept):
    """It was never acknowledged; what is whole still counts, and what is torn is not lost."""
    whole = path.read_bytes()
    torn = json.dumps({"slug": "torn", "sha256": ONE, "decision": "approve"}).encode()[:kept]
    path.write_bytes(whole + torn)
    assert read_ledger(path).torn == torn
    assert len(read_ledger(path).entries) == 5
    decide(path, "next-record")
    assert path.read_bytes().startswith(whole)
    assert [entry.slug for entry in read_ledger(path).entries][-1] == "next-record"
    assert read_ledger(path).torn is None
    assert path.with_name("ledger.jsonl.torn").read_bytes() == torn + b"\n"


def test_a_last_line_that_lacks_only_its_newline_counts(path):
    """An editor that strips the end of a file takes no decision back, and the next decision gets a line of its own."""
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    ledger = read_ledger(path)
    assert (len(ledger.entries), ledger.torn) == (5, None)
    assert ledger.state("record-4", ONE) is State.APPROVED
    decide(path, "next-record")
    assert path.read_bytes().startswith(whole)
    assert [entry.slug for entry in read_ledger(path).entries][-2:] == ["record-4", "next-record"]
    assert not path.with_name("ledger.jsonl.torn").exists()


def test_a_single_line_without_its_newline_counts(tmp_path):
    """The first decision is no exception."""
    path = tmp_path / "ledger.jsonl"
    decide(path, "only-record")
    path.write_bytes(path.read_bytes()[:-1])
    decide(path, "next-record")
    assert [entry.slug for entry in read_ledger(path).entries] == ["only-record", "next-record"]


def test_an_edited_last_line_is_refused_also_without_its_newline(path):
    """It is whole, so no crash explains it."""
    path.write_bytes(path.read_bytes()[:-1].replace(b"record-4", b"record-9"))
    with pytest.raises(LedgerError, match="was edited") as refused:
        read_ledger(path)
    assert refused.value.details["line"] == 5


@pytest.mark.parametrize("ended", [True, False])
def test_converted_line_ends_are_refused_and_the_remedy_names_them(path, ended):
    """Nothing was decided otherwise, so restoring and deciding again would be the wrong advice."""
    converted = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(converted if ended else converted[:-2])
    with pytest.raises(LedgerError, match=r"carriage return.*convert them back to LF") as refused:
        read_ledger(path)
    assert refused.value.details["line"] == 1


def test_a_folder_in_the_place_of_the_ledger_is_refused(tmp_path):
    """By reading and by deciding, as a fault of the ledger."""
    path = tmp_path / "ledger.jsonl"
    path.mkdir()
    with pytest.raises(LedgerError, match=r"ledger\.jsonl cannot be opened: Is a directory"):
        read_ledger(path)
    with pytest.raises(LedgerError, match=r"ledger\.jsonl cannot be opened: Is a directory"):
        decide(path, "a-record")


def test_decisions_of_several_owners_at_once_are_all_kept(tmp_path):
    """They wait for each other: one chain, nothing torn, nothing lost."""
    path = tmp_path / "ledger.jsonl"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: decide(path, f"record-{number}"), range(64)))
    assert {entry.slug for entry in read_ledger(path).entries} == {f"record-{number}" for number in range(64)}


def test_decisions_of_several_processes_at_once_are_all_kept(tmp_path):
    """The lock holds between processes, not only between threads."""
    path = tmp_path / "ledger.jsonl"
    program = (
        "import sys; from datetime import UTC, datetime; from pathlib import Path\n"
        "from review.ledger import Decision, append\n"
        "for number in range(10):\n"
        "    append(Path(sys.argv[1]), slug=f'{sys.argv[2]}-{number}', sha256='1' * 64, decision=Decision.APPROVE,\n"
        "           by='ada', note=None, at=datetime(2026, 11, 30, tzinfo=UTC))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(path), f"owner-{number}"]) for number in range(4)]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    assert len(read_ledger(path).entries) == 40
