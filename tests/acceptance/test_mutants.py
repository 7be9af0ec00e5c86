"""A guard that is taken away is missed: each of these changes to the code makes a test fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.conftest import ROOT

COPIED = ("app", "review", "migrations", "bench", "tests")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".venvs", "agents")


@dataclass(frozen=True)
class Mutant:
    """One guard, how it is taken away, and the test that should miss it."""

    guard: str
    file: str
    before: str
    after: str
    test: str


MUTANTS = (
    Mutant(
        "a key's secret is compared", "app/access/admission.py",
        "return hmac.compare_digest(self._peppers.key_mac(key.text, pepper_id), stored)", "return True",
        "tests/access/test_admission.py",
    ),
    Mutant(
        "a revoked key is refused", "app/access/admission.py", "row.revoked_at is not None", "False",
        "tests/access/test_admission.py",
    ),
    Mutant(
        "a key's checksum is computed", "app/access/keys.py",
        "checksum(text[:-CHECKSUM_LENGTH]) != text[-CHECKSUM_LENGTH:]", "False", "tests/access/test_keys.py",
    ),
    Mutant(
        "proxies are believed from the right", "app/access/address.py", "return reversed([hop", "return iter([hop",
        "tests/access/test_address.py",
    ),
    Mutant(
        "a subscriber's network is one caller", "app/access/address.py", "IPV6_PREFIX = 64", "IPV6_PREFIX = 128",
        "tests/access/test_address.py",
    ),
    Mutant(
        "an allowance ends", "app/access/quota.py", "if not taken.admitted:", "if False:",
        "tests/access/test_admission.py",
    ),
    Mutant(
        "a guest's address is hashed under the day's salt", "app/access/quota.py", 'subkey("address", salt=salt)',
        'subkey("address")', "tests/access/test_admission.py",
    ),
    Mutant(
        "a pepper is its owner's alone", "app/access/pepper.py", "if mode & _FORBIDDEN_MODE:", "if False:",
        "tests/access/test_pepper.py",
    ),
    Mutant(
        "a ledger's line follows the one before", "app/ledger.py", "if entry.prev != prev:", "if False:",
        "tests/review/test_ledger.py",
    ),
    Mutant(
        "a record has the hash it is approved under", "app/integrity.py", "content.sha256 != columns.content_hash",
        "False", "tests/core/test_integrity.py",
    ),
    Mutant(
        "a date set back revives no key", "app/integrity.py",
        "flaw(entry, max(latest, entry.decided_at))", "flaw(entry, entry.decided_at)", "tests/core/test_integrity.py",
    ),
    Mutant(
        "a signature is of somebody who may", "app/signatures.py", "return key is not None and any(",
        "return key is not None or any(", "tests/core/test_signatures.py",
    ),
    Mutant(
        "a name occurs once in JSON", "app/transports/strictjson.py", "if len(names) != len(pairs):", "if False:",
        "tests/acceptance/test_hostile_messages.py::test_t24_a_message_with_more_than_one_meaning_is_refused_at_once",
    ),
    Mutant(
        "a Host is one of ours", "app/transports/gate.py",
        "if host not in self.hosts and host not in _loopback(bound_port):", "if False:", "tests/edge/test_gate.py",
    ),
    Mutant(
        "what turns the direction of a text round is seen", "review/hidden.py",
        '    "Cf": "invisible format character",\n', "", "tests/gates/test_safety_parts.py",
    ),
    Mutant(
        "e-mail addresses are taken out of feedback", "app/scrub/forms.py", "(?!git@git)", "(?!)",
        "tests/core/test_scrub.py",
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two copies of the project, to work on at the same time."""
    made = [tmp_path_factory.mktemp("copy") for _ in range(2)]
    for copy in made:
        for part in COPIED:
            shutil.copytree(ROOT / part, copy / part, ignore=LEFT_OUT)
        shutil.copy(ROOT / "pyproject.toml", copy)
    return made


def notices(copy: Path, test: str) -> bool:
    """Tell whether a test fails on the copy as it stands."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
    done = subprocess.run(
        command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout.decode()
    return done.returncode == 1


def is_missed(copy: Path, mutant: Mutant) -> bool:
    """Take a guard away, tell whether its test fails, and put it back."""
    path = copy / mutant.file
    whole = path.read_text("utf-8")
    assert whole.count(mutant.before) == 1, mutant.guard
    path.write_text(whole.replace(mutant.before, mutant.after), "utf-8")
    try:
        return notices(copy, mutant.test)
    finally:
        path.write_text(whole, "utf-8")


def missed_of(copy: Path, mutants: Sequence[Mutant]) -> dict[str, bool]:
    return {mutant.guard: is_missed(copy, mutant) for mutant in mutants}


def failing(copy: Path, tests: Sequence[str]) -> list[str]:
    return [test for test in tests if notices(copy, test)]


@pytest.mark.timeout(300)
def test_t50_a_guard_that_is_taken_away_is_missed(
    copies: list[Path], record_property: Callable[[str, object], None]
) -> None:
    """Each of sixteen guards (keys, quota, addresses, ledger, parser, Host, gate, feedback) is missed by a quick test.

    Those are picked by hand; `python -m bench.mutation` changes the same modules in all the small ways it knows.
    """
    shares = [MUTANTS[place :: len(copies)] for place in range(len(copies))]
    with ThreadPoolExecutor(len(copies)) as pool:
        missed = dict(item for share in pool.map(missed_of, copies, shares) for item in share.items())
    assert not [guard for guard, noticed in missed.items() if not noticed]
    record_property("figure", f"{sum(missed.values())} of {len(MUTANTS)} missed")


@pytest.mark.timeout(300)
def test_without_a_change_nothing_is_missed(copies: list[Path]) -> None:
    """The test above is one that can fail: the same tests pass on the copy as it is."""
    tests = sorted({mutant.test for mutant in MUTANTS})
    shares = [tests[place :: len(copies)] for place in range(len(copies))]
    with ThreadPoolExecutor(len(copies)) as pool:
        assert not [test for share in pool.map(failing, copies, shares) for test in share]
