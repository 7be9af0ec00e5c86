"""What the documents promise exists."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from app.main import BASE
from app.runtime import LocalRuntime
from app.settings import Settings, variable_of
from app.transports.cli import create_cli

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def _commands(text: str) -> set[tuple[str, ...]]:
    """Return the words of each `chatctx` command, up to its first argument."""
    lines = re.findall(r"(?:\.venv/bin/chatctx|`chatctx)((?: [a-z][a-z-]*)+)", text)
    return {tuple(takewhile(lambda word: re.fullmatch(r"[a-z-]+", word), shlex.split(line))) for line in lines}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_a_document_exists(document: Path) -> None:
    """A command that is written down can be asked for its help."""
    cli = create_cli(LocalRuntime({}, BASE))
    for words in _commands(document.read_text("utf-8")):
        known: list[str] = []
        command: click.Command = cli
        for word in words:
            if not isinstance(command, click.Group):
                break
            assert word in command.commands, f"chatctx {' '.join(words)}"
            command = command.commands[word]
            known.append(word)
        assert CliRunner().invoke(cli, [*known, "--help"]).exit_code == 0


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_setting_in_a_document_exists(document: Path) -> None:
    """A setting that is written down is one."""
    valid = {variable_of(field) for field in Settings.model_fields}
    assert set(re.findall(r"CHATCTX_[A-Z][A-Z_]*", document.read_text("utf-8"))) <= valid


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_in_a_document_exists(document: Path) -> None:
    """Files, folders and test paths that are named are there."""
    text = document.read_text("utf-8")
    named = set(re.findall(r"(?<![\w/])(?:docs|tests|app|review|bench|migrations)/[\w./-]*\w(?![\w<])", text))
    links = set(re.findall(r"\]\(([^)#:]+)\)", text))
    missing = [path for path in named if not list(ROOT.glob(path.rstrip("/"))) and "<" not in path]
    missing += [link for link in links if not (document.parent / link).exists()]
    assert not missing


def test_every_setting_is_described() -> None:
    """`chatctx config` has a meaning for each."""
    assert all(info.description for info in Settings.model_fields.values())
