"""How commands speak: JSON for programs, tables for people, one line for an error."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import ParamSpec, TypeVar

import click
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.errors import AppError, ClusterError, SettingsError, Unavailable

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3

_OWNER_NEEDED = "this login may not do that; set CHATCTX_OWNER_DATABASE_URL to the login that owns the database."

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def console() -> Console:
    """Return a console for people: no colour where the environment or a pipe says so."""
    return Console(highlight=False, no_color="NO_COLOR" in os.environ or None, soft_wrap=False)


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=not _speaks_unicode(), default=str))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under column names: folded to the terminal's width, or in a pipe one row a line, tabs between."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            click.echo("\t".join(str(cell) for cell in row))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, name in enumerate(columns):
        table.add_column(name, overflow="fold", no_wrap=place == 0, ratio=1 if place == len(columns) - 1 else None)
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    console().print(table)


def reports_errors(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Turn an AppError into one line on stderr and an exit code."""

    @wraps(command)
    def guarded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return command(*args, **kwargs)
        except AppError as error:
            print_error(error)
            raise SystemExit(exit_code(error)) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ENOSPC, errno.EDQUOT):
                # The output's fault, not the command's: click and `app.main` know what to do.
                raise
            print_defect(error)
            raise SystemExit(EXIT_REFUSED) from None
        except Exception as error:  # noqa: BLE001 - whatever it is, a person gets one line
            if _lacks_rights(error):
                click.echo("insufficient_rights: " + _OWNER_NEEDED, err=True)
                raise SystemExit(EXIT_REFUSED) from None
            print_defect(error)
            raise SystemExit(EXIT_REFUSED) from None

    return guarded


def print_defect(error: Exception) -> None:
    """Print that something of ours failed; raise it again where the person wants to see where."""
    if os.environ.get("CHATCTX_LOG_LEVEL") == "debug":
        raise error
    click.echo(f"internal_error: {type(error).__name__}; with CHATCTX_LOG_LEVEL=debug it says where", err=True)


def _lacks_rights(error: Exception) -> bool:
    """Tell PostgreSQL's "permission denied" (SQLSTATE 42501), without knowing the driver."""
    return getattr(getattr(error, "orig", None), "sqlstate", None) == "42501"


def print_error(error: AppError) -> None:
    """Print `code: message`, and below it which argument breaks which rule."""
    click.echo(f"{error.code}: {error.message}", err=True)
    if isinstance(error, Unavailable) and error.hint:
        click.echo(f"  {error.hint}", err=True)
    fields = error.details.get("fields")
    for entry in fields if isinstance(fields, list) else []:
        if isinstance(entry, Mapping):
            click.echo(f"  {entry['field']}: {entry['rule']}", err=True)


def exit_code(error: AppError) -> int:
    """Return the exit code that stands for an error."""
    if isinstance(error, SettingsError):
        return EXIT_USAGE
    return EXIT_UNREACHABLE if isinstance(error, Unavailable | ClusterError) else EXIT_REFUSED


def wrapped(text: str, indent: int = 2) -> str:
    """Return text folded to the terminal's width."""
    pad = " " * indent
    return click.wrap_text(text, width=min(100, console().width), initial_indent=pad, subsequent_indent=pad)


def _speaks_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
