"""A problem of a paper: rows, labels and C, without intercept as in all three papers; and what is known of its optimum."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import hinge
from papers.store import Results

#: Measured independently, to about 1e-6, where certifying them anew would take longer than the runs.
_KNOWN = {"Covertype|1": 340487.9, "Covertype|10": 3327591.5}
_KNOWN_TO = 1e-6
_TOLERANCE = 1e-5
_PATIENCE = 20_000  # passes


@dataclass(frozen=True)
class Task:
    """min 1/2 |w|^2 + C sum_i max(0, 1 - y_i w.x_i), which is lambda/2 |w|^2 + mean hinge divided by lambda = 1/(C m)."""

    name: str
    X: sp.csr_matrix
    y: np.ndarray
    C: float

    @classmethod
    def with_lambda(cls, name: str, X: sp.csr_matrix, y: np.ndarray, lam: float) -> Task:
        """The Pegasos papers fix lambda, not C."""
        return cls(name, X, y, 1.0 / (lam * X.shape[0]))

    @property
    def lam(self) -> float:
        return 1.0 / (self.C * self.X.shape[0])

    def primal(self, w: np.ndarray) -> float:
        """P(w), by definition."""
        return float(0.5 * w @ w + self.C * np.maximum(0.0, 1.0 - self.y * (self.X @ w)).sum())

    def weights(self, point: hinge.Point) -> np.ndarray:
        """The weights that a solver offers: given, or w(a) of its multipliers."""
        if point.w is not None:
            return np.array(point.w[: self.X.shape[1]], dtype=np.float64)
        return np.asarray(self.X.T @ (np.clip(point.multipliers, 0.0, self.C) * self.y), dtype=np.float64)

    def solve(self, solver: Any, **options: Any) -> hinge.Solution:
        """Train without intercept."""
        return hinge.solve(self.X, self.y, C=self.C, intercept="none", solver=solver, **options)


@dataclass(frozen=True)
class Optimum:
    """A proven bracket around the optimal P."""

    low: float
    high: float

    @property
    def value(self) -> float:
        return 0.5 * (self.low + self.high)

    def excess(self, primal: float) -> float:
        """P / P_opt - 1."""
        return primal / self.value - 1.0

    def admits(self, certificate: hinge.Certificate) -> bool:
        """Whether dual <= optimum <= primal can be true, up to the rounding of a recomputation."""
        slack = 1e-9 * self.value
        return certificate.dual <= self.high + slack and certificate.primal >= self.low - slack


def optimum(task: Task, known: Results) -> Optimum:
    """The bracket from `known`, or certified now by dual coordinate descent and put there."""
    key = f"{task.name}|{task.C:.10g}"
    if key in _KNOWN and task.X.shape[0] == 581_012:
        return Optimum((1.0 - _KNOWN_TO) * _KNOWN[key], (1.0 + _KNOWN_TO) * _KNOWN[key])
    key = f"{key}|{task.X.shape[0]}|{task.X.dtype}"
    if key not in known.cells:
        tol = _TOLERANCE if task.name != "Covertype" else 1e-4
        solution = task.solve("dcd", tol=tol, max_iter=_PATIENCE)
        if solution.status != "converged":
            raise RuntimeError(f"dcd on {task.name} at C = {task.C:g} ended {solution.status}.")
        known.put(key, [solution.certificate.dual, solution.certificate.primal])
    low, high = known.cells[key]
    return Optimum(low, high)


@functools.cache
def solver_named(name: str) -> Any | None:
    """The default configuration of a solver, or None if this build does not have it."""
    return hinge.solvers.as_solver(name) if name in hinge.solvers.solver_names() else None
