"""Error rates of the relevance gate: what it keeps, and what it lets through that is not an answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from app.relevance import Calibration
from bench.blocks import DOCUMENT
from bench.evaluation import CONDITIONS, Condition, Evaluation, Outcome
from bench.questions import ANSWERED, ELSEWHERE, MESSY, OLD_VERSION, Question

CURVE = DOCUMENT.with_suffix("") / "gate.svg"
_COLOURS = {"dev": "#8ecae6", "test": "#014f86", "issues": "#f4a259"}
_PANELS = (("about something else", ELSEWHERE, 0.2), ("about a near topic", ("near_topic",), 1.0))
_STYLES: dict[Condition, str] = {"plain": ":", "named": "-"}
_WAYS: dict[Condition, str] = {
    "plain": "no technology named",
    "named": "technologies as in the set",
    "stacked": "a stack with every question",
}


@dataclass(frozen=True)
class Curve:
    """The outcomes of a set of questions, by the way they were asked."""

    name: str
    outcomes: dict[Condition, list[Outcome]]

    def rows(self) -> Iterator[tuple[Condition, dict[str, tuple[float, int]]]]:
        """Yield for each way of asking the share and the number of questions behind it, by name of the rate."""
        for condition, outcomes in self.outcomes.items():
            yield (
                condition,
                {
                    name: (mean(map(counts, chosen)), len(chosen))
                    for name, (belongs, counts) in RATES.items()
                    if (chosen := [outcome for outcome in outcomes if belongs(outcome.question)])
                },
            )

    def rates(self) -> dict[str, dict[str, float]]:
        """Return the shares, rounded, for publication."""
        return {
            condition: {_key(name): round(share, 4) for name, (share, _) in rates.items()}
            for condition, rates in self.rows()
        }


RATES: dict[str, tuple[Callable[[Question], bool], Callable[[Outcome], bool]]] = {
    "answered": (lambda question: question.kind in ANSWERED, lambda outcome: outcome.answered),
    "right record in the answer": (lambda question: question.kind in ANSWERED, lambda outcome: outcome.right),
    "and undoubted": (lambda question: question.kind in ANSWERED, lambda outcome: outcome.right and outcome.sure),
    "messy answered": (lambda question: question.kind in MESSY, lambda outcome: outcome.answered),
    "false elsewhere": (lambda question: question.kind in ELSEWHERE, lambda outcome: outcome.answered),
    "false near topic": (lambda question: question.kind == "near_topic", lambda outcome: outcome.answered),
    "the same, undoubted": (lambda question: question.kind == "near_topic", lambda outcome: outcome.sure),
    "wrong version": (lambda question: question.kind == OLD_VERSION, lambda outcome: bool(outcome.wrong_versions)),
    "false foreign": (lambda question: question.kind == "foreign", lambda outcome: outcome.answered),
}


def _key(name: str) -> str:
    return re.sub(r"\W+", "_", name)


def measure(name: str, evaluation: Evaluation, questions: Sequence[Question], calibration: Calibration) -> Curve:
    """Ask all questions in all ways under a calibration."""
    return Curve(
        name, {condition: evaluation.ask(questions, condition, calibration=calibration) for condition in CONDITIONS}
    )


def as_table(curves: Sequence[Curve]) -> str:
    """Return the rates as a Markdown table."""
    lines = ["| questions | asked with | " + " | ".join(RATES) + " |", "|---" * (len(RATES) + 2) + "|"]
    for curve in curves:
        for condition, rates in curve.rows():
            cells = [f"{rates[name][0]:.3f} of {rates[name][1]}" if name in rates else "" for name in RATES]
            lines.append(f"| {curve.name} | {_WAYS[condition]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def kept_against_false(
    curve: Curve, condition: Condition, false_kinds: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Return what every threshold lets through falsely and what it keeps, as shares, from the strictest on."""
    outcomes = curve.outcomes[condition]
    right = sorted(outcome.margin for outcome in outcomes if outcome.question.kind in ANSWERED)
    wrong = sorted(outcome.margin for outcome in outcomes if outcome.question.kind in false_kinds)
    thresholds = sorted({*right, *wrong}, reverse=True)
    return [_share(wrong, least) for least in thresholds], [_share(right, least) for least in thresholds]


def _share(margins: Sequence[float], least: float) -> float:
    return (len(margins) - bisect_left(margins, least)) / len(margins)


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Plot what is kept against what is let through, for every threshold, with the operating point. Raises OSError."""
    from matplotlib import rc_context  # noqa: PLC0415 - slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415

    path.parent.mkdir(parents=True, exist_ok=True)
    # The salt names the elements, which would otherwise be named at random.
    with rc_context({"svg.hashsalt": "chatctx", "svg.fonttype": "path", "font.size": 9}):
        figure = Figure(figsize=(9, 4), facecolor="white", layout="constrained")
        panels = figure.subplots(1, 2)
        for panel, (title, kinds, widest) in zip(panels, _PANELS, strict=True):
            for curve in curves:
                _draw_curve(panel, curve, kinds)
            panel.set(
                title=title, xlabel="questions without an answer that get one", xlim=(0, widest), ylim=(0.5, 1.005)
            )
            panel.grid(alpha=0.3)
        panels[0].set_ylabel("questions with an answer that get one")
        panels[0].legend(loc="lower right")
        figure.savefig(path, format="svg", metadata={"Date": None}, facecolor="white")


def _draw_curve(panel: Any, curve: Curve, kinds: Sequence[str]) -> None:
    colour = _COLOURS[curve.name]
    for condition, style in _STYLES.items():
        if not any(outcome.question.kind in kinds for outcome in curve.outcomes[condition]):
            continue
        false, kept = kept_against_false(curve, condition, kinds)
        panel.step(false, kept, style, color=colour, where="post", label=f"{curve.name}, {_WAYS[condition]}")
        # The operating point: a margin of 0.
        outcomes = curve.outcomes[condition]
        at = [
            mean(outcome.answered for outcome in outcomes if outcome.question.kind in chosen)
            for chosen in (kinds, ANSWERED)
        ]
        panel.plot(*at, "o", color=colour)
