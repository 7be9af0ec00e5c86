"""Fit the relevance gate, and say how good it is on questions it was not fitted on.

    .venv/bin/python -m bench.calibrate [--write]

1. The domain: a logistic model on a question's vector, fitted on `bench/domain/`, thousands of short texts about
   software engineering and about anything else, and on the records' own titles and symptoms. No evaluation question
   is among them.
2. The gate: a logistic model over six signals, fitted on the development questions, in every way they are asked
   (bench/evaluation.py). Questions about another version stay out: the right record is there, and not for them.
3. The operating point: the intercept at which KEPT of the development questions with an answer get one. For words
   alone, which tell less, it is the one at which ADMITTED of those about something else do.

Prints error rates on both halves. With `--write` it renews app/calibration.json, and the tables and the plot of
docs/retrieval.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.embedding.sentencetransformer import DEFAULT_MODEL_ID, default_revision
from app.ranking import Ranked
from app.relevance import Calibration, Domain, Gate, GateSignals
from bench.blocks import write_block
from bench.corpus import ROOT, Corpus, shipped_corpus
from bench.errors import CURVE, Curve, as_tables, draw, measure
from bench.evaluation import Condition, Evaluation, Outcome
from bench.logistic import Matrix, balanced, fit
from bench.questions import ANSWERED, COMMANDS, ELSEWHERE, NEAR, read_issues, read_questions

FILE = ROOT / "app/calibration.json"
DOMAIN = Path(__file__).with_name("domain")
# Share of the development questions with an answer that must get one, named and plain together.
KEPT = 0.965
# Share of the development questions about something else that may get an answer by words alone.
ADMITTED = 0.05
_DOMAIN_PENALTY = 0.3
_GATE_PENALTY = 1.0
SIGNALS = ("cosine", "coverage", "domain", "about", "elsewhere", "rival")
_WORDS_ONLY = ("coverage", "about", "elsewhere", "rival")
# A question that nothing answers shows the gate its best candidates.
_SHOWN = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, measure, print; with `--write` renew what is committed. Return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.calibrate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="renew app/calibration.json and docs/retrieval.md")
    parser.add_argument("--dev", action="store_true", help="leave the test half alone, while something is being tuned")
    chosen = parser.parse_args(arguments)
    if chosen.dev and chosen.write:
        parser.error("what is committed says how the test half fares: leave out --dev or --write")
    with shipped_corpus() as corpus:
        evaluation = Evaluation(corpus)
        calibration = calibrate(corpus, evaluation)
        sets = {"dev": read_questions("dev"), "issues": read_issues()}
        if not chosen.dev:
            sets["test"] = read_questions("test")
        curves = [measure(name, evaluation, questions, calibration) for name, questions in sets.items() if questions]
    print(as_tables(curves))
    if chosen.write:
        _write(calibration, curves)
    return 0


def calibrate(corpus: Corpus, evaluation: Evaluation) -> Calibration:
    """Return what fits the corpus' model and the development questions."""
    domain = fit_domain(corpus)
    hybrid = observe(corpus, evaluation, domain, ("plain", "named", "stacked"))
    words = observe(corpus, evaluation, domain, ("words",))
    return replace(
        _draft(corpus, domain),
        hybrid=_keep(fit_gate(hybrid, SIGNALS), hybrid),
        words_only=_admit(fit_gate(words, _WORDS_ONLY), words),
    )


