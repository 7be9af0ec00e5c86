"""A measured set as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.retrieval.collection import Asked, Collection
from bench.retrieval.measuring import Measured


@dataclass(frozen=True)
class Report:
    """What was measured on one set.

    Attributes:
        rows: in the order of the table; all with the same metrics.
        notes: sentences for below the table.
    """

    collection: Collection
    rows: tuple[Measured, ...]
    notes: tuple[str, ...] = ()

    @property
    def block(self) -> str:
        """Name of the block of the document that holds it."""
        return f"ranking-{self.collection.name}"

    def value(self, system: str, metric: str, asked: Asked) -> float | None:
        """Return what a system reached, None if it was not measured so."""
        found = (row.values[metric] for row in self.rows if row.system == system and row.asked == asked)
        return next(found, None)


def as_markdown(report: Report) -> str:
    """Return the counts, the table and the notes. The best value of a column is bold."""
    return "\n\n".join((_counts(report.collection), _table(report.rows), *report.notes))


def _counts(collection: Collection) -> str:
    left_out = f"; {collection.unanswered:,} queries without an answer left out" if collection.unanswered else ""
    return f"{len(collection.documents):,} documents, {len(collection.queries):,} queries{left_out}."


def _table(rows: Sequence[Measured]) -> str:
    metrics = list(rows[0].values)
    both = len({row.asked for row in rows}) > 1
    head = ["system", *(["technologies"] if both else []), *metrics]
    best = {metric: max(_shown(row.values[metric]) for row in rows) for metric in metrics}
    lines = [head, ["---"] * (1 + both) + ["---:"] * len(metrics)]
    lines += [[row.system, *([row.asked] if both else []), *_cells(row, best)] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cells(row: Measured, best: dict[str, str]) -> Iterator[str]:
    for metric, value in row.values.items():
        shown = _shown(value)
        yield f"**{shown}**" if shown == best[metric] else shown


def _shown(value: float | None) -> str:
    # Sorts below every number.
    return "" if value is None else f"{value:.3f}"
