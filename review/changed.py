"""What a branch changes: records whose files, check files, waivers or ledger lines differ from where it left another.

changed_since(shelf, "origin/main") -> Changes      asks git; Unavailable without it, InvalidReference for no such name

Deleted records are told apart: there is nothing left to check, and others may still refer to them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import click
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from app.errors import AppError, RecordError, Unavailable
from app.ledger import parse_ledger
from app.record import is_slug
from review.bench import Shelf
from review.errors import wrong_usage

_LEDGER = "ledger.jsonl"
_WAIVERS = "waivers.yaml"
_SECONDS = 60

changed_option = click.option(
    "--changed", metavar="REF", help="Only records that differ from where HEAD left REF, e.g. origin/main."
)


class InvalidReference(AppError):
    """Git knows no commit of the name that was given."""

    code = "invalid_reference"


@dataclass(frozen=True)
class Changes:
    """What differs from the merge base.

    Attributes:
        slugs: records to look at; each has a file that can be looked at, readable or not.
        deleted: records that were there and are not any more.
        waivers: the waivers differ.
    """

    slugs: tuple[str, ...]
    deleted: tuple[str, ...] = ()
    waivers: bool = False


def changed_since(shelf: Shelf, reference: str) -> Changes:
    """Return what differs between the merge base of HEAD and a commit, and the files as they lie there now.

    Args:
        reference: a branch, tag or commit, as git names it.

    Raises:
        InvalidReference: git knows no such commit.
        Unavailable: there is no git, no repository, or no common commit in what was fetched.
    """
    folder = shelf.folder
    base = _merge_base(folder, reference)
    files = [*_differing(folder, base), *_untracked(folder)]
    named = {slug for file in files if (slug := _slug_of(file))}
    named |= _by_name(shelf, files)
    if _LEDGER in files:
        named |= _different(_decided(_shown(folder, base, _LEDGER)), _decided(_now(folder / _LEDGER)))
    if _WAIVERS in files:
        named |= _different(_waived(_shown(folder, base, _WAIVERS)), _waived(_now(folder / _WAIVERS)))
    there = {*shelf.files, *shelf.broken}
    gone = {slug for file in files if (slug := _slug_of(file)) and is_slug(slug) and file.endswith(".md")} - there
    return Changes(tuple(sorted(named & there)), tuple(sorted(gone)), _WAIVERS in files)


def named_or_changed(shelf: Shelf, slugs: Sequence[str], reference: str | None) -> list[str]:
    """Return the records that a command is about: the named ones, those that changed, or all that can be read.

    Raises:
        SystemExit: names and a reference are given, as wrong usage.
        InvalidReference, Unavailable: as `changed_since`.
    """
    if reference is None:
        return list(slugs) or sorted(shelf.files)
    if slugs:
        raise wrong_usage("name records or give --changed, not both")
    return [slug for slug in changed_since(shelf, reference).slugs if slug in shelf.files]


def toplevel(folder: Path) -> Path | None:
    """Return the top folder of the repository that a folder lies in, None where there is none or no git."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    except (Unavailable, _GitRefused):
        return None


class _GitRefused(Exception):
    """Git ended with an error; what it said may repeat what was given, so it is not told."""


def _git(folder: Path, *arguments: str) -> bytes:
    # Names come as they are, and nothing of the repository's own is run for a look.
    command = ("git", "-C", str(folder), "-c", "core.quotePath=off", "-c", "core.fsmonitor=false", *arguments)
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL)  # noqa: S603 - fixed program, no shell, names behind --end-of-options
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable("git cannot be run: it tells what was changed. Install it, or name the records.") from error
    if done.returncode:
        raise _GitRefused
    return done.stdout


def _merge_base(folder: Path, reference: str) -> str:
    try:
        _git(folder, "rev-parse", "--git-dir")
    except _GitRefused:
        raise Unavailable("The records lie in no git repository: name the records instead.") from None
    try:
        # The name of a commit, so that nothing that was given is taken for an option further on.
        commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    except (_GitRefused, ValueError):
        raise InvalidReference("Git knows no commit of this name: fetch it first (git fetch origin main).") from None
    try:
        return _git(folder, "merge-base", "HEAD", commit.decode().strip()).decode().strip()
    except _GitRefused:
        raise Unavailable(
            "HEAD and this commit have no commit in common here: fetch the whole history (fetch-depth: 0 in a "
            "checkout on a build server, git fetch --unshallow elsewhere)."
        ) from None


def _differing(folder: Path, base: str) -> Iterator[str]:
    yield from _names(_git(folder, "diff", "--name-only", "--no-renames", "--relative", "-z", base, "--", "."))


def _untracked(folder: Path) -> Iterator[str]:
    yield from _names(_git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", "."))


def _names(output: bytes) -> list[str]:
    return [name for name in output.decode("utf-8", "surrogateescape").split("\0") if name]


def _slug_of(file: str) -> str | None:
    """Return the record that a file in the folder is, or belongs to as a check file."""
    parts = PurePosixPath(file).parts
    if len(parts) == 2 and parts[1].endswith(".md"):  # noqa: PLR2004 - topic and file
        return parts[1].removesuffix(".md")
    if len(parts) > 2 and parts[1].endswith(".checks"):  # noqa: PLR2004 - topic, folder, file
        return parts[1].removesuffix(".checks")
    return None


def _by_name(shelf: Shelf, files: Iterable[str]) -> set[str]:
    """Return what the shelf holds of these files under a name that is no slug: records that lie in a wrong place."""
    listed = set(files)
    return {name for name, error in shelf.broken.items() if error.details.get("file", name) in listed}


def _shown(folder: Path, base: str, name: str) -> bytes:
    """Return a file as it was; a folder without it then had none."""
    try:
        return _git(folder, "show", f"{base}:./{name}")
    except _GitRefused:
        return b""


def _now(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _decided(content: bytes) -> dict[str, object]:
    """Return the decisions about each record. Raises LedgerError."""
    ledger = parse_ledger(content)
    return {slug: ledger.history(slug) for slug in {entry.slug for entry in ledger.entries}}


def _waived(content: bytes) -> dict[str, object]:
    try:
        entries: Any = YAML(typ="safe", pure=True).load(content.decode("utf-8")) or []
        found: dict[str, list[str]] = {}
        for entry in entries:
            found.setdefault(str(entry["slug"]), []).append(repr(sorted(entry.items())))
    except (YAMLError, UnicodeDecodeError, TypeError, KeyError, AttributeError) as failure:
        raise RecordError(f"{_WAIVERS} was no list of waivers where the branch began: check all records.") from failure
    return dict(found)


def _different(before: dict[str, object], after: dict[str, object]) -> set[str]:
    return {slug for slug in before.keys() | after.keys() if before.get(slug) != after.get(slug)}
