"""Signatures as ssh-keygen makes them, and the file that says whose count."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.errors import SettingsError
from app.ledger import Decision, Entry, Ledger, draft
from app.signatures import NAMESPACE, key_of, read_signers, without_armour

ARMOUR = "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n"
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a key of each kind."""
    folder = tmp_path_factory.mktemp("keys")
    for kind in ("ed25519", "rsa", "ecdsa"):
        command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "", "-f", str(folder / kind)]
        subprocess.run(command, check=True, timeout=60)
    return folder


def entry(by: str = "alice") -> Entry:
    return draft(Ledger(), slug="a-record", sha256="a" * 64, decision=Decision.APPROVE, by=by, note="é", at=NOON)


def sign(decision: Entry, key: Path, namespace: str = NAMESPACE) -> Entry:
    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", namespace]
    done = subprocess.run(command, input=decision.statement(), capture_output=True, check=True, timeout=30)
    return replace(decision, sig=without_armour(done.stdout.decode()))


def accepts(path: Path, line: str, decision: Entry, at: datetime = NOON) -> bool:
    path.write_text(line, "ascii")
    return read_signers(path).accepts(decision, at)


def public(keys: Path, kind: str = "ed25519") -> str:
    return " ".join((keys / f"{kind}.pub").read_text().split()[:2])


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_what_ssh_keygen_signs_is_accepted_as_it_accepts_it(keys: Path, tmp_path: Path, kind: str) -> None:
    """Our reading and OpenSSH's own agree on the same file, signature and text."""
    allowed = tmp_path / "allowed"
    signed = sign(entry(), keys / kind)
    assert accepts(allowed, f'alice namespaces="{NAMESPACE}" {public(keys, kind)}\n', signed)
    assert signed.sig is not None
    (tmp_path / "sig").write_text(ARMOUR.format(signed.sig), "ascii")
    command = ["ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "alice", "-n", NAMESPACE, "-s", tmp_path / "sig"]
    assert subprocess.run(command, input=signed.statement(), check=False, timeout=30).returncode == 0


@pytest.mark.parametrize(
    "content",
    [
        "  alice KEY",
        "\talice\t KEY",
        "  # a comment that is indented\n\talice KEY",
        " \t \n\nalice KEY",
        "# Schl\u00fcssel\nalice KEY",
        "alice KEY K\u00fcche, \u65e5\u672c",
        "  # \u2028alice KEY",
        "# \u0085alice KEY",
        "alice\u3000KEY",
        "alice KEY\u00a0comment",
        "j\u00fcrgen KEY",
        "j\u00fcrgen,alice KEY",
        "j* KEY",
        "j?rgen KEY",
        "j??rgen KEY",
        "alice KEY\x0bcomment",
        "# \x0calice KEY",
        "alice KEY\r",
        "\ufeffalice KEY",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("by", ["alice", "j\u00fcrgen"])
def test_lines_are_read_as_openssh_reads_them(keys: Path, tmp_path: Path, content: str, encoding: str, by: str) -> None:
    """Indented, or with letters beyond ASCII in a comment or a name: what one takes the other takes, and no more."""
    signed, allowed = sign(entry(by), keys / "ed25519"), tmp_path / "allowed"
    allowed.write_bytes((content.replace("KEY", public(keys)) + "\n").encode(encoding, "replace"))
    (tmp_path / "sig").write_text(ARMOUR.format(signed.sig), "ascii")
    command = ["ssh-keygen", "-Y", "verify", "-f", allowed, "-I", by, "-n", NAMESPACE, "-s", tmp_path / "sig"]
    done = subprocess.run(command, input=signed.statement(), capture_output=True, check=False, timeout=30)
    try:
        accepted = read_signers(allowed).accepts(signed, NOON)
    except SettingsError:
        accepted = False
    assert accepted is (done.returncode == 0), done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"slug": "another"},
        {"sha256": "b" * 64},
        {"decision": Decision.DEPRECATE},
        {"at": "2026-11-01T12:00:01Z"},
        {"note": None},
        {"prev": "c" * 64},
        {"sig": None},
        {"sig": ""},
        {"sig": "A"},
        {"sig": "é"},
        {"sig": "U1NIU0lH"},
    ],
    ids=str,
)
def test_a_signature_is_of_this_decision_and_no_other(keys: Path, tmp_path: Path, changes: dict[str, object]) -> None:
    signed = replace(sign(entry(), keys / "ed25519"), **changes)
    assert not accepts(tmp_path / "allowed", f"* {public(keys)}", signed)


def test_a_damaged_signature_is_refused_or_the_same(keys: Path) -> None:
    """Whatever is made of one, it proves no other key and nothing breaks; its last 64 bytes are the proof itself."""
    signed = sign(entry(), keys / "ed25519")
    assert signed.sig is not None
    proof = len(signed.sig) - 84
    for place in range(len(signed.sig) - 4):
        letter = "A" if signed.sig[place] != "A" else "B"
        altered = replace(signed, sig=signed.sig[:place] + letter + signed.sig[place + 1 :])
        assert key_of(altered) in ((None,) if place >= proof else (None, key_of(signed)))
        assert key_of(replace(signed, sig=signed.sig[:place])) is None


