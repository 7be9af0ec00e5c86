"""The relevance gate: is a record an answer to this question at all?

Decided from raw signals, never from the fused rank, which has no scale and calls the nearest of nothing relevant. The
gate is a logistic model over three signals, fitted per embedding model on labelled questions with negatives
(`bench/calibrate`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from app.contract import Applicability
from app.indexing import inverse_document_frequency
from app.ports import Candidate, CandidatePool, EmbeddingModel

_KNOWN = frozenset({Applicability.APPLIES, Applicability.VERSION_UNKNOWN, Applicability.DOES_NOT_APPLY})


@dataclass(frozen=True)
class GateSignals:
    """What the gate sees of a candidate.

    Attributes:
        cosine: best cosine similarity over the record's vectors, None without a question vector.
        coverage: share of the question's information, in idf, that the record's words cover, 0 to 1. A word that no
            record holds counts in full: a question made of such words is about something else.
        technology: 1.0 if the record is about a technology the caller named, else 0.0.
        background: the question's similarity to the mean of all vectors. A question about something else is far from
            everything, and a nearest record then means nothing.
    """

    cosine: float | None
    coverage: float
    technology: float
    background: float | None = None


@dataclass(frozen=True)
class Gate:
    """Coefficients of the logistic model; a record passes when the margin is not negative."""

    intercept: float
    cosine: float
    coverage: float
    technology: float
    background: float = 0.0

    def margin(self, signals: GateSignals) -> float:
        """Return the signed distance to the decision, in logits."""
        return (
            self.intercept
            + self.cosine * (signals.cosine or 0.0)
            + self.coverage * signals.coverage
            + self.technology * signals.technology
            + self.background * (signals.background or 0.0)
        )


@dataclass(frozen=True)
class Calibration:
    """Gates for one embedding model, and what they were fitted on."""

    model_id: str
    hybrid: Gate
    words_only: Gate
    fitted_on: str


def weigh(candidate: Candidate, pool: CandidatePool, verdict: Applicability | None) -> GateSignals:
    """Return the gate's signals for a candidate."""
    technology = 1.0 if verdict in _KNOWN else 0.0
    return GateSignals(candidate.cosine, coverage(candidate, pool), technology, pool.background)


def coverage(candidate: Candidate, pool: CandidatePool) -> float:
    """Return the idf-weighted share of the question's terms that the record holds, 0 to 1; 0 without terms."""
    weights = {
        term: inverse_document_frequency(frequency, pool.document_count)
        for term, frequency in pool.document_frequency.items()
    }
    total = sum(weights.values())
    return sum(weights[term] for term in sorted(candidate.matched) if term in weights) / total if total else 0.0


def choose_gate(model: EmbeddingModel | None) -> Gate:
    """Return the gate for a search: the model's own, the stricter words-only one without vectors.

    A model that was never calibrated gets the words-only gate too: its cosines have no known scale.
    """
    calibration = calibrations().get(model.model_id) if model else None
    return calibration.hybrid if calibration else _default().words_only


@cache
def calibrations() -> Mapping[str, Calibration]:
    """Return the committed calibrations by model id."""
    raw = json.loads(files("app").joinpath("calibration.json").read_text("utf-8"))
    return {
        entry["model_id"]: Calibration(
            entry["model_id"], Gate(**entry["hybrid"]), Gate(**entry["words_only"]), entry["fitted_on"]
        )
        for entry in raw["calibrations"]
    }


def _default() -> Calibration:
    return next(iter(calibrations().values()))
