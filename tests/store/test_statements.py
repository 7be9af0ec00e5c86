"""The SQL files: one statement each, explained, used, and safe to bind to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import app.store

FOLDER = Path(app.store.__file__).parent
FILES = sorted((FOLDER / "sql").glob("*.sql"))
PYTHON = "\n".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_statement_says_what_it_answers(path: Path) -> None:
    """Two comment lines at the top, then one statement that ends without a semicolon."""
    lines = path.read_text("utf-8").splitlines()
    assert [line.startswith("-- ") for line in lines[:3]] == [True, True, False]
    assert ";" not in path.read_text("utf-8").split("\n", 2)[2]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_statement_is_used(path: Path) -> None:
    """A file that nobody names is dead."""
    assert f'"{path.stem}"' in PYTHON


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_casts_leave_the_parameters_visible(path: Path) -> None:
    """`:x::type` binds nothing, and says nothing of it."""
    assert "::" not in path.read_text("utf-8")


def test_callers_text_is_bound_on_the_server_only() -> None:
    """The client-side cursor writes values into the statement, from where they reach the server's log."""
    assert not re.search(r"ClientCursor|ClientSideCursor|literal_binds", PYTHON)
    assert "hide_parameters=True" in PYTHON
