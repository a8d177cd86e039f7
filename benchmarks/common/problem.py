"""The problem that everybody solves, and both sides of its optimum in plain NumPy. Nothing of hinge is used here.

    P(w) = 1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i)
    D(a) = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,    0 <= a_i <= C

D(a) <= min P <= P(w) for every w and every a in the box. With lambda = 1/(C m), P is lambda/2 |w|^2 + mean hinge divided by lambda.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Floats: TypeAlias = npt.NDArray[np.float64]
Labelled: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True)
class Split:
    """Rows to train on, and rows to test on (none at all: shape (0, n_features))."""

    X: Any
    y: Floats
    X_test: Any
    y_test: Floats


@dataclass(frozen=True)
class Problem:
    """Training rows, labels -1 or +1, and the cost C of a unit of hinge loss; no intercept."""

    X: sp.csr_matrix
    y: Floats
    C: float
    name: str = ""

    @classmethod
    def with_lambda(cls, X: sp.csr_matrix, y: Floats, lam: float, name: str = "") -> Problem:
        """The Pegasos papers fix lambda, not C."""
        return cls(X, y, 1.0 / (lam * X.shape[0]), name)

    @property
    def lam(self) -> float:
        return 1.0 / (self.C * self.X.shape[0])

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
        return replace(self, X=self.X[rows], y=self.y[rows])

    def drawn(self, count: int, seed: int) -> Problem:
        """`count` rows drawn independently, with the same lambda."""
        rows = np.random.default_rng(seed).integers(self.X.shape[0], size=count)
        return Problem.with_lambda(self.X[rows], self.y[rows], self.lam, self.name)

    def fingerprint(self) -> str:
        """The same for equal rows, labels and C only."""
        digest = hashlib.sha256(repr((self.X.shape, float(self.C))).encode())
        for array in (self.X.data, self.X.indices, self.X.indptr, self.y):
            digest.update(memoryview(np.ascontiguousarray(array)).cast("B"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Bracket:
    """`lower` <= optimum <= `upper`, both proven."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """(upper - lower) / lower: how well the optimum is known."""
        return self.upper / self.lower - 1.0

    def suboptimality(self, value: float) -> float:
        """value / lower - 1: at least the true relative accuracy of a model, too large by at most `width`."""
        if value < self.lower * (1.0 - 1e-9):
            raise ValueError(f"an objective of {value!r} refutes the table of optima, which has {self}")
        return value / self.lower - 1.0

    def admits(self, dual: float, primal: float) -> bool:
        """Whether dual <= optimum <= primal can be true, up to the rounding of a recomputation."""
        slack = 1e-9 * self.upper
        return dual <= self.upper + slack and primal >= self.lower - slack


def error_rate(X: Any, y: Floats, w: Floats) -> float:
    """Share of rows on the wrong side; a row on the boundary is negative, as in scikit-learn. NaN without rows."""
    return float(np.mean((X @ w > 0.0) != (y > 0.0))) if y.size else float("nan")


def relative_gap(primal: float, dual: float) -> float:
    """(P - D) / D, infinite while D proves nothing."""
    return (primal - dual) / dual if dual > 0.0 else float("inf")
