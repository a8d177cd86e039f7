"""The problem that everybody solves, and both sides of its optimum in plain NumPy. Nothing of hinge is used here.

    P(w) = 1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i)
    D(a) = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,    0 <= a_i <= C

D(a) <= min P <= P(w) for every w and every a in the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Training rows (CSR, float64), labels -1 or +1, and the cost C of a unit of hinge loss; no intercept."""

    X: sp.csr_matrix
    y: Floats
    C: float

    def primal(self, w: Floats) -> float:
        """P(w)."""
        return float(0.5 * w @ w + self.C * np.maximum(0.0, 1.0 - self.y * (self.X @ w)).sum())

    def dual(self, a: Floats) -> float:
        """D(a); ValueError if `a` is outside the box, where D proves nothing."""
        outside = ~((a >= 0.0) & (a <= self.C))  # NaN too
        if np.any(outside):
            row = int(np.flatnonzero(outside)[0])
            raise ValueError(f"multiplier {row} is {a[row]!r}, outside [0, {self.C!r}]")
        w = self.X.T @ (a * self.y)
        return float(a.sum() - 0.5 * w @ w)

    def few(self) -> Problem:
        """Ten rows of each class, to warm a program up."""
        rows = np.concatenate([np.flatnonzero(self.y == label)[:10] for label in (-1.0, 1.0)])
        return Problem(self.X[rows], self.y[rows], self.C)


@dataclass(frozen=True)
class Bracket:
    """`lower` <= optimum <= `upper`."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """(upper - lower) / lower: how well the optimum is known."""
        return self.upper / self.lower - 1.0

    def suboptimality(self, value: float) -> float:
        """value / lower - 1: at least the true relative accuracy of a model, too large by at most about `width`."""
        return value / self.lower - 1.0


def error_rate(X: sp.csr_matrix, y: Floats, w: Floats) -> float:
    """Share of rows on the wrong side; a row on the boundary is negative, as in scikit-learn. NaN without rows."""
    return float(np.mean((X @ w > 0.0) != (y > 0.0))) if y.size else float("nan")


def relative_gap(primal: float, dual: float) -> float:
    """(P - D) / D, infinite while D proves nothing."""
    return (primal - dual) / dual if dual > 0.0 else float("inf")
