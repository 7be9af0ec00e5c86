"""For the person who runs the server: settings, health, schema, public files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from app.publicfiles import COMMITTED, Site, render_all
from app.settings import describe_settings
from app.transports.cli.printing import (
    EXIT_REFUSED,
    json_option,
    print_json,
    print_table,
    reports_errors,
    wrapped,
)
from app.transports.cli.runtime import Runtime


@click.command()
@json_option
@click.pass_obj
@reports_errors
def config(runtime: Runtime, as_json: bool) -> None:
    """List every setting with its value, origin and meaning. Secrets are masked."""
    lines = describe_settings(runtime.settings(), runtime.environ)
    if as_json:
        return print_json([asdict(line) for line in lines])
    for line in lines:
        click.echo(f"{line.variable}={line.value}  ({line.origin})")
        click.echo(wrapped(line.meaning, 4))
    return None


@click.command()
@json_option
@click.pass_obj
@reports_errors
def doctor(runtime: Runtime, as_json: bool) -> None:
    """Look at everything the server needs and say how to mend what is broken. Exit code 1 when something is."""
    findings = runtime.diagnose()
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        rows = [
            (finding.state, finding.name, "; ".join(filter(None, (finding.found, finding.remedy))))
            for finding in findings
        ]
        print_table(("state", "what", "found"), rows)
    if any(finding.state == "broken" for finding in findings):
        raise SystemExit(EXIT_REFUSED)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
@reports_errors
def backup(runtime: Runtime, file: Path) -> None:
    """Write the whole database into a new FILE: records, ledger, keys, feedback; no counts of calls.

    The pepper is not in it, and without it no key works: back it up elsewhere.
    """
    size = runtime.back_up(file)
    click.echo(f"written: {file}, {size} bytes")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
@reports_errors
def restore(runtime: Runtime, file: Path) -> None:
    """Fill an empty database from FILE, all of it or nothing, and hold every record against its approval."""
    served = runtime.restore(file)
    click.echo(f"restored and verified; records served: {served}")


@click.command()
@click.pass_obj
@reports_errors
def migrate(runtime: Runtime) -> None:
    """Bring the database's schema to the newest revision."""
    click.echo(f"schema at revision {runtime.migrate()}")


@click.command()
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 when a file differs.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    show_default=True,
    help="Where the files are kept.",
)
@reports_errors
def files(check: bool, folder: Path) -> None:
    """Write the public files that are kept in the repository, rendered from the contract."""
    rendered = render_all(Site())
    stale = [name for name in COMMITTED if _content(folder / name) != rendered[f"/{name}"].content]
    for name in stale:
        if not check:
            (folder / name).write_bytes(rendered[f"/{name}"].content)
        click.echo(f"{'differs' if check else 'written'}: {name}")
    if check and stale:
        raise SystemExit(EXIT_REFUSED)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
