"""Error rates of the relevance gate: what it keeps, and what it lets through that is not an answer."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from app.relevance import Calibration
from bench.blocks import DOCUMENT
from bench.evaluation import CONDITIONS, Condition, Evaluation, Outcome
from bench.questions import ANSWERED, COMMANDS, ELSEWHERE, OLD_VERSION, Question

CURVE = DOCUMENT.with_suffix("") / "gate.svg"
_COLOURS = {"dev": "#8ecae6", "test": "#014f86", "issues": "#f4a259"}
_PANELS = (("about something else", ELSEWHERE, 0.2), ("about a near topic", ("near_topic",), 1.0))
_STYLES: dict[Condition, str] = {"plain": ":", "named": "-"}
_WAYS: dict[Condition, str] = {
    "plain": "no technology named",
    "named": "technologies named",
    "stacked": "a stack lent",
    "words": "words alone",
}
_SETS = {
    "dev": "Development questions, which gate and constants were fitted on",
    "test": "Test questions, which had no part in it",
    "issues": "Questions from public issues, which had no part in it",
}
# Two standard deviations of a normal distribution hold this much: a Wilson interval of 95 %.
_DEVIATIONS = 1.96


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
            condition: {name.replace(" ", "_"): round(share, 4) for name, (share, _) in rates.items()}
            for condition, rates in self.rows()
        }


Belongs = Callable[[Question], bool]
Counts = Callable[[Outcome], bool]


def _of(*kinds: str) -> Belongs:
    return lambda question: question.kind in kinds


RATES: dict[str, tuple[Belongs, Counts]] = {
    "answered": (_of(*ANSWERED), lambda outcome: outcome.answered),
    "right record in the answer": (_of(*ANSWERED), lambda outcome: outcome.right),
    "right and undoubted": (_of(*ANSWERED), lambda outcome: outcome.right and outcome.sure),
    "answered elsewhere": (_of(*ELSEWHERE), lambda outcome: outcome.answered),
    **{f"answered {kind}": (_of(kind), lambda outcome: outcome.answered) for kind in (*ELSEWHERE, *COMMANDS)},
    "answered near topic": (_of("near_topic"), lambda outcome: outcome.answered),
    "undoubted near topic": (_of("near_topic"), lambda outcome: outcome.sure),
    "answered foreign": (_of("foreign"), lambda outcome: outcome.answered),
    "undoubted foreign": (_of("foreign"), lambda outcome: outcome.sure),
    "wrong version": (_of(OLD_VERSION), lambda outcome: bool(outcome.wrong_versions)),
}


def precision(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Return the share of the records in answers that are fine, and how many records an answer holds."""
    answered = [outcome for outcome in outcomes if outcome.question.kind in ANSWERED and outcome.answered]
    records = [entry.candidate.slug in outcome.question.fine for outcome in answered for entry in outcome.answers]
    return mean(records), len(records) / len(answered)


def measure(name: str, evaluation: Evaluation, questions: Sequence[Question], calibration: Calibration) -> Curve:
    """Ask all questions in all ways under a calibration."""
    return Curve(
        name, {condition: evaluation.ask(questions, condition, calibration=calibration) for condition in CONDITIONS}
    )


def as_tables(curves: Sequence[Curve]) -> str:
    """Return the rates of each set as a Markdown table."""
    return "\n\n".join(_as_table(curve) for curve in curves)


def _as_table(curve: Curve) -> str:
    rows = dict(curve.rows())
    needs = {o.question.subject for outcomes in curve.outcomes.values() for o in outcomes if o.question.answers}
    lines = [
        f"{_SETS[curve.name]} ({len(needs)} needs with an answer):\n",
        f"| share | {' | '.join(_WAYS[condition] for condition in rows)} |",
        "| --- |" + " ---: |" * len(rows),
    ]
    for name in RATES:
        cells = [_cell(*rates[name]) if name in rates else "" for rates in rows.values()]
        if any(cells):
            lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    found = [precision(outcomes) if condition != "stacked" else None for condition, outcomes in curve.outcomes.items()]
    lines.append(f"| fine of the records in an answer | {' | '.join(f'{f[0]:.2f}' if f else '' for f in found)} |")
    lines.append(f"| records in an answer | {' | '.join(f'{f[1]:.2f}' if f else '' for f in found)} |")
    return "\n".join(lines)


def _cell(share: float, count: int) -> str:
    low, high = wilson(share, count)
    return f"{share:.3f} ({low:.2f} to {high:.2f}) of {count}"


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (E. B. Wilson, JASA 22, 1927)."""
    squared = _DEVIATIONS**2
    centre = (share + squared / (2 * count)) / (1 + squared / count)
    spread = _DEVIATIONS * math.sqrt(share * (1 - share) / count + squared / (4 * count**2)) / (1 + squared / count)
    return max(0.0, centre - spread), min(1.0, centre + spread)


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
