"""A temporary directory made inside the test body is fresh for every generated example."""
import pathlib
import tempfile

from hypothesis import given, settings
from hypothesis import strategies as st

runs = []


@settings(max_examples=20, database=None)
@given(st.text(alphabet="abc", min_size=1, max_size=3))
def test_counts_files(name):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_text("x")
        runs.append(len(list(pathlib.Path(folder).iterdir())))
        assert runs[-1] == 1


test_counts_files()
assert len(runs) > 1
