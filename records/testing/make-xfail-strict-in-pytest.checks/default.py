"""Without strictness a test that passes against expectation leaves the run green."""
import pathlib
import subprocess
import sys

pathlib.Path("pytest.ini").write_text("[pytest]\n")
pathlib.Path("test_fixed.py").write_text(
    "import pytest\n"
    "@pytest.mark.xfail(reason='issue 12')\n"
    "def test_fixed_long_ago():\n"
    "    assert 1 + 1 == 2\n"
)
run = subprocess.run(
    [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fixed.py"], capture_output=True, text=True
)
print(run.stdout)
assert run.returncode != 0, "the run is green although the expected failure is gone"
