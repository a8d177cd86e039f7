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
class PrimalSide:
    """P at a model (w, b), rounded up by `rounding`."""

    value: float
    rounding: float
    w: Floats
    b: float


@dataclass(frozen=True)
class DualSide:
    """D at feasible multipliers, rounded down by `rounding`, and w(a) rebuilt from them."""

    value: float
    rounding: float
    multipliers: Floats
    w: Floats


def primal_side(problem: Problem, w: Floats, poll: _core.Poll, b: float | None = None) -> PrimalSide | None:
    """P at w and, if the intercept is free, at b or the best b for this w; None when stopped by the poll."""
    w = np.array(w, dtype=np.float64, order="C")  # a copy: the solver may go on to change its own
    found = _core.primal(problem.native, w, poll, b)
    if found is None:
        return None
    value, rounding, at = found
    return PrimalSide(value, rounding, w, at + problem.intercept.rho * float(w[-1]))


def dual_side(problem: Problem, multipliers: Floats, poll: _core.Poll) -> DualSide | None:
    """D at the multipliers made feasible; None when stopped by the poll."""
    found = _core.dual(problem.native, np.ascontiguousarray(multipliers, dtype=np.float64), poll)
    if found is None:
        return None
    value, rounding, feasible, w = found
    return DualSide(value, rounding, feasible, w)


def trivial(problem: Problem) -> tuple[PrimalSide, DualSide]:
    """w = 0 and a = 0: a valid, useless certificate that costs nothing."""
    positive = float(problem.cost[problem.y == 1].sum())
    negative = float(problem.cost[problem.y == -1].sum())
    w = np.zeros(problem.n_features + 1)
    b = 0.0
    value = positive + negative
    if problem.intercept.kind == "free":
        b = 1.0 if positive >= negative else -1.0
        value = 2.0 * min(positive, negative)
    roundoff = 1e-12 * value
    return PrimalSide(value + roundoff, roundoff, w, b), DualSide(0.0, 0.0, np.zeros(problem.m), w)