def _draft(corpus: Corpus, domain: Domain) -> Calibration:
    """Return a calibration whose gate lets nothing count yet, to see the signals with."""
    model = corpus.embedder.model
    # The extra's fp32 weights give the shipped model's vectors to 0.999.
    is_shipped = model.model_id == DEFAULT_MODEL_ID
    revisions = (model.revision, default_revision()) if is_shipped else (model.revision,)
    blank = Gate(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return Calibration(model.model_id, revisions, blank, blank, domain, {})


def fit_domain(corpus: Corpus) -> Domain:
    """Return the model that tells a question about software engineering from any other, by its vector."""
    own = [text for file in corpus.records for text in (file.record.title, *file.record.symptoms)]
    inside, outside = _lines("engineering") + own, _lines("elsewhere")
    vectors = np.asarray(corpus.embedder.embed(inside + outside), dtype=np.float64)
    labels = np.append(np.ones(len(inside)), np.zeros(len(outside)))
    found = fit(vectors, labels, penalty=_DOMAIN_PENALTY, weights=balanced(labels))
    return Domain(round(float(found[-1]), 4), tuple(round(float(value), 4) for value in found[:-1]))


def _lines(name: str) -> list[str]:
    return [line for path in sorted(DOMAIN.glob(f"{name}*.txt")) for line in path.read_text("utf-8").splitlines()]


def observe(corpus: Corpus, evaluation: Evaluation, domain: Domain, conditions: Sequence[Condition]) -> list[Outcome]:
    """Return the outcomes that a gate is fitted on: the clean development questions in all these ways."""
    draft = _draft(corpus, domain)
    questions = [
        question for question in read_questions("dev") if question.kind in (*ANSWERED, *NEAR, *ELSEWHERE, *COMMANDS)
    ]
    return [
        outcome
        for condition in conditions
        for outcome in evaluation.ask(questions, condition, calibration=draft)
        if outcome.ranked
    ]


def fit_gate(outcomes: Sequence[Outcome], signals: Sequence[str]) -> Gate:
    """Return the gate that tells right records from the best ones of questions without an answer."""
    rows = [(vector_of(entry.signals, signals), label) for outcome in outcomes for entry, label in examples(outcome)]
    labels = np.array([label for _, label in rows])
    found = fit(np.array([row for row, _ in rows]), labels, penalty=_GATE_PENALTY, weights=balanced(labels))
    return _gate(found, signals)


def _keep(gate: Gate, outcomes: Sequence[Outcome]) -> Gate:
    """Return the gate with the highest intercept that gives KEPT of the questions with an answer one."""
    surest = [_surest(gate, outcome) for outcome in outcomes if outcome.question.answers]
    return replace(gate, intercept=round(gate.intercept - float(np.quantile(surest, 1.0 - KEPT)), 3))


def _admit(gate: Gate, outcomes: Sequence[Outcome]) -> Gate:
    """Return the gate with the intercept that gives ADMITTED of the questions about something else an answer."""
    surest = [_surest(gate, outcome) for outcome in outcomes if outcome.question.kind in (*ELSEWHERE, *COMMANDS)]
    return replace(gate, intercept=round(gate.intercept - float(np.quantile(surest, 1.0 - ADMITTED)), 3))


def _surest(gate: Gate, outcome: Outcome) -> float:
    return max(gate.margin(entry.signals) for entry in outcome.ranked)


def examples(outcome: Outcome) -> list[tuple[Ranked, float]]:
    """Return what a gate is shown of a question: the right record, or where there is none the best wrong ones."""
    if not outcome.question.answers:
        return [(entry, 0.0) for entry in outcome.ranked[:_SHOWN]]
    return [(outcome.ranked[outcome.place - 1], 1.0)] if outcome.place else []


def vector_of(signals: GateSignals, names: Sequence[str]) -> list[float]:
    """Return the signals of these names as numbers; one that is not known is 0."""
    return [float(getattr(signals, name) or 0.0) for name in names]


def _gate(found: Matrix, names: Sequence[str]) -> Gate:
    values = dict.fromkeys(SIGNALS, 0.0) | {
        name: round(float(value), 3) for name, value in zip(names, found, strict=False)
    }
    return Gate(intercept=float(found[-1]), **values)


def _write(calibration: Calibration, curves: Sequence[Curve]) -> None:
    """Renew the model's calibration and leave those of others; the documents tell of the shipped model only."""
    measured = {curve.name: curve.rates() for curve in curves if curve.name != "issues"}
    entry = json.loads(json.dumps(asdict(calibration) | {"measured": measured}))
    kept = [old for old in json.loads(FILE.read_text("utf-8"))["calibrations"] if old["model_id"] != entry["model_id"]]
    is_shipped = default_revision() in calibration.revisions
    entries = [entry, *kept] if is_shipped else [*kept, entry]
    FILE.write_text(_text(entries), "utf-8")
    if is_shipped:
        write_block("gate", as_tables(curves))
        draw(curves, CURVE)


def _text(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the file, each domain on a line of its own: nobody reads its numbers."""
    text = json.dumps(
        {"calibrations": [{**entry, "domain": f"domain {n}"} for n, entry in enumerate(entries)]}, indent=2
    )
    for number, entry in enumerate(entries):
        text = text.replace(f'"domain {number}"', json.dumps(entry["domain"]))
    return text + "\n"


if __name__ == "__main__":
    sys.exit(main())
