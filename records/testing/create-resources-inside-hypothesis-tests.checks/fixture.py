"""pytest runs a function-scoped fixture once per test, not once per generated example."""
import pathlib
import sys

import pytest

pathlib.Path("test_shared.py").write_text(
    "from hypothesis import given, settings, strategies as st\n"
    "@settings(max_examples=20, database=None)\n"
    "@given(name=st.text(alphabet='abc', min_size=1, max_size=3))\n"
    "def test_counts_files(tmp_path, name):\n"
    "    (tmp_path / name).write_text('x')\n"
    "    assert len(list(tmp_path.iterdir())) == 1\n"
)
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_shared.py"]))
