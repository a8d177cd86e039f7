"""The problem that everybody solves, and both sides of its optimum in plain NumPy. Nothing of hinge is used here.

    P(w, b) = 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b))
    D(a)    = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,    0 <= a_i <= C

b = 0, or it is free: then sum_i a_i y_i = 0. D(a) <= min P <= P(w, b) for every w and every such a. With lambda = 1/(C m), P is
lambda/2 |w|^2 + mean hinge divided by lambda.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

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
    """Training rows, labels -1 or +1, and the cost C of a unit of hinge loss; no intercept, or a free one."""

    X: sp.csr_matrix
    y: Floats
    C: float
    name: str = ""
    intercept: Literal["none", "free"] = "none"

    @classmethod
    def with_lambda(cls, X: sp.csr_matrix, y: Floats, lam: float, name: str = "") -> Problem:
        """The Pegasos papers fix lambda, not C."""
        return cls(X, y, 1.0 / (lam * X.shape[0]), name)

    @property
    def lam(self) -> float:
        return 1.0 / (self.C * self.X.shape[0])

    def primal(self, w: Floats) -> float:
        """P(w), at the best b for this w if the intercept is free."""
        z = self.X @ w
        return float(0.5 * w @ w + self.C * np.maximum(0.0, 1.0 - self.y * (z + self._best_b(z))).sum())

    def _best_b(self, z: Floats) -> float:
        """The sum of losses is convex in b; its slope is -(positive rows) at first, and grows by 1 at each b = y_i - z_i."""
        if self.intercept == "none":
            return 0.0
        last = int(np.count_nonzero(self.y > 0.0)) - 1
        return float(np.partition(self.y - z, last)[last])

    def dual(self, a: Floats) -> float:
        """D(a); ValueError if `a` is outside the box, where D proves nothing."""
        outside = ~((a >= 0.0) & (a <= self.C))  # NaN too
        if np.any(outside):
            row = int(np.flatnonzero(outside)[0])
            raise ValueError(f"multiplier {row} is {a[row]!r}, outside [0, {self.C!r}]")
        if self.intercept == "free":  # the multipliers of the heavier class are lowered until both weigh the same
            weights = [a[self.y == label].sum() for label in (-1.0, 1.0)]
            a = a * np.where(
                self.y > 0.0, *(min(1.0, min(weights) / max(weight, 1e-300)) for weight in reversed(weights))
            )
        w = self.X.T @ (a * self.y)
        return float(a.sum() - 0.5 * w @ w)

    def few(self) -> Problem:
        """Ten rows of each class, to warm a program up."""
        rows = np.concatenate([np.flatnonzero(self.y == label)[:10] for label in (-1.0, 1.0)])
        return replace(self, X=self.X[rows], y=self.y[rows])

    def drawn(self, count: int, seed: int) -> Problem:
        """`count` rows drawn independently, with the same lambda."""
        rows = np.random.default_rng(seed).integers(self.X.shape[0], size=count)
        return replace(self, X=self.X[rows], y=self.y[rows], C=1.0 / (self.lam * count))

    def fingerprint(self) -> str:
        """The same for equal rows, labels, C and kind of intercept only."""
        free = ("free",) if self.intercept == "free" else ()
        digest = hashlib.sha256(repr((self.X.shape, float(self.C), *free)).encode())
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
