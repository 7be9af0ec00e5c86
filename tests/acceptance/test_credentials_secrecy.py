"""A key is seen once, by whom it is made for: afterwards no part of its secret is anywhere."""

from __future__ import annotations

import base64
import os
import random
import re
import resource
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.access.keys import BASE62, CHECKSUM_LENGTH, ID_LENGTH, SCANNER_PATTERN, SECRET_LENGTH, mint_key, parse_key
from app.cluster import Cluster, scratch_cluster
from app.cluster.address import DATABASE
from app.cluster.binaries import wheel_binaries
from app.store.engine import owner_engine
from tests.acceptance.conftest import ROOT, Program, run_program
from tests.acceptance.credentials_owner import PLENTY, Owner, id_of
from tests.acceptance.credentials_sweep import files_with_a_trace, size_of
from tests.acceptance.privacy_failures import DEFECT, WatchedDatabase
from tests.core.records import make_record
from tests.databases import publish
from tests.edge.wire import call_tool, message, post

Note = Callable[[str, object], None]
QUESTION = {"query": "list rows keep the wrong state after reordering", "technologies": ["React"]}
# All that PostgreSQL can be made to say, as on a server that somebody is searching for a mistake.
TALKATIVE = {
    "log_statement": "all",
    "log_min_duration_statement": "0",
    "log_parameter_max_length": "-1",
    "log_min_messages": "info",
    "log_min_error_statement": "info",
    "log_error_verbosity": "verbose",
}


@dataclass(frozen=True)
class Place:
    """An owner with a database of his own that logs everything, and a server whose pepper is not his."""

    owner: Owner
    cluster: Cluster
    database: WatchedDatabase
    folder: Path

    def serving(self, home: Path) -> AbstractContextManager[Program]:
        environ = {
            "DATABASE_URL": self.owner.app_url,
            "CHATCTX_OWNER_DATABASE_URL": self.owner.owner_url,
            "CHATCTX_EMBEDDER": "none",
            "CHATCTX_LOG_LEVEL": "debug",
            "CHATCTX_GUEST_DAILY_QUOTA": PLENTY,
            "PYTHONFAULTHANDLER": "1",
        }
        return run_program(environ, home, command="serve")

    def dump(self) -> None:
        command = [wheel_binaries(18).folder / "pg_dump", "--file", self.folder / "left" / "dump.sql"]
        subprocess.run([*command, self.cluster.address.owner_uri], check=True, timeout=60)

    def told(self, name: str, text: str) -> None:
        """Keep what somebody was told, to be searched with the rest."""
        (self.folder / "left" / name).write_text(text, "utf-8", "surrogatepass")

    @property
    def left(self) -> list[Path]:
        """Return everything there is but the files that the keys were given out in."""
        homes = [self.folder / name for name in ("home", "other", "left")]
        return [*homes, self.cluster.status().data_directory.parent]

    @property
    def log(self) -> str:
        return self.cluster.status().log_file.read_text("utf-8", "replace")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with scratch_cluster(tmp_path / "postgres") as cluster:
        address = cluster.address
        owner = Owner(address.app_url, address.owner_url, tmp_path / "home", tmp_path / "keys")
        owner.done("migrate")
        engine = owner_engine(address.owner_url)
        publish(engine, [make_record()])
        engine.dispose()
        database = WatchedDatabase(cluster, DATABASE)
        # The server keeps values out of the log where it may; here it may not.
        database.run("REVOKE SET ON PARAMETER log_parameter_max_length FROM chatctx_server")
        database.run(*(f"ALTER DATABASE {DATABASE} SET {name} = '{value}'" for name, value in TALKATIVE.items()))
        (tmp_path / "left").mkdir()
        yield Place(owner, cluster, database, tmp_path)


