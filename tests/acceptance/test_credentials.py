"""Keys: refused alike when bad, ended at once when revoked, moved without a failure, and found nowhere."""

from __future__ import annotations

import hmac
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Engine, event

from app.access import Access, load_peppers, new_key
from app.access.keys import parse_key
from app.administration import StoredKeys
from app.errors import Unauthorized
from app.runtime import SystemClock
from app.settings import Settings
from app.store.access import KeyRing, PostgresAccessStore
from tests.acceptance.conftest import Program, Start
from tests.acceptance.credentials_owner import Owner, id_of, last_statements, units_taken, wait_for
from tests.acceptance.credentials_rotation import CALLERS, Fleet, Load, PepperFile
from tests.core.records import make_record
from tests.databases import Database
from tests.edge.wire import call_tool, http_post, message, raw, status_of

QUESTION = {"query": "list rows keep the wrong state after reordering", "technologies": ["React"]}
CALL = json.dumps(message("tools/call", {"name": "search_knowledge", "arguments": QUESTION})).encode()
Note = Callable[[str, object], None]


@pytest.fixture
def owner(database: Database, tmp_path: Path) -> Owner:
    """Return the owner of a database with one record, whose servers share a home."""
    database.publish(make_record())
    return Owner(database.app_url, database.owner_url, tmp_path / "home", tmp_path / "keys")


def ask(program: Program, key: str) -> int:
    return call_tool(f"{program.base}/mcp", "search_knowledge", QUESTION, authorization=f"Bearer {key}").status_code


def malformed(key: str) -> dict[str, list[str]]:
    """Return header lines that present something which cannot be a key, most of them around a working one."""
    wrong_secret = key[:22] + ("A" if key[22] != "A" else "B") + key[23:]
    return {
        "empty": ["Authorization: "],
        "scheme only": ["Authorization: Bearer"],
        "scheme and blank": ["Authorization: Bearer "],
        "no scheme": [f"Authorization: {key}"],
        "Basic": ["Authorization: Basic a2I6a2I="],
        "Basic with the key": [f"Authorization: Basic {key}"],
        "Token": [f"Authorization: Token {key}"],
        "Digest": [f'Authorization: Digest username="{key}"'],
        "two blanks": [f"Authorization: Bearer  {key}"],
        "tab": [f"Authorization: Bearer\t{key}"],
        "trailing blank": [f"Authorization: Bearer {key} "],
        "trailing tab": [f"Authorization: Bearer {key}\t"],
        "comma list": [f"Authorization: Bearer {key}, Bearer {key}"],
        "two headers": [f"Authorization: Bearer {key}", f"Authorization: Bearer {key}"],
        "two headers, one empty": [f"Authorization: Bearer {key}", "Authorization: "],
        "two headers, another case": ["authorization: Bearer x", f"AUTHORIZATION: Bearer {key}"],
        "quoted": [f'Authorization: Bearer "{key}"'],
        "template left in": ["Authorization: Bearer ${input:chatctx-key}"],
        "undefined": ["Authorization: Bearer undefined"],
        "somebody else's token": ["Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345"],
        "upper case": [f"Authorization: Bearer {key.upper()}"],
        "lower case": [f"Authorization: Bearer {key.lower()}"],
        "another kind": [f"Authorization: Bearer {key.replace('live', 'test')}"],
        "cut": [f"Authorization: Bearer {key[:-1]}"],
        "too long": [f"Authorization: Bearer {key}0"],
        "very long": ["Authorization: Bearer kb_live_" + "a" * 8000],
        "bad checksum": [f"Authorization: Bearer {wrong_secret}"],
        "not ASCII": ["Authorization: Bearer kb_live_\xe9\xe9\xe9"],
        "not ASCII within": [f"Authorization: Bearer {key[:30]}\xe9{key[31:]}"],
    }


def addressed(key: str) -> dict[str, bytes]:
    """Return paths that carry a working key in the address, where every proxy would log it."""
    return {
        "token in the address": f"/mcp?access_token={key}".encode(),
        "another case": f"/mcp?ACCESS_TOKEN={key}".encode(),
        "escaped": f"/mcp?a=b&access%5Ftoken={key}".encode(),
        "an empty one": b"/mcp?access_token=",
    }


@dataclass(frozen=True)
class Answers:
    """What a server said to raw requests from one address."""

    port: int
    heads: dict[str, bytes] = field(default_factory=dict)
    bodies: set[bytes] = field(default_factory=set)

    def send(self, name: str, lines: list[str], path: bytes = b"/mcp") -> None:
        response = raw(self.port, http_post(self.port, CALL, *lines).replace(b"POST /mcp ", b"POST " + path + b" ", 1))
        head, _, body = response.partition(b"\r\n\r\n")
        assert status_of(response) == 401, name
        self.heads[name] = head.lower()
        self.bodies.add(body)


