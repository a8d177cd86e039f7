"""The certificate: a proven bracket around the optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hinge import _core
from hinge.problem import Floats, Problem


@dataclass(frozen=True)
class Certificate:
    """Proof of quality: ``dual <= optimum <= primal``, in float64 with the rounding counted.

    `primal` is P(w, b) of the model at hand, rounded up. `dual` is the largest D(a) found at feasible multipliers,
    rounded down.

    Examples
    --------
    >>> from hinge import Certificate
    >>> certificate = Certificate(primal=101.0, dual=100.0)
    >>> certificate.gap, round(certificate.relative_gap, 6)
    (1.0, 0.01)
    """

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """P - D: the model's objective is at most this far from the optimum."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """(P - D) / D, the quantity that ``tol`` bounds; infinite while D = 0."""
        return self.gap / self.dual if self.dual > 0 else math.inf

    def within(self, tol: float) -> bool:
        """Whether P - D <= tol * D."""
        return self.dual > 0 and self.gap <= tol * self.dual

    def __str__(self) -> str:
        return (
            f"optimum in [{self.dual:.10g}, {self.primal:.10g}]: "
            f"this model is within {100 * self.relative_gap:.3g} % of it"
        )


@dataclass(frozen=True)
class Point:
    """What a solver offers for evaluation: multipliers, and weights unless they are to be w(a).

    The multipliers need not be feasible: evaluation clips them to the box and repairs the rest.
    """

    multipliers: Floats
    w: Floats | None = None


@dataclass(frozen=True)
class Evaluation:
    """Both sides at a point: P at (w, b), D at the multipliers, and what rounding may have added to the gap."""

    certificate: Certificate
    rounding: float
    w: Floats
    b: float
    multipliers: Floats


def evaluate(problem: Problem, point: Point, poll: _core.Poll) -> Evaluation | None:
    """P at the point's weights, D at its multipliers made feasible; None when stopped by the poll."""
    dual = _core.dual(problem.native, np.ascontiguousarray(point.multipliers, dtype=np.float64), poll)
    if dual is None:
        return None
    lower, lowered_by, multipliers, w = dual
    if point.w is not None:
        w = np.ascontiguousarray(point.w, dtype=np.float64)
    primal = _core.primal(problem.native, w, poll)
    if primal is None:
        return None
    upper, raised_by, b = primal
    return Evaluation(Certificate(upper, lower), raised_by + lowered_by, w, b + problem.intercept.rho * w[-1], multipliers)


def trivial(problem: Problem) -> Evaluation:
    """w = 0 and a = 0: a valid, useless certificate that costs nothing."""
    total = problem.native.total_cost
    smaller_class = min(float(problem.cost[problem.y == sign].sum()) for sign in (-1, 1))
    free = problem.intercept.kind == "free"
    majority = 1.0 if problem.cost[problem.y == 1].sum() * 2 >= total else -1.0
    upper = (2.0 * smaller_class if free else total) * (1.0 + 1e-12)
    w = np.zeros(problem.n_features + 1)
    return Evaluation(Certificate(upper, 0.0), 0.0, w, majority if free else 0.0, np.zeros(problem.m))
