"""The command line: the same operations as over MCP, and what the person who runs the server needs."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

from app.contract import SERVER_VERSION
from app.transports.cli.admin import backup, config, doctor, files, migrate, restore
from app.transports.cli.ask import call_operation, feedback, get, search
from app.transports.cli.keys import keys
from app.transports.cli.owner import owner
from app.transports.cli.runtime import Runtime
from app.transports.cli.serve import serve

__all__ = ["Runtime", "create_cli"]

# Commands of rooms above this one hang themselves here; see `[project.entry-points]` in pyproject.toml.
COMMANDS = "chatctx.commands"


def create_cli(runtime: Runtime) -> click.Group:
    """Return the `chatctx` command with everything that is installed."""

    @click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
    @click.version_option(SERVER_VERSION, prog_name="chatctx")
    @click.pass_context
    def chatctx(context: click.Context) -> None:
        """Curated engineering guidance for coding agents.

        Exit codes: 0 done, 1 refused or not found, 2 wrong usage, 3 something needed cannot be reached.
        """
        context.obj = runtime

    for command in (
        serve,
        search,
        get,
        feedback,
        call_operation,
        keys,
        owner,
        config,
        doctor,
        migrate,
        backup,
        restore,
        files,
    ):
        chatctx.add_command(command)
    for point in sorted(entry_points(group=COMMANDS), key=lambda entry: entry.name):
        chatctx.add_command(point.load(), point.name)
    return chatctx
