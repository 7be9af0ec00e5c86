"""The relevance gate: is a record an answer to this question at all?

Decided from raw signals, never from the fused rank, which has no scale and calls the nearest of nothing relevant. The
gate is a logistic model over six signals, fitted on labelled questions with negatives, per embedding model
(`python -m bench.calibrate`); its errors are published in `docs/retrieval.md` and `api.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from app.applicability import Judgement
from app.contract import Applicability
from app.indexing import inverse_document_frequency
from app.ports import Candidate, CandidatePool, EmbeddingModel, QueryEmbedding, Vector

# Words that nobody uses which a question is doubted to hold besides its own. Without them a question of one common
# word is covered entirely by whatever holds that word.
_DOUBTED_WORDS = 1.5
_ABOUT = frozenset(
    {
        Applicability.APPLIES,
        Applicability.VERSION_UNKNOWN,
        Applicability.DOES_NOT_APPLY,
        Applicability.BUILT_ON,
    }
)


@dataclass(frozen=True)
class GateSignals:
    """What the gate sees of a question and a candidate.

    Attributes:
        cosine: the candidate's cosine similarity, None without a question vector.
        coverage: share of the question's information, in idf, that the record's words cover, 0 to 1. A word that no
            record holds counts in full: a question made of such words is about something else.
        domain: log-odds, from the question's vector alone, that it is about software engineering; None without one.
        about: 1.0 if the record is about a technology the caller named, or one that is built on, else 0.0.
        elsewhere: 1.0 if it is about technologies, and about none that the caller named, else 0.0.
        rival: 1.0 if it is also about what one uses instead of a technology that the caller named, else 0.0.
    """

    cosine: float | None
    coverage: float
    domain: float | None
    about: float
    elsewhere: float
    rival: float


@dataclass(frozen=True)
class Gate:
    """Coefficients of the logistic model; a record passes when the margin is not negative."""

    intercept: float
    cosine: float
    coverage: float
    domain: float
    about: float
    elsewhere: float
    rival: float

    def margin(self, signals: GateSignals) -> float:
        """Return the signed distance to the decision, in logits."""
        return self.intercept + sum(self.contributions(signals).values())

    def contributions(self, signals: GateSignals) -> dict[str, float]:
        """Return what each signal adds to the margin, in logits."""
        return {
            "cosine": self.cosine * (signals.cosine or 0.0),
            "coverage": self.coverage * signals.coverage,
            "domain": self.domain * (signals.domain or 0.0),
            "about": self.about * signals.about,
            "elsewhere": self.elsewhere * signals.elsewhere,
            "rival": self.rival * signals.rival,
        }


@dataclass(frozen=True)
class Domain:
    """A logistic model on the question's vector: is it about software engineering, or about anything else?"""

    intercept: float
    weights: tuple[float, ...]

    def log_odds(self, vector: Vector) -> float:
        """Return the log-odds, rounded: the last digits of a float sum are not ours to say."""
        return round(self.intercept + float(np.dot(self._weights, vector)), 6)

    @cached_property
    def _weights(self) -> Vector:
        return np.asarray(self.weights, dtype=np.float32)


@dataclass(frozen=True)
class Calibration:
    """What was fitted for one embedding model.

    Attributes:
        model_id: of the model.
        revisions: of its weights and the way to use them, as providers state them; others need another calibration.
        measured: the gate's error rates as shares, by how the question was asked, for publication.
    """

    model_id: str
    revisions: tuple[str, ...]
    hybrid: Gate
    words_only: Gate
    domain: Domain
    measured: Mapping[str, Any]


def weigh(candidate: Candidate, pool: CandidatePool, judgement: Judgement, domain: float | None) -> GateSignals:
    """Return the gate's signals for a candidate."""
    is_about = any(finding.verdict in _ABOUT for finding in judgement.findings)
    return GateSignals(
        cosine=candidate.cosine,
        coverage=coverage(candidate, pool),
        domain=domain,
        about=1.0 if is_about else 0.0,
        elsewhere=1.0 if judgement.elsewhere else 0.0,
        rival=1.0 if judgement.elsewhere and judgement.rival else 0.0,
    )


def coverage(candidate: Candidate, pool: CandidatePool) -> float:
    """Return the idf-weighted share of the question's terms that the record holds, 0 to 1; 0 without terms."""
    weights = {
        term: inverse_document_frequency(frequency, pool.document_count)
        for term, frequency in pool.document_frequency.items()
    }
    matched = sum(weights[term] for term in sorted(candidate.matched) if term in weights)
    doubt = _DOUBTED_WORDS * inverse_document_frequency(0, pool.document_count)
    return matched / (sum(weights.values()) + doubt)


def calibration_of(model: EmbeddingModel) -> Calibration | None:
    """Return what was fitted for a model; None for one that never was: its cosines have no known scale."""
    found = calibrations().get(model.model_id)
    return found if found and model.revision in found.revisions else None


def choose_gate(question: QueryEmbedding | None, calibration: Calibration | None = None) -> tuple[Gate, float | None]:
    """Return the gate for a question and the log-odds that it is about software engineering.

    Without a vector, or one of a model that was never calibrated, the gate is the one for words only and the odds are
    unknown.

    Args:
        question: the question's vector.
        calibration: what to use instead of the committed calibration of the question's model.
    """
    known = calibration or (calibration_of(question.model) if question else None)
    if question is None or known is None:
        return (known or next(iter(calibrations().values()))).words_only, None
    return known.hybrid, known.domain.log_odds(question.vector)


@cache
def calibrations() -> Mapping[str, Calibration]:
    """Return the committed calibrations by model id."""
    entries = json.loads(files("app").joinpath("calibration.json").read_text("utf-8"))["calibrations"]
    return {entry["model_id"]: read_calibration(entry) for entry in entries}


def read_calibration(entry: Mapping[str, Any]) -> Calibration:
    """Return a calibration as `calibration.json` states it."""
    return Calibration(
        model_id=entry["model_id"],
        revisions=tuple(entry["revisions"]),
        hybrid=Gate(**entry["hybrid"]),
        words_only=Gate(**entry["words_only"]),
        domain=Domain(entry["domain"]["intercept"], tuple(entry["domain"]["weights"])),
        measured=entry["measured"],
    )
