"""docs/clients.md shows what the tests of the clients run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.clients.agents import ClaudeCode, Codex, GeminiCli
from tests.clients.driving import DRIVERS
from tests.clients.nginx import SHIPPED
from tests.clients.test_matrix import CLIENTS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/clients.md").read_text("utf-8")
FENCES = re.findall(r"```(?:python|js)\n(?:#|//) (\S+)\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.parametrize("agent", [ClaudeCode, Codex, GeminiCli])
@pytest.mark.parametrize("key", [None, "KEY"])
def test_the_command_that_adds_the_server_is_shown(agent, key):
    assert shlex.join(agent.adding("URL", key)) in DOCUMENT.splitlines()


def test_every_driver_is_shown():
    assert {Path(place).name for place, _ in FENCES} == {
        path.name for path in DRIVERS.iterdir() if path.is_file() and path.stem != "dialogue"
    }


@pytest.mark.parametrize(("place", "shown"), FENCES, ids=[place for place, _ in FENCES])
def test_every_line_shown_is_a_line_that_runs(place, shown):
    runs = {line.strip() for line in (ROOT / place).read_text("utf-8").splitlines()}
    assert {line.strip() for line in shown.splitlines()} <= runs


def test_the_table_has_every_client():
    rows = re.findall(r"^\| (.+?) \| 20\d\d-", DOCUMENT, re.MULTILINE)
    assert rows == [client.name for client in CLIENTS]


def test_the_example_for_nginx_is_named():
    assert str(SHIPPED.relative_to(ROOT)) in DOCUMENT
    assert str(SHIPPED.relative_to(ROOT)) in (ROOT / "README.md").read_text("utf-8")
