"""`review lint`: repair what is mechanical in record files."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

import click

from app.errors import RecordError
from app.record import content_hash
from app.recordfile import MAX_FILE_BYTES, parse_record, record_paths
from app.transports.cli.printing import EXIT_REFUSED, json_option, print_json, reports_errors
from app.wholefile import replace_file
from review.bench import Shelf, open_shelf
from review.errors import Refused
from review.ledger import State
from review.lint import lint
from review.screen import records_of


@dataclass(frozen=True)
class _File:
    """A file that is not in order.

    Attributes:
        loses: its approval does not count for the repaired text.
    """

    path: Path
    before: str
    after: str
    repairs: tuple[str, ...]
    loses: bool

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"

    def difference(self) -> list[str]:
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), self.name, f"{self.name}, repaired", lineterm=""
        )
        return list(lines)


@click.command("lint")
@click.argument("slugs", nargs=-1)
@click.option("--fix", is_flag=True, help="Write the repairs.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, as a difference.")
@click.option("--approved", is_flag=True, help="With --fix: repair also where an approval is lost by it.")
@json_option
@click.pass_context
@reports_errors
def lint_command(
    context: click.Context, slugs: tuple[str, ...], fix: bool, dry_run: bool, approved: bool, as_json: bool
) -> None:
    """Find what is mechanical in the named records, or in all, and repair it.

    Line ends, spaces, wrapped lines, list markers, curly quotes, quotes around versions, dates, names of technologies,
    order of fields and headings. What a record says stays the same. An approval counts for the repaired text, unless
    quotes changed in it. Exit code 1 when something is to be repaired, or was not.
    """
    shelf = open_shelf(records_of(context))
    found = [file for path in _paths(shelf, slugs) if (file := _look_at(shelf, path))]
    written = [file for file in found if fix and not dry_run and (approved or not file.loses)]
    for file in written:
        _write(file)
    if as_json:
        print_json([_row(file, written=file in written) for file in found])
    else:
        _print(found, written, shows=dry_run)
    if len(written) < len(found):
        raise SystemExit(EXIT_REFUSED)


def _paths(shelf: Shelf, slugs: tuple[str, ...]) -> list[Path]:
    paths = record_paths(shelf.folder)
    unknown = set(slugs) - {path.stem for path in paths}
    if unknown:
        raise Refused(f"No such record: {', '.join(sorted(unknown))}. `review lint` without names looks at all.")
    return [path for path in paths if not slugs or path.stem in slugs]


def _look_at(shelf: Shelf, path: Path) -> _File | None:
    """Return a file that is not in order; None for one that is, and for what is no text that could be a record."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        return None
    try:
        before = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    done = lint(before, path)
    if done.text == before:
        return None
    return _File(path, before, done.text, done.repairs, _loses(shelf, path, done.text))


def _loses(shelf: Shelf, path: Path, after: str) -> bool:
    file = shelf.files.get(path.stem)
    if file is None or file.path != path or shelf.state(path.stem) is not State.APPROVED:
        return False
    try:
        return content_hash(parse_record(after, path), file.fixtures) != file.sha256
    except RecordError:
        return True


def _write(file: _File) -> None:
    """Replace the file, whole or not at all."""
    replace_file(file.path, file.after.encode(), file.path.stat().st_mode & 0o777)


def _row(file: _File, *, written: bool) -> dict[str, object]:
    return {
        "slug": file.path.stem,
        "file": file.name,
        "repairs": list(file.repairs),
        "loses_approval": file.loses,
        "written": written,
        "diff": file.difference(),
    }


def _print(found: list[_File], written: list[_File], *, shows: bool) -> None:
    for file in found:
        click.echo(f"{'repaired' if file in written else 'to repair'}: {file.name}: {', '.join(file.repairs)}")
        if file.loses:
            what = "is lost" if file in written else "would be lost, so that --fix leaves it alone without --approved"
            click.echo(f"  the text changes, and its approval {what}")
        if shows:
            for line in file.difference():
                click.echo(f"  {line}")
    if not found:
        click.echo("all in order")
    elif not written and not shows:
        click.echo("--dry-run shows the difference, --fix writes it.")
