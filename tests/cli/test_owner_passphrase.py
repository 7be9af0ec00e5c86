"""The owner's passphrase, set and given on a real terminal, and what an agent with a shell tries instead."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread

import argon2
import pytest

from app.errors import PassphraseError
from app.passphrase import Lock
from app.recordfile import read_record
from app.settings import Settings
from review.decisions import approve, deprecate, take_back
from review.ledger import read_ledger
from tests.cli.terminals import Nursery, Terminal
from tests.databases import Database
from tests.review.recordtexts import record_text

PASSPHRASE = "tundra örtlich sieve"
OTHER = "quarry lantern mosaic"
PROMPT = "Owner's passphrase: "
SLUG = "store-money-as-numeric"


class Desk:
    """An owner's folders, and the commands on them."""

    def __init__(self, nursery: Nursery, folder: Path, **environ: str) -> None:
        self.nursery = nursery
        self.home = folder / "home"
        self.records = folder / "records"
        self.environ = {
            "CHATCTX_HOME": str(self.home), "CHATCTX_RECORDS": str(self.records), "CHATCTX_EMBEDDER": "none",
            "LOGNAME": "ada", **environ,
        }  # fmt: skip
        self.file = self.home / "owner-passphrase"
        self.owners = self.records / "owners.txt"
        self.settings = Settings(home=self.home, records=self.records)

    def write(self, slug: str = SLUG) -> None:
        path = self.records / "data" / f"{slug}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record_text(), "utf-8")

    def set(self, text: str = PASSPHRASE) -> None:
        lock = Lock(self.settings)
        lock.replace(lock.before_change(), text)

    def run(self, *arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return self.nursery.run({**self.environ, **more}, *arguments, stdin=stdin)

    @contextmanager
    def at_terminal(self, *arguments: str, **more: str) -> Iterator[Terminal]:
        with Terminal(self.nursery, {**self.environ, **more}, *arguments) as terminal:
            yield terminal

    def setting(self, *lines: str, **more: str) -> tuple[int, str]:
        """Set the passphrase at a terminal, typing these lines; return the exit code and what was shown last."""
        prompts = {2: ("New passphrase: ", "The same again: "),
                   3: ("as it is now: ", "New passphrase: ", "The same again: ")}[len(lines)]  # fmt: skip
        with self.at_terminal("owner", "set-passphrase", **more) as terminal:
            for prompt, line in zip(prompts, lines, strict=True):
                terminal.answer(prompt, line)
            return terminal.end(), terminal.seen

    def decisions(self) -> int:
        return len(read_ledger(self.records / "ledger.jsonl").entries)

    def kept(self) -> dict[str, bytes]:
        """Everything in the home and of the list of owners, but for locks."""
        found = {path.name: path.read_bytes() for path in self.home.glob("*") if path.suffix != ".lock"}
        return found | ({"owners": self.owners.read_bytes()} if self.owners.exists() else {})


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def desk(nursery: Nursery, tmp_path: Path) -> Desk:
    desk = Desk(nursery, tmp_path)
    desk.write()
    return desk


@pytest.fixture(scope="module")
def set_once(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Hashing takes a while: what was stored once is copied."""
    desk = Desk(nursery, tmp_path_factory.mktemp("set"))
    desk.records.mkdir()
    desk.set()
    return desk


@pytest.fixture
def locked(desk: Desk, set_once: Desk) -> Desk:
    shutil.copytree(set_once.home, desk.home)
    shutil.copy2(set_once.owners, desk.owners)
    return desk


APPROVE = ("review", "approve", SLUG, "--by", "ada", "--yes")


def test_a_passphrase_is_set_on_a_terminal_and_asked_for_by_the_next_approval(desk: Desk) -> None:
    """Stored as Argon2id with RFC 9106's parameters, for the owner alone, named beside the records, never shown."""
    code, shown = desk.setting(PASSPHRASE, PASSPHRASE)
    assert (code, "The passphrase is set." in shown) == (0, True), shown
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o600
    read = argon2.extract_parameters(desk.file.read_text().strip())
    assert (read.type, read.version) == (argon2.Type.ID, 19)
    assert (read.memory_cost, read.time_cost, read.parallelism) == (64 * 1024, 3, 4)
    assert (read.salt_len, read.hash_len) == (16, 32)
    assert re.fullmatch(r"#[^\n]+\n[0-9a-f]{64} ada\n", desk.owners.read_text())
    assert desk.file.read_text().strip() not in desk.owners.read_text()
    with desk.at_terminal(*APPROVE) as terminal:
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
        assert PASSPHRASE not in terminal.seen
    assert desk.decisions() == 1


def test_without_a_passphrase_nothing_is_asked(desk: Desk) -> None:
    """Who sets none notices nothing; the status says what that means."""
    assert desk.run(*APPROVE).returncode == 0
    told = desk.run("owner", "status")
    assert (told.returncode, "who can run chatctx can approve" in told.stdout) == (0, True)
    assert json.loads(desk.run("owner", "status", "--json").stdout)["set"] is False


def test_an_agent_with_a_shell_cannot_approve_its_own_text(locked: Desk) -> None:
    """No terminal: `--yes` is refused with exit code 1 before anything is shown, and says what to do."""
    refused = locked.run("review", "approve", SLUG, "--by", "me", "--yes")
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.startswith("owner_passphrase: The owner's passphrase is asked for on a terminal")
    assert "run this at a terminal" in refused.stderr
    assert locked.decisions() == 0


def test_neither_pipe_nor_variable_nor_option_nor_file_stands_for_typing_it(locked: Desk, tmp_path: Path) -> None:
    """However it knows the passphrase, a program has to type it where a person would."""
    piped = locked.run(*APPROVE, stdin=f"{PASSPHRASE}\n" * 5)
    assert (piped.returncode, "on a terminal" in piped.stderr) == (1, True)
    assert locked.run(*APPROVE, CHATCTX_PASSPHRASE=PASSPHRASE).returncode == 2
    assert locked.run(*APPROVE, CHATCTX_OWNER_PASSPHRASE=PASSPHRASE).returncode == 2
    for name in ("PASSPHRASE", "OWNER_PASSPHRASE", "SSH_ASKPASS"):
        assert locked.run(*APPROVE, **{name: PASSPHRASE}).returncode == 1
    for option in (["--passphrase", PASSPHRASE], [f"--passphrase-file={tmp_path / 'p'}"], [PASSPHRASE]):
        assert locked.run(*APPROVE, *option).returncode == 2
    assert locked.decisions() == 0


def test_what_is_piped_in_is_not_read_where_there_is_a_terminal(locked: Desk, tmp_path: Path) -> None:
    """The right words in the pipe and the wrong ones on the terminal decide nothing; the other way round decides.

    What is printed for a program is not mixed with the question.
    """
    for piped, typed, code in ((PASSPHRASE, OTHER, 1), (OTHER, PASSPHRASE, 0)):
        (tmp_path / "in").write_text(f"{piped}\n" * 5)
        with (
            (tmp_path / "in").open() as given,
            (tmp_path / "out").open("w") as out,
            Terminal(
                locked.nursery, locked.environ, *APPROVE, "--json", stdin=given.fileno(), stdout=out.fileno()
            ) as terminal,
        ):
            terminal.answer(PROMPT, typed)
            if code:
                terminal.press(PROMPT, b"\x03")
            assert terminal.end() == code, terminal.seen
        printed = (tmp_path / "out").read_text()
        assert (json.loads(printed)["slug"] if printed else None) == (None if code else SLUG)
    assert locked.decisions() == 1


def test_a_wrong_passphrase_decides_nothing_and_makes_wait(locked: Desk) -> None:
    """Three tries, one second and three between them."""
    started = time.monotonic()
    with locked.at_terminal(*APPROVE) as terminal:
        for _ in range(3):
            terminal.answer(PROMPT, OTHER)
        assert terminal.end() == 1
        assert "not the owner's passphrase: nothing was done" in terminal.seen
    assert time.monotonic() - started >= 4
    assert locked.decisions() == 0


def test_the_second_try_counts(locked: Desk) -> None:
    """Who mistypes is asked again."""
    with locked.at_terminal(*APPROVE) as terminal:
        terminal.answer(PROMPT, "")
        terminal.answer("Wait 1 s.", "typed while it waits, and thrown away")
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
    assert locked.decisions() == 1


@pytest.mark.parametrize("key", [b"\x03", b"\x04"], ids=["ctrl-c", "end of input"])
def test_leaving_the_question_decides_nothing_and_shows_what_is_typed_again(locked: Desk, key: bytes) -> None:
    """Ctrl-C and Ctrl-D end it with exit code 1, and the terminal echoes as before."""
    with locked.at_terminal(*APPROVE) as terminal:
        terminal.wait_for(PROMPT)
        assert not terminal.echoes
        terminal.press(PROMPT, key)
        assert terminal.end() == 1, terminal.seen
        assert "nothing was done" in terminal.seen
        assert terminal.echoes
    assert locked.decisions() == 0


def test_deprecating_asks_too(locked: Desk) -> None:
    """Every line of the ledger is a decision."""
    with locked.at_terminal(*APPROVE) as terminal:
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
    deprecate = ("review", "deprecate", SLUG, "--reason", "there is a better one", "--by", "ada", "--yes")
    assert locked.run(*deprecate).returncode == 1
    assert locked.decisions() == 1
    with locked.at_terminal(*deprecate) as terminal:
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
    assert locked.decisions() == 2


def test_keys_and_quotas_ask_and_revoking_does_not(nursery: Nursery, tmp_path: Path, database: Database) -> None:
    """What lets somebody in, or in more often, asks; what stops a leaked key is quick, and works from a script."""
    urls = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    desk = Desk(nursery, tmp_path, **urls)
    desk.records.mkdir()
    desk.set()
    out = tmp_path / "key"
    create = ("keys", "create", "--label", "builds", "--quota", "5", "--out", str(out))
    assert "on a terminal" in desk.run(*create).stderr
    assert not out.exists()
    with desk.at_terminal(*create) as terminal:
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
    key = out.read_text().strip()
    assert "on a terminal" in desk.run("keys", "quota", key, "100000").stderr
    assert json.loads(desk.run("keys", "list", "--json").stdout)[0]["daily_quota"] == 5
    with desk.at_terminal("keys", "quota", key, "9") as terminal:
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
    assert desk.run("keys", "revoke", key).returncode == 0
    (listed,) = json.loads(desk.run("keys", "list", "--json").stdout)
    assert (listed["daily_quota"], listed["revoked"]) == (9, True)


def test_publishing_from_another_history_asks_and_publishing_does_not(
    nursery: Nursery, tmp_path: Path, database: Database
) -> None:
    """A pipeline may publish what is approved; that lines are gone from the ledger is an owner's to accept."""
    urls = {"DATABASE_URL": database.app_url, "CHATCTX_OWNER_DATABASE_URL": database.owner_url}
    desk = Desk(nursery, tmp_path, **urls)
    desk.write()
    assert desk.run(*APPROVE).returncode == 0
    desk.set()
    assert desk.run("review", "publish").returncode == 0
    (desk.records / "ledger.jsonl").unlink()
    refused = desk.run("review", "publish", "--new-ledger", "--allow-empty")
    assert (refused.returncode, "on a terminal" in refused.stderr) == (1, True)
    with desk.at_terminal("review", "publish", "--new-ledger", "--allow-empty") as terminal:
        terminal.answer(PROMPT, PASSPHRASE)
        assert terminal.end() == 0, terminal.seen
        assert "serving 0 records" in terminal.seen


def test_a_new_passphrase_needs_the_old_one_and_takes_its_place(locked: Desk) -> None:
    """The wrong old one changes nothing; afterwards only the new one is right, and the records name it alone."""
    before = locked.kept()
    with locked.at_terminal("owner", "set-passphrase") as terminal:
        terminal.answer("as it is now: ", OTHER)
        terminal.press("as it is now: ", b"\x03")
        assert terminal.end() == 1, terminal.seen
    assert locked.kept() == before
    code, shown = locked.setting(PASSPHRASE, OTHER, OTHER)
    assert code == 0, shown
    assert [Lock(locked.settings).verify(text) for text in (PASSPHRASE, OTHER)] == [False, True]
    assert len(locked.owners.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("typed", "told"),
    [("short words", "too short: take at least 12 characters"), ("arrow\x1b[D key words", "cannot be seen")],
)
def test_what_cannot_be_a_passphrase_is_told_and_asked_for_again(desk: Desk, typed: str, told: str) -> None:
    """Too short, or with a key that leaves something invisible."""
    with desk.at_terminal("owner", "set-passphrase") as terminal:
        terminal.answer("New passphrase: ", typed.replace("\x1b", "\x16\x1b"))
        terminal.wait_for(told)
        terminal.answer("New passphrase: ", PASSPHRASE)
        terminal.answer("The same again: ", OTHER)
        terminal.answer("not the same.\nNew passphrase: ", PASSPHRASE)
        terminal.answer("The same again: ", PASSPHRASE)
        assert terminal.end() == 0, terminal.seen


def test_letters_that_keyboards_compose_differently_are_the_same_passphrase(desk: Desk) -> None:
    """An o with two dots as one character or as two, and spaces and widths of another keyboard."""
    desk.set("tundra \u00f6rtlich sieve")
    assert Lock(desk.settings).verify("tundra o\u0308rtlich sieve")
    assert Lock(desk.settings).verify("tundra\u00a0\u00f6rtlich\u3000\uff53\uff49\uff45\uff56\uff45")
    assert not Lock(desk.settings).verify("tundra ortlich sieve")
    assert not Lock(desk.settings).verify("\udcff" * 12)
    assert not Lock(desk.settings).verify(PASSPHRASE * 1000)


@pytest.mark.parametrize("after", [0, 1, 2], ids=["at the old one", "at the new one", "at the repetition"])
@pytest.mark.parametrize("how", ["ctrl-c", "kill"])
def test_setting_that_is_interrupted_leaves_everything_as_it_was(locked: Desk, after: int, how: str) -> None:
    """At whichever question: the old passphrase is right, and no part of a file is left behind."""
    before = locked.kept()
    prompts = ("as it is now: ", "New passphrase: ", "The same again: ")
    with locked.at_terminal("owner", "set-passphrase") as terminal:
        for prompt, line in zip(prompts[:after], (PASSPHRASE, OTHER), strict=False):
            terminal.answer(prompt, line)
        terminal.press(prompts[after], b"\x03" if how == "ctrl-c" else b"half")
        if how == "kill":
            terminal.kill()
        else:
            assert terminal.end() == 1, terminal.seen
    assert locked.kept() == before


def test_interrupting_while_it_is_written_does_all_of_it_or_nothing(locked: Desk) -> None:
    """What the exit code says is true, however fast the fingers."""
    with locked.at_terminal("owner", "set-passphrase") as terminal:
        for prompt, line in (("as it is now: ", PASSPHRASE), ("New passphrase: ", OTHER), ("The same again: ", OTHER)):
            terminal.answer(prompt, line)
        time.sleep(0.1)
        terminal.press("", b"\x03")
        done = terminal.end() == 0
    assert [Lock(locked.settings).verify(text) for text in (PASSPHRASE, OTHER)] == [not done, done]
    assert sorted(locked.kept()) == ["owner-passphrase", "owners"]


def test_setting_needs_a_terminal(desk: Desk) -> None:
    """An agent cannot lock the owner out in passing either."""
    refused = desk.run("owner", "set-passphrase", stdin=f"{PASSPHRASE}\n{PASSPHRASE}\n")
    assert (refused.returncode, "on a terminal" in refused.stderr) == (1, True)
    assert not desk.file.exists()


def _loosen(desk: Desk) -> str:
    desk.file.chmod(0o640)
    return "run `chmod 600"


def _open_folder(desk: Desk) -> str:
    desk.home.chmod(0o777)
    return "run `chmod go-w"


def _truncate(desk: Desk) -> str:
    desk.file.write_bytes(desk.file.read_bytes()[:-20])
    return "restore it from a backup"


def _empty(desk: Desk) -> str:
    desk.file.write_bytes(b"")
    return "restore it from a backup"


def _weaken_kind(desk: Desk) -> str:
    desk.file.write_bytes(desk.file.read_bytes().replace(b"argon2id", b"argon2i"))
    return "restore it from a backup"


def _make_endless(desk: Desk) -> str:
    desk.file.write_bytes(desk.file.read_bytes().replace(b"m=65536,t=3", b"m=4194304,t=99"))
    return "restore it from a backup"


def _link(desk: Desk) -> str:
    desk.file.rename(desk.home / "elsewhere")
    desk.file.symlink_to(desk.home / "elsewhere")
    return "cannot be read"


def _link_to_nothing(desk: Desk) -> str:
    desk.file.unlink()
    desk.file.symlink_to(desk.home / "nothing")
    return "cannot be read"


def _folder(desk: Desk) -> str:
    desk.file.unlink()
    desk.file.mkdir()
    return "not a regular file"


def _pipe(desk: Desk) -> str:
    desk.file.unlink()
    os.mkfifo(desk.file, 0o600)
    return "not a regular file"


@pytest.mark.parametrize(
    "damage",
    [_loosen, _open_folder, _truncate, _empty, _weaken_kind, _make_endless, _link, _link_to_nothing, _folder, _pipe],
)
@pytest.mark.parametrize("named", [True, False], ids=["named", "not named"])
def test_a_file_that_cannot_be_trusted_is_refused_and_never_taken_for_none(locked: Desk, damage, named: bool) -> None:
    """With the remedy; also where the records name nobody, and where a new one is to be set."""
    if not named:
        locked.owners.unlink()
    told = damage(locked)
    for ask in (lambda: Lock(locked.settings).is_set, lambda: Lock(locked.settings).verify(PASSPHRASE),
                lambda: Lock(locked.settings).before_change()):  # fmt: skip
        with pytest.raises(PassphraseError, match=re.escape(told)):
            ask()


def test_a_damaged_file_is_told_by_the_commands(locked: Desk) -> None:
    """Approving and the status refuse with one line and exit code 1."""
    told = _loosen(locked)
    for command in (APPROVE, ("owner", "status"), ("owner", "set-passphrase")):
        refused = locked.run(*command)
        assert (refused.returncode, told in refused.stderr) == (1, True), refused.stderr
    assert locked.decisions() == 0


def test_another_home_does_not_open_the_records(locked: Desk, tmp_path: Path) -> None:
    """The records name whose passphrase decides: one that is missing is refused, and one made for the occasion too."""
    away = {"CHATCTX_HOME": str(tmp_path / "away")}
    refused = locked.run(*APPROVE, **away)
    assert (refused.returncode, "CHATCTX_HOME holds none" in refused.stderr) == (1, True)
    code, shown = locked.setting(OTHER, OTHER, **away)
    assert code == 0
    line = shown.strip().splitlines()[-1]
    assert re.fullmatch(r"[0-9a-f]{64} ada", line), shown
    with locked.at_terminal(*APPROVE, **away) as terminal:
        assert terminal.end() == 1
        assert "not one that decides about these records" in terminal.seen
    assert locked.decisions() == 0
    assert line not in locked.owners.read_text()
    with locked.owners.open("a") as file:
        file.write(f"{line}\n")
    with locked.at_terminal(*APPROVE, **away) as terminal:
        terminal.answer(PROMPT, OTHER)
        assert terminal.end() == 0, terminal.seen


def test_a_list_of_owners_that_cannot_be_read_is_refused(locked: Desk) -> None:
    """What a merge left behind is no reason to ask nobody."""
    locked.owners.write_text(f"<<<<<<< HEAD\n{locked.owners.read_text()}")
    refused = locked.run(*APPROVE)
    assert (refused.returncode, "line 1, is not `FINGERPRINT NAME`" in refused.stderr) == (1, True)
    locked.owners.unlink()
    locked.owners.mkdir()
    with pytest.raises(PassphraseError, match=r"owners\.txt beside the records cannot be read"):
        _ = Lock(locked.settings).is_set


def test_of_two_who_set_it_at_once_one_is_told(desk: Desk) -> None:
    """Whoever is second has proved an old passphrase that is not there any more."""
    barrier, told = Barrier(2), []

    def set_it(text: str) -> None:
        lock = Lock(desk.settings)
        before = lock.before_change()
        barrier.wait(30)
        try:
            lock.replace(before, text)
        except PassphraseError as error:
            told.append((text, error.message))

    threads = [Thread(target=set_it, args=(text,)) for text in (PASSPHRASE, OTHER)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    ((loser, message),) = told
    assert "meanwhile: nothing was changed" in message
    winner = OTHER if loser == PASSPHRASE else PASSPHRASE
    assert Lock(desk.settings).verify(winner)
    assert len(desk.owners.read_text().splitlines()) == 2


def test_two_at_two_terminals_do_not_overwrite_each_other(locked: Desk) -> None:
    """The second one's old passphrase was right when it was typed, and is no longer what is stored."""
    with (
        locked.at_terminal("owner", "set-passphrase") as first,
        locked.at_terminal("owner", "set-passphrase") as second,
    ):
        for terminal in (first, second):
            terminal.answer("as it is now: ", PASSPHRASE)
            terminal.wait_for("New passphrase: ")
        for terminal, text, code in ((first, OTHER, 0), (second, "somebody else's words", 1)):
            terminal.answer("New passphrase: ", text)
            terminal.answer("The same again: ", text)
            assert terminal.end() == code, terminal.seen
        assert "meanwhile: nothing was changed" in second.seen
    assert Lock(locked.settings).verify(OTHER)


def test_what_was_hashed_with_other_parameters_is_hashed_anew_when_it_is_next_right(locked: Desk) -> None:
    """Named beside the records under its new fingerprint; a wrong passphrase changes nothing."""
    weak = argon2.PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSPHRASE)
    locked.file.write_text(f"{weak}\n")
    line = Lock(locked.settings).standing().line
    locked.owners.write_text(f"# kept\n{line}")
    assert not Lock(locked.settings).verify(OTHER)
    assert locked.file.read_text() == f"{weak}\n"
    assert Lock(locked.settings).verify(PASSPHRASE)
    assert argon2.extract_parameters(locked.file.read_text().strip()).memory_cost == 64 * 1024
    assert locked.owners.read_text() == f"# kept\n{Lock(locked.settings).standing().line}\n"
    assert Lock(locked.settings).verify(PASSPHRASE)


def test_a_failure_to_write_changes_nothing(locked: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle: the old passphrase is right, and the records name no other."""
    before = locked.kept()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    lock = Lock(locked.settings)
    stored = lock.before_change()
    monkeypatch.setattr("app.wholefile.os.fsync", full)
    with pytest.raises(PassphraseError, match="Nothing was changed"):
        lock.replace(stored, OTHER)
    monkeypatch.undo()
    assert locked.kept() == before


def test_the_status_tells_how_it_is_hashed_and_whether_the_records_name_it(locked: Desk) -> None:
    """For people in 80 columns, and for programs; no hash is shown."""
    status = json.loads(locked.run("owner", "status", "--json").stdout)
    assert (status["set"], status["memory_kib"], status["passes"], status["lanes"]) == (True, 65536, 3, 4)
    assert (status["named"], status["owners"], status["signs"]) == (True, 1, False)
    told = locked.run("owner", "status").stdout
    assert "Argon2id, 64 MiB, 3 passes, 4 lanes" in told
    assert "$argon2" not in told
    assert "can approve without the passphrase" in " ".join(told.split())


def test_no_way_of_deciding_forgets_to_ask(locked: Desk) -> None:
    """What decides as the commands do has to bring a lock that was opened with the passphrase."""
    file = read_record(locked.records / "data" / f"{SLUG}.md")
    lock = Lock(locked.settings)
    assert not lock.verify(OTHER)
    for shut in (None, lock):
        with pytest.raises(PassphraseError, match="was not given"):
            approve(locked.settings, file, by="ada", note=None, lock=shut)
    assert not list(locked.records.glob(".approved/*"))
    assert lock.verify(PASSPHRASE)
    entry = approve(locked.settings, file, by="ada", note=None, lock=lock)
    with pytest.raises(PassphraseError, match="was not given"):
        deprecate(locked.settings, SLUG, by="ada", reason="there is a better one")
    with pytest.raises(PassphraseError, match="was not given"):
        take_back(locked.settings, entry, by="ada")
    assert locked.decisions() == 1
    take_back(locked.settings, entry, by="ada", lock=lock)
    assert locked.decisions() == 2


def test_what_the_desk_asks_is_what_the_commands_ask(locked: Desk) -> None:
    """A lock counts its own misses and says how long to wait, and when there is no try left."""
    lock = Lock(locked.settings)
    waits = [lock.pause]
    for _ in range(3):
        assert not lock.verify(OTHER)
        waits.append(lock.pause)
    assert waits == [0, 1, 3, None]
