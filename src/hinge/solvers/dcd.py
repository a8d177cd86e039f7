"""Dual coordinate descent (Hsieh et al., ICML 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hinge import _core
from hinge.certificate import Point
from hinge.order import Blocks, Order
from hinge.problem import InterceptKind, Problem
from hinge.solvers.protocol import Configuration, NativeRun, State

# Rows too few for it to pay to leave some out.
_FEW = 1000


@dataclass(frozen=True)
class DCD(Configuration):
    """Dual coordinate descent with shrinking; the default.

    One multiplier at a time is set to its best value, ``a_i <- clip(a_i - g / |x_i|^2, 0, C_i)`` with
    ``g = y_i (w.x_i + b) - 1``. Rows that seem settled at a bound are left out until a check on all rows says
    otherwise; the final check is always on all rows. A free intercept is the multiplier of ``sum_i a_i y_i = 0`` in
    the method of multipliers.

    Parameters
    ----------
    shrinking : bool, default=True
        Leave out rows that seem settled, on problems of more than 1000 rows.
    polish : bool, default=True
        Now and then, take Newton steps in the multipliers strictly between their bounds, if there are at most 400 of
        them. Coordinate steps alone crawl where features are few or nearly dependent.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A Dual Coordinate Descent Method for Large-scale Linear SVM. ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import DCD, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solution = solve(X, y, solver=DCD(shrinking=False))
    >>> solution.certificate.relative_gap < 1e-3
    True
    """

    shrinking: bool = True
    polish: bool = True

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "free", "penalized")
    default_order: ClassVar[Order | None] = Blocks()
    refines_tiny: ClassVar[bool] = True  # linear convergence: stagnation is near

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> DCDRun:
        native = _core.Dcd(
            problem.native,
            self.shrinking and problem.m > _FEW,
            self.polish,
            _penalty(problem),
            (order or self.default_order or Blocks()).native(),
            _core.Rng(list(stream)),
        )
        return DCDRun(native, poll)


def _penalty(problem: Problem) -> float:
    """kappa of the method of multipliers: b moves by kappa times the change of sum_i a_i y_i.

    A constant feature of 3 % of the rows' mean squared norm is small enough not to slow the steps down, and large
    enough for b to follow. The second term lets b move where the rows are tiny: all multipliers together move it by 1.
    """
    if problem.intercept.kind != "free":
        return 0.0
    return 0.03 * float(problem.rows.squared_norms.mean()) + 1.0 / problem.native.total_cost


class DCDRun(NativeRun):
    def point(self) -> Point:
        return Point(self._native.multipliers())

    def estimate(self) -> tuple[float, float]:
        primal, dual = self._native.estimate()
        return primal, dual

    def restore(self, state: State, *, same_problem: bool) -> None:
        super().restore(state if same_problem else {**state, "summit": 0.0}, same_problem=same_problem)

    def not_yet(self) -> None:
        """Shrinking was wrong, or w has drifted, or it is not done yet: all rows come back, w is computed anew."""
        self._native.rebuild(self._poll)
