"""docs/retrieval/ranking.svg: nDCG@10 by system and set. The same numbers give the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.blocks import DOCUMENT
from bench.retrieval.baselines import GREP, TS_RANK
from bench.retrieval.collection import NAMED, UNNAMED, Asked
from bench.retrieval.product import APPLICABLE, FUSED, MEANING, WORDS
from bench.retrieval.report import Report
from bench.retrieval.runs import ONE, SECTIONS

FILE = DOCUMENT.parent / "retrieval/ranking.svg"
METRIC = "nDCG@10"
_SYSTEMS: Mapping[str, tuple[Asked, str]] = {
    GREP: (UNNAMED, "#b8b8b8"),
    TS_RANK: (UNNAMED, "#8a8a8a"),
    WORDS: (UNNAMED, "#8ecae6"),
    MEANING: (UNNAMED, "#f4a259"),
    FUSED: (UNNAMED, "#2a6f97"),
    APPLICABLE: (NAMED, "#014f86"),
}
# Which vectors a set is drawn with: the ones the others were measured with, or those that suit long pages.
_VECTORS = {"scifact": f", {ONE}", "docsmcp": f", {SECTIONS}"}


def draw(reports: Sequence[Report], path: Path = FILE) -> None:
    """Write the plot.

    Args:
        reports: a group of bars each.
        path: the SVG file.

    Raises:
        OSError: it cannot be written.
    """
    from matplotlib import rc_context  # noqa: PLC0415 - slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    # The salt names the elements, which would otherwise be named at random.
    with rc_context({"svg.hashsalt": "chatctx", "svg.fonttype": "path", "font.size": 9}):
        figure = Figure(figsize=(9, 4), facecolor="white", layout="constrained")
        _draw_bars(figure.add_subplot(), reports)
        figure.savefig(path, format="svg", metadata={"Date": None}, facecolor="white")


def heights(report: Report) -> dict[str, float | None]:
    """Return what is drawn of a set: a value by system, None for one that was not measured on it."""
    found = {}
    for system, (asked, _) in _SYSTEMS.items():
        names = (system, f"{system}{_VECTORS.get(report.collection.name, '')}")
        values = (report.value(name, METRIC, asked) for name in names)
        found[system] = next((value for value in values if value is not None), None)
    return found


def _draw_bars(axes: Any, reports: Sequence[Report]) -> None:
    width = 0.8 / len(_SYSTEMS)
    for place, (system, (_, colour)) in enumerate(_SYSTEMS.items()):
        values = [heights(report)[system] for report in reports]
        at = [group + (place - (len(_SYSTEMS) - 1) / 2) * width for group in range(len(reports))]
        bars = axes.bar(at, [value or 0 for value in values], width * 0.92, color=colour, label=system)
        axes.bar_label(bars, [f"{value:.2f}" if value else "" for value in values], fontsize=6.5, padding=1.5)
    axes.set_xticks(range(len(reports)), [_label(report) for report in reports])
    axes.set_ylim(0, 1)
    axes.set_ylabel(METRIC)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(_SYSTEMS), frameon=False, fontsize=8)


def _label(report: Report) -> str:
    return f"{report.collection.name}\n{len(report.collection.queries):,} queries"
