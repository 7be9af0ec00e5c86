"""`make` prepares .venv once, safely, and starts from it at once afterwards."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.deploy.dockerfile import ROOT

_LOCKS = ("requirements.lock", "requirements-dev.lock")
_BIG = re.compile(r"^(torch|nvidia|triton|cuda)", re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a space in its path and locks that name nothing."""
    root = tmp_path / "a checkout"
    (root / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "prepare.py", root / ".ci")
    shutil.copy(ROOT / "Makefile", root)
    for name in (*_LOCKS, "pyproject.toml"):
        (root / name).write_text("", encoding="utf-8")
    return root


@pytest.fixture
def prepare(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The preparation of that checkout, with `ran` listing what it would have run."""
    spec = importlib.util.spec_from_file_location("prepare", checkout / ".ci" / "prepare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ran: list[str] = []
    monkeypatch.setattr(module, "ran", ran, raising=False)
    monkeypatch.setattr(module, "run", _pretender(module, ran))
    return module


def _pretender(module: ModuleType, ran: list[str]) -> Callable[[list[str], str], None]:
    def run(command: list[str], failure: str) -> None:
        ran.append("venv" if "venv" in command else "editable" if "--editable" in command else command[-1])
        module.PYTHON.parent.mkdir(parents=True, exist_ok=True)
        module.PYTHON.touch(mode=0o755)
        time.sleep(0.05)

    return run


def _prepare(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """Prepare and return what was run, by the last name of each path."""
    monkeypatch.setattr(sys, "argv", ["prepare.py", *arguments])
    module.ran.clear()
    module.main()
    return [Path(name).name for name in module.ran]


def test_the_second_preparation_does_nothing(prepare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stamp says that all is there; nothing asks the network."""
    assert _prepare(prepare, monkeypatch) == ["venv", "requirements.lock", "editable"]
    assert _prepare(prepare, monkeypatch) == []


def test_tests_need_more_and_bring_what_running_needs(prepare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was installed for tests serves for running, and is kept up to date by it."""
    _prepare(prepare, monkeypatch)
    assert _prepare(prepare, monkeypatch, "--dev") == ["requirements-dev.lock", "editable"]
    assert _prepare(prepare, monkeypatch) == []
    (prepare.ROOT / "requirements.lock").write_text("# changed\n", encoding="utf-8")
    assert _prepare(prepare, monkeypatch) == ["requirements-dev.lock", "editable"]


def test_an_interrupted_installation_is_begun_again(prepare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an environment is never used."""
    whole = prepare.pip
    monkeypatch.setattr(prepare, "pip", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(SystemExit, match="130"):
        _prepare(prepare, monkeypatch)
    monkeypatch.setattr(prepare, "pip", whole)
    assert _prepare(prepare, monkeypatch) == ["venv", "requirements.lock", "editable"]


def test_a_lost_python_is_noticed(prepare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade of the system may take away the Python that the environment points to."""
    _prepare(prepare, monkeypatch)
    prepare.PYTHON.unlink()
    assert _prepare(prepare, monkeypatch) == ["venv", "requirements.lock", "editable"]


def test_a_moved_checkout_is_noticed(prepare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's programs hold its path."""
    _prepare(prepare, monkeypatch)
    stamp = prepare.STAMP.read_text(encoding="utf-8")
    prepare.STAMP.write_text(stamp.replace("a checkout", "another"), encoding="utf-8")
    assert _prepare(prepare, monkeypatch)[0] == "venv"


def test_two_that_start_at_once_install_once(prepare: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits and finds all done."""
    monkeypatch.setattr(sys, "argv", ["prepare.py"])
    threads = [threading.Thread(target=prepare.main) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert prepare.ran.count("venv") == 1


def test_a_machine_without_a_suitable_python_is_told_what_to_do(checkout: Path) -> None:
    """No traceback, and what to install."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("no make here")
    done = subprocess.run(
        [make, "run"], cwd=checkout, env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "3.11 to 3.14" in done.stderr
    assert "apt install" in done.stderr


@pytest.mark.skipif(not (ROOT / ".venv" / "installed.json").exists(), reason="not run from a prepared checkout")
def test_a_prepared_checkout_is_ready_within_a_second() -> None:
    """Starting again costs next to nothing."""
    if shutil.which("make") is None:
        pytest.skip("no make here")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    best = 10.0
    for _ in range(3):
        begun = time.monotonic()
        subprocess.run(["make", "venv"], cwd=ROOT, check=True, env=environment)
        best = min(best, time.monotonic() - begun)
    assert best < 1


@pytest.mark.parametrize("name", _LOCKS)
def test_locks_pin_by_hash_and_bring_no_gpu_software(name: str) -> None:
    """Every requirement has a version and hashes; none is fetched from a named place."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=[a-z])", "\n" + re.sub(r"(?m)^\s*#.*\n", "", text))[1:]
    assert len(blocks) > 50
    for block in blocks:
        assert re.match(r"[a-z0-9][a-z0-9.\-]*(\[[a-z,]+\])?==\S+", block), block
        assert "--hash=sha256:" in block
    assert not _BIG.search(text)
    assert "://" not in text
    assert "--index" not in text


def test_development_has_the_versions_that_run() -> None:
    """Tests prove nothing about other versions than those installed for running."""
    runtime, dev = (_pins((ROOT / name).read_text(encoding="utf-8")) for name in _LOCKS)
    assert runtime <= dev


def _pins(text: str) -> set[str]:
    """Return the pins without their markers: what runs on one system only may be needed everywhere for development."""
    return {re.split(r"[ ;\\]", line)[0] for line in text.splitlines() if re.match(r"[a-z0-9].*==", line)}
