"""What the bench's commands have in common: the folder, the model, tables, progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from app.embedding.factory import create_embedder
from app.errors import EmbeddingFailure
from app.settings import Settings, read_settings
from app.transports.cli.printing import console
from review.bench import Shelf, Similarity, Verdict
from review.gates import Finding
from review.likeness import VectorCache, cache_path, pairwise_cosine

PROJECT = Path(__file__).resolve().parent.parent


def settings_of(context: click.Context) -> Settings:
    """Return the settings: those of the program around the command, or read from the environment when run alone."""
    runtime = context.find_root().obj
    if runtime is not None and hasattr(runtime, "settings"):
        settings: Settings = runtime.settings()
        return settings
    return read_settings(os.environ, base=PROJECT)


def records_of(context: click.Context) -> Path:
    """Return the records folder."""
    return settings_of(context).records


def today() -> date:
    """Return the UTC day, the only clock the bench has."""
    return now().date()


def now() -> datetime:
    """Return the UTC time."""
    return datetime.now(UTC)


def similarity_of(shelf: Shelf, settings: Settings) -> Similarity | None:
    """Return the nearness of all records that are or may be served, or None when no model is at hand."""
    embedder = create_embedder(settings)
    if embedder is None:
        return None
    try:
        cache = VectorCache(cache_path(settings.home, embedder))
        with progress_bar("comparing records") as bar:
            return pairwise_cosine(shelf.corpus().values(), embedder, cache=cache, progress=bar)
    except EmbeddingFailure as failure:
        click.echo(f"{failure.code}: {failure.message}", err=True)
        return None


class Bar:
    """A progress bar on stderr, shown only on a terminal; call it with what is done and what there is."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=None, counted="")

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done."""
        self._progress.update(self._task, completed=done, total=total, counted=f"{done}/{total}")

    def step(self, name: str, done: int, total: int) -> None:
        """Show the step of a longer work."""
        self._progress.update(self._task, description=name)
        self(done, total)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Keep it off the terminal while something is asked there."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()


@contextmanager
def progress_bar(title: str) -> Iterator[Bar]:
    """Show a bar while the body works; nothing at all where stderr is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.fields[counted]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        yield Bar(progress, title)


def finding_row(slug: str, gate: str, finding: Finding) -> dict[str, Any]:
    """Return a finding for JSON."""
    return {
        "slug": slug,
        "gate": gate,
        "level": finding.level.value,
        "message": finding.message,
        "remedy": finding.remedy,
    }


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict for JSON."""
    return {
        "slug": verdict.slug,
        "state": verdict.state.value if verdict.state else "unreadable",
        "findings": [finding_row(verdict.slug, gate, finding) for gate, finding in verdict.findings()],
        "waived": [
            {
                "gate": entry.waiver.gate,
                "message": entry.finding.message,
                "reason": entry.waiver.reason,
                "until": str(entry.waiver.until),
            }
            for entry in verdict.waived
        ],
    }


def print_findings(
    rows: list[tuple[str, str, Finding]], lines: Mapping[tuple[str, Finding], int] | None = None
) -> None:
    """Print findings below their records: in 80 columns a table of five would be unreadable.

    Args:
        lines: of the record's file, by record and finding.
    """
    for slug in dict.fromkeys(row[0] for row in rows):
        click.echo(f"\n{slug}" if slug else "")
        for _, gate, finding in (row for row in rows if row[0] == slug):
            line = (lines or {}).get((slug, finding))
            click.echo(f"  {finding.level.value:<7} {gate}" + (f", line {line}" if line else ""))
            click.echo(_folded(finding.message))
            click.echo(_folded(f"-> {finding.remedy}"))


def _folded(text: str) -> str:
    width = min(100, console().width)
    return click.wrap_text(text, width=width, initial_indent=" " * 10, subsequent_indent=" " * 10)


def counted(counts: Mapping[str, int]) -> str:
    """Return counts in words: `3 errors, 1 warning`."""
    return ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in counts.items())