def test_t14_bad_credentials_are_all_refused_alike_and_never_served_as_a_guest(
    owner: Owner, database: Database, serve: Start, record_property: Note
) -> None:
    """37 kinds of bad credential get one and the same 401; none takes a guest's unit, 34 of them ask no database.

    Only a well-formed key (unknown, revoked, or of a wrong secret) costs a look-up: a bad checksum, and a key for tests
    where the server is in production, are refused before it. Keys here do not expire, so that no expired one is shown.
    """
    key, revoked = owner.mint("works"), owner.mint("revoked")
    owner.done("keys", "revoke", revoked)
    peppers = load_peppers(owner.home / "pepper")
    for_tests = StoredKeys(database.owner, peppers, "test").create("for tests", None)
    other = new_key(peppers)
    KeyRing(database.owner).add(other.key_id, bytes(32), other.pepper_id, "of another secret", None)
    well_formed = {"unknown": new_key(peppers).text, "revoked": revoked, "wrong secret": other.text}
    production = {"CHATCTX_ENV": "production", "CHATCTX_ALLOW_DEMO_RECORDS": "true", "CHATCTX_VERIFY_SECONDS": "300"}
    with serve(database, **production) as program:
        assert ask(program, key) == 200
        said = Answers(urlsplit(program.base).port or 0)
        taken, before = units_taken(database.owner), last_statements(database.server)
        for name, lines in {**malformed(key), "for tests": [f"Authorization: Bearer {for_tests}"]}.items():
            said.send(name, lines)
        for name, path in addressed(key).items():
            said.send(name, [], path)
        without = len(said.heads)
        assert last_statements(database.server) == before
        for name, text in well_formed.items():
            said.send(name, [f"Authorization: Bearer {text}"])
        assert last_statements(database.server) != before
        assert units_taken(database.owner) == taken
        assert program.call("search_knowledge", QUESTION).headers["x-guest-quota-remaining"] == "249"
    assert len(said.bodies) == 1
    assert (len(said.heads), without) == (37, 34)
    for name, head in said.heads.items():
        assert b'www-authenticate: bearer realm="chatctx", error="invalid_token"' in head, name
        assert b"x-guest-quota" not in head, name
    record_property(
        "figure", f"{len(said.heads)} bad credentials, {len(said.bodies)} answer, {without} without a statement"
    )


@dataclass(frozen=True)
class Call:
    """When a call began, and how it ended."""

    began: float
    status: int


class Callers:
    """Callers that ask with a key until they are told to stop, each in a thread of its own."""

    def __init__(self, programs: list[Program], key: str, number: int) -> None:
        self.calls: list[list[Call]] = [[] for _ in range(number)]
        self._programs = programs
        self._key = key
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(number)
        self._work = [self._pool.submit(self._call, n) for n in range(number)]

    def _call(self, number: int) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            status = ask(self._programs[number % len(self._programs)], self._key)
            self.calls[number].append(Call(began, status))

    def stop(self) -> list[Call]:
        self._stop.set()
        for work in self._work:
            work.result()
        self._pool.shutdown()
        return [call for calls in self.calls for call in calls]


def test_t15_revoked_key_is_refused_to_every_call_that_begins_after_it(
    owner: Owner, database: Database, serve: Start, record_property: Note
) -> None:
    """Once `chatctx keys revoke` has returned, no call that begins is answered: 16 callers, two server processes."""
    served: Counter[int] = Counter()
    after = 0
    with serve(database) as first, serve(database) as second:
        for round_number in range(3):
            key = owner.mint(f"round-{round_number}")
            callers = Callers([first, second], key, 16)
            wait_for(lambda callers=callers: all(len(calls) >= 5 for calls in callers.calls))
            owner.done("keys", "revoke", id_of(key))
            ended = time.monotonic()
            wait_for(lambda callers=callers, ended=ended: all(calls[-1].began > ended for calls in callers.calls))
            calls = callers.stop()
            served.update(call.status for call in calls)
            late = [call.status for call in calls if call.began > ended]
            after += len(late)
            assert set(late) == {401}
            assert all(caller[0].status == 200 for caller in callers.calls)
    assert set(served) == {200, 401}
    record_property("figure", f"{served[200]} calls answered before, 0 of {after} that began after")