@contextmanager
def cores_allowed() -> Iterator[None]:
    """Let what is started meanwhile leave a core file when it crashes, as far as this machine lets us."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)


def crash(program: Program) -> bool:
    """Crash a server; return whether the kernel wrote down its memory."""
    program.process.send_signal(signal.SIGABRT)
    ended = os.waitid(os.P_PID, program.process.pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    assert ended.si_status == signal.SIGABRT
    return ended.si_code == os.CLD_DUMPED


def use(program: Program, key: str) -> httpx.Response:
    return call_tool(f"{program.base}/mcp", "search_knowledge", QUESTION, authorization=f"Bearer {key}")


def misuse(program: Program, key: str) -> Iterator[httpx.Response]:
    """Send a key everywhere it does not belong."""
    endpoint = f"{program.base}/mcp"
    for wrong in (key, f"Basic {key}", f"Bearer {key}0", f"Bearer {key[:-1]}", f"bearer  {key}"):
        yield call_tool(endpoint, "search_knowledge", QUESTION, authorization=wrong)
    for name in ("x_api_key", "cookie", "user_agent", "origin", "host", "mcp_protocol_version", "x_forwarded_for"):
        yield call_tool(endpoint, "search_knowledge", QUESTION, **{name: key})
    yield post(f"{endpoint}?access_token={key}", message("tools/list"))
    yield post(f"{endpoint}/{key}?key={key}", message("tools/list"))
    # Its answer is not looked through: JSON-RPC sends an id back to whoever sent it.
    assert post(endpoint, message("ping", request_id=key)).status_code == 200
    yield post(endpoint, message(key, {key: key}))
    yield post(endpoint, key.encode())
    bearer = f"Bearer {key}"
    yield call_tool(endpoint, key, {}, authorization=bearer)
    for arguments in ({"query": "ab", key: key}, {"query": "ab", "topic": key}, {"query": [key]}, {"query": key * 40}):
        yield call_tool(endpoint, "search_knowledge", arguments, authorization=bearer)
    yield call_tool(endpoint, "submit_feedback", {"category": "other", "comment": f"{key} is refused"})


@pytest.mark.timeout(300)
def test_t20_no_part_of_a_key_is_left_anywhere(place: Place, record_property: Note) -> None:
    """100 keys, used well, wrongly and while things fail: no 16 characters of a secret are in any log, file or dump.

    Searched are all the servers print, also as tracebacks of all threads in a crash, what the commands print, a dump of
    the database, all its files and its log, while that logs every statement with its values. What a caller writes into
    a question reaches such a log where the server may not prevent it, so that no key is put into one here. A crash
    leaves no core file; what the memory of a running server holds is not searched, as it must hold the keys it checks.
    """
    keys = [place.owner.mint(f"agent-{number}") for number in range(100)]
    statuses: Counter[tuple[str, int]] = Counter()

    def all_use(what: str, program: Program, some: list[str]) -> None:
        with ThreadPoolExecutor(8) as pool:
            statuses.update((what, answer.status_code) for answer in pool.map(lambda key: use(program, key), some))

    with (
        cores_allowed(),
        place.serving(place.owner.home) as program,
        place.serving(place.folder / "other") as other,
    ):
        all_use("well", program, keys)
        all_use("with another pepper", other, keys)
        misused = [answer for key in keys[:5] for answer in misuse(program, key)]
        with place.database.broken("ALTER TABLE api_key RENAME TO gone", "ALTER TABLE gone RENAME TO api_key"):
            all_use("where the keys cannot be read", program, keys[:20])
        with place.database.broken(*DEFECT):
            all_use("where the server has a defect", program, keys[:20])
        place.told("listing", place.owner.done("keys", "list") + place.owner.done("keys", "list", "--json"))
        place.dump()
        with place.database.killed():
            all_use("without a database", program, keys[:20])
            refused = place.owner.run("keys", "create", "--label", "late", "--out", str(place.folder / "late"))
        cored = crash(program)
        other.stop()
    place.told("commands", "\n".join(place.owner.said))
    place.told("servers", f"{program.output}\n{other.output}")
    place.told("answers", "\n".join(f"{answer.headers} {answer.text}" for answer in misused))

    assert statuses == {
        ("well", 200): 100,
        ("with another pepper", 401): 100,
        ("where the keys cannot be read", 503): 20,
        ("where the server has a defect", 200): 20,
        ("without a database", 503): 20,
    }
    assert refused.exit_code != 0
    assert "Fatal Python error: Aborted" in program.output
    assert not cored
    assert all(id_of(key) in place.log for key in keys)
    assert files_with_a_trace(keys, place.left, place.folder) == []
    calls, searched = statuses.total() + len(misused), size_of(place.left) / 1e6
    record_property("figure", f"{len(keys)} keys, {calls} calls, {searched:.0f} MB searched, 0 hits")


def test_what_looks_for_keys_finds_any_part_of_one(tmp_path: Path) -> None:
    """A search that finds nothing would find half a secret, in hex or in base64, in the midst of a binary file."""
    keys = [mint_key().text for _ in range(100)]
    assert files_with_a_trace(keys, [tmp_path], tmp_path.parent) == []
    secret = keys[57].rsplit("_", 1)[1]
    for name, trace in {
        "part": secret[9:30],
        "hex": keys[57].encode().hex(),
        "upper": secret.encode().hex(),
        "base64": base64.b64encode(f"Bearer {keys[57]}".encode()).decode(),
    }.items():
        (tmp_path / name).write_bytes(os.urandom(5000) + trace.encode() + os.urandom(5000))
    assert len(files_with_a_trace(keys, [tmp_path], tmp_path.parent)) == 4


def test_t20_scanners_find_every_key_and_nothing_else(record_property: Note) -> None:
    """The published pattern and checksum find 100 of 100 keys in a text, and none in 10 MB of random base62.

    Nor in 10,000 strings that have the form of a key and not its checksum.
    """
    drawn = random.Random(20)  # noqa: S311 - repeatable, and nobody's secret
    noise = drawn.randbytes(10 * 10**6).translate((BASE62 * 5).encode()[:256]).decode("ascii")
    keys = [mint_key(kind).text for kind in ("live", "test") for _ in range(50)]
    forms = ["".join(drawn.choices(BASE62, k=ID_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH)) for _ in range(10_000)]
    lookalikes = [f"kb_live_{form[:ID_LENGTH]}_{form[ID_LENGTH:]}" for form in forms]
    text = "".join(f'{noise[n * 9000 : n * 9000 + 90]}\nAuthorization: Bearer {key}"\n' for n, key in enumerate(keys))
    assert found_in(text) == keys
    assert len(re.findall(SCANNER_PATTERN, "\n".join(lookalikes))) == len(lookalikes)
    assert found_in("\n".join([noise, *lookalikes])) == []
    assert SCANNER_PATTERN in (ROOT / "SECURITY.md").read_text("utf-8")
    record_property(
        "figure", f"{len(keys)} of {len(keys)} found, 0 in {len(noise) // 10**6} MB and {len(lookalikes)} lookalikes"
    )


def found_in(text: str) -> list[str]:
    """Return the keys in a text, as a scanner finds them that knows the pattern and the checksum."""
    return [match[0] for match in re.finditer(SCANNER_PATTERN, text) if parse_key(match[0])]
