"""Logistic regression by Newton's method with an L2 penalty (Hastie, Tibshirani & Friedman, 2009, section 4.4.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
_STEPS = 40
_CLOSE = 1e-9


def fit(features: Matrix, labels: Matrix, *, penalty: float, weights: Matrix | None = None) -> Matrix:
    """Return the coefficients, the intercept last: float64[features + 1].

    Args:
        features: float64[n, features].
        labels: float64[n], 1.0 for the class whose log-odds are modelled, else 0.0.
        penalty: weight of half the squared length of the coefficients; the intercept goes free.
        weights: float64[n], what each row counts; 1.0 when not given.

    Raises:
        ArithmeticError: Newton's method did not settle.
    """
    rows = np.column_stack([features, np.ones(len(features))])
    counts = np.ones(len(labels)) if weights is None else weights
    ridge = penalty * np.diag(np.append(np.ones(features.shape[1]), 0.0))
    found: Matrix = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        odds = 1.0 / (1.0 + np.exp(-np.clip(rows @ found, -30.0, 30.0)))
        slope = rows.T @ (counts * (odds - labels)) + ridge @ found
        curve = (rows * (counts * odds * (1.0 - odds))[:, None]).T @ rows + ridge
        step = np.linalg.solve(curve + _CLOSE * np.eye(len(found)), slope)
        found = found - step
        if float(np.abs(step).max()) < _CLOSE:
            return found
    raise ArithmeticError(f"no fit within {_STEPS} steps")


def balanced(labels: Matrix) -> Matrix:
    """Return weights under which both classes count as much, 1.0 a row on average."""
    share = float(labels.mean())
    return np.where(labels > 0.5, 0.5 / share, 0.5 / (1.0 - share))