class Work:
    """Counts what checking a key comes to: statements sent, keyed hashes made, comparisons."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.done: Counter[str] = Counter()

    def __enter__(self) -> Counter[str]:
        event.listen(self._engine, "after_cursor_execute", self._note_statement)
        sys.setprofile(self._note_call)
        return self.done

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        event.remove(self._engine, "after_cursor_execute", self._note_statement)

    def _note_statement(self, _connection: object, cursor: Any, statement: str, *_: object) -> None:
        self.done["look-up" if "JOIN api_key" in statement else statement] += 1
        self.done["row read"] += cursor.rowcount

    def _note_call(self, frame: FrameType, kind: str, argument: object) -> None:
        if kind == "call" and frame.f_code is hmac.digest.__code__:
            self.done["keyed hash"] += 1
        elif kind == "c_call" and argument is hmac.compare_digest:
            self.done["comparison"] += 1


def test_t16_unknown_key_costs_the_same_work_as_one_of_a_wrong_secret(
    owner: Owner, database: Database, record_property: Note
) -> None:
    """An unknown key and a known one of a wrong secret cost the same: one row read, two keyed hashes, one comparison.

    So does a revoked one, and one whose pepper is gone. Asked again within five seconds, each costs one keyed hash and
    nothing else: what is remembered of a refusal tells nothing about its reason. How long each takes, over 20,000 of
    both in a random order, `python -m bench.credential_timing` measures.
    """
    revoked = owner.mint("revoked")
    owner.done("keys", "revoke", revoked)
    peppers = load_peppers(owner.home / "pepper")
    wrong, orphan = new_key(peppers), new_key(peppers)
    KeyRing(database.owner).add(wrong.key_id, bytes(32), wrong.pepper_id, "of another secret", None)
    KeyRing(database.owner).add(orphan.key_id, orphan.mac, "gone", "under a pepper that is gone", None)
    access = Access(PostgresAccessStore(database.server), peppers, Settings(home=owner.home), SystemClock())
    bad = {"unknown": new_key(peppers).text, "wrong secret": wrong.text, "revoked": revoked, "orphan": orphan.text}
    work: dict[str, list[Counter[str]]] = {}
    for name, text in bad.items():
        key = parse_key(text)
        assert key
        for _ in range(2):
            with Work(database.server) as done, pytest.raises(Unauthorized):
                access.identify(key, "192.0.2.1")
            work.setdefault(name, []).append(done)
    first, again = work["unknown"]
    assert all(found == [first, again] for found in work.values())
    assert first == {"look-up": 1, "row read": 1, "keyed hash": 2, "comparison": 1}
    assert again == {"keyed hash": 1}
    told = [", ".join(f"{number} {what}" for what, number in done.items()) for done in (first, again)]
    record_property("figure", f"{len(bad)} reasons to refuse, each at the cost of {told[0]}; asked again, {told[1]}")


def peppers_of(owner: Owner, keys: list[str]) -> Counter[str]:
    """Return how many of the keys depend on which pepper, as the owner is shown it."""
    listing = owner.listing()
    return Counter(listing[id_of(key)]["pepper_id"] for key in keys)


@pytest.mark.timeout(300)
def test_t17_pepper_is_changed_under_load_without_a_failure(
    owner: Owner, database: Database, serve: Start, record_property: Note
) -> None:
    """The pepper is changed while callers ask, two servers restarted one by one: 0 failures, all used keys are moved.

    The new pepper is added below the old one, then put above it, then the old one removed, with a restart of each
    server after each step. When the old one is gone, keys that nobody used meanwhile get 401. A balancer that takes a
    server out before it stops is stood in for by callers that keep the list of servers themselves.
    """
    used, unused = ([owner.mint(f"{name}-{n}") for n in range(number)] for name, number in (("used", 12), ("not", 3)))
    pepper = PepperFile(owner.home)
    with ExitStack() as stack:
        fleet = Fleet(lambda: serve(database), stack)
        load = Load(fleet, used, ask)
        with load.running():
            load.go_on(30)
            pepper.hold(pepper.old, pepper.new)
            fleet.replace_each()
            load.go_on(30)
            assert peppers_of(owner, [*used, *unused]) == {pepper.old.split()[0]: 15}
            pepper.hold(pepper.new, pepper.old)
            fleet.replace_each()
            load.go_on(2 * len(used) * CALLERS)
            made_since = owner.mint("since")
            moved = peppers_of(owner, [*used, made_since])
            pepper.hold(pepper.new)
            fleet.replace_each()
            load.go_on(30)
        assert moved == {"next": 13}
        assert peppers_of(owner, unused) == {pepper.old.split()[0]: 3}
        assert {ask(program, key) for program in fleet.programs for key in [*used, made_since]} == {200}
        assert {ask(program, key) for program in fleet.programs for key in unused} == {401}
    statuses = Counter(load.statuses)
    assert set(statuses) == {200}
    record_property(
        "figure",
        f"{statuses[200]} calls, {len(load.statuses) - statuses[200]} failures through 6 restarts, "
        f"{moved['next'] - 1} of {len(used)} used keys moved, {len(unused)} unused ones ended",
    )