def test_another_purpose_or_an_unread_kind_of_key_is_no_signature(keys: Path) -> None:
    assert key_of(sign(entry(), keys / "ed25519")) is not None
    assert key_of(sign(entry(), keys / "ed25519", "git")) is None
    assert key_of(sign(entry(), keys / "ecdsa")) is None


@pytest.mark.parametrize(
    ("principals", "by", "expected"),
    [
        ("alice", "alice", True),
        ("bob", "alice", False),
        ("bob,alice", "alice", True),
        ("*", "alice", True),
        ("al?ce", "alice", True),
        ("a*", "bob", False),
        ("*,!alice", "alice", False),
        ("*,!alice", "bob", True),
        ("!alice", "bob", False),
        ("[a]lice", "alice", False),
        ('"alice,bob"', "bob", True),
    ],
)
def test_a_key_signs_in_the_names_its_line_gives(
    keys: Path, tmp_path: Path, principals: str, by: str, expected: bool
) -> None:
    """Patterns as OpenSSH has them: an exclusion beats the rest, brackets are letters."""
    signed = sign(entry(by), keys / "ed25519")
    assert accepts(tmp_path / "allowed", f"{principals} {public(keys)}", signed) is expected


def test_a_name_that_is_no_text_is_nobodys(keys: Path, tmp_path: Path) -> None:
    """A ledger's JSON can hold half of a pair; no file can allow it."""
    (tmp_path / "allowed").write_text(f"alice {public(keys)}", "ascii")
    signer = read_signers(tmp_path / "allowed").signers[0]
    assert not signer.admits("\ud800", signer.key, NOON)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ('valid-after="20261101Z"', True),
        ('valid-after="20261101120000Z"', True),
        ('valid-after="20261101120001Z"', False),
        ('valid-after="202611011201Z"', False),
        ('valid-before="20261101120001Z"', True),
        ('valid-before="20261101120000Z"', False),
        ('valid-after="20260101Z",valid-before="20270101Z"', True),
        ('namespaces="git,file"', False),
        (f'namespaces="git,{NAMESPACE}"', True),
        ('namespaces="chatctx-*"', True),
        (f'namespaces="*,!{NAMESPACE}"', False),
    ],
)
def test_a_key_has_a_life_and_a_purpose(keys: Path, tmp_path: Path, options: str, expected: bool) -> None:
    signed = sign(entry(), keys / "ed25519")
    assert accepts(tmp_path / "allowed", f"alice {options} {public(keys)}", signed) is expected


def test_times_without_a_zone_are_this_machines(keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415 - only here

    signed = sign(entry(), keys / "ed25519")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert accepts(tmp_path / "allowed", f'alice valid-after="20261101210000" {public(keys)}', signed)
        assert not accepts(tmp_path / "allowed", f'alice valid-after="20261101210001" {public(keys)}', signed)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_one_of_several_lines_is_enough(keys: Path, tmp_path: Path) -> None:
    """Comments and empty lines are none."""
    lines = f"# who may\n\nbob {public(keys, 'rsa')}\nalice {public(keys)}\n"
    assert accepts(tmp_path / "allowed", lines, sign(entry(), keys / "ed25519"))
    assert not accepts(tmp_path / "allowed", lines, sign(entry("bob"), keys / "ed25519"))


@pytest.mark.parametrize(
    "line",
    [
        "alice",
        "alice ssh-ed25519",
        "alice ssh-ed25519 AAAA",
        "alice ssh-ed25519 not-base64!",
        'alice valid-before="tomorrow" KEY',
        'alice valid-before="2026" KEY',
        "alice cert-authority KEY",
        'alice unknown="x" KEY',
        'alice namespaces="unclosed KEY',
        "alice ecdsa-sha2-nistp256 AAAA",
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_stops_the_start(keys: Path, tmp_path: Path, line: str) -> None:
    """Better no server than one that allows fewer, or others, than the owner wrote."""
    path = tmp_path / "allowed"
    path.write_text(f"bob {public(keys)}\n{line.replace('KEY', public(keys))}\n")
    with pytest.raises(SettingsError, match=r"^Line 2 of the allowed signers"):
        read_signers(path)


def test_a_file_that_is_missing_empty_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_signers(tmp_path / "none")
    (tmp_path / "empty").write_text("# nobody\n")
    with pytest.raises(SettingsError, match="names nobody"):
        read_signers(tmp_path / "empty")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="Line 1"):
        read_signers(tmp_path / "binary")


@pytest.mark.parametrize("text", ["", "AAAA", "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n"])
def test_what_is_not_armoured_is_no_signature(text: str) -> None:
    with pytest.raises(ValueError, match="not an SSH signature"):
        without_armour(text)
