"""With xfail_strict the passing test fails the run, and raises= lets no other exception count as expected."""
import pathlib
import subprocess
import sys

pathlib.Path("pytest.ini").write_text("[pytest]\nxfail_strict = true\n")
pathlib.Path("test_fixed.py").write_text(
    "import pytest\n"
    "@pytest.mark.xfail(reason='issue 12', raises=KeyError)\n"
    "def test_fixed_long_ago():\n"
    "    assert 1 + 1 == 2\n"
    "@pytest.mark.xfail(reason='issue 13', raises=KeyError)\n"
    "def test_other_error():\n"
    "    raise TypeError('typo')\n"
    "@pytest.mark.xfail(reason='issue 14', raises=KeyError)\n"
    "def test_still_broken():\n"
    "    raise KeyError('name')\n"
)
run = subprocess.run(
    [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fixed.py"], capture_output=True, text=True
)
print(run.stdout)
assert run.returncode == 1, run.returncode
assert "[XPASS(strict)] issue 12" in run.stdout
assert "2 failed, 1 xfailed" in run.stdout
