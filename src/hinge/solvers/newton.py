"""The augmented Lagrangian with semismooth Newton steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hinge import _core
from hinge.problem import Floats, Problem
from hinge.solvers.contract import Point, Setup, State, Traits
from hinge.solvers.native import NativeRun, NativeSolver

# Rates of the zones for a start from given multipliers.
_FAR_RATE = 1.0
_NEAR_RATE = 4.0
# The least unit of these rates: a few tiny multipliers are no measure.
_LEAST_UNIT = 1e-6


@dataclass(frozen=True)
class Newton(NativeSolver):
    """Second order: some dozens of steps to any accuracy, whatever C, the scales of the features or their correlation.

    Around its kink the hinge of row i becomes a parabola, on a zone of slacks of width 1/s. With multipliers a and
    slacks ``z_i = 1 - t_i (w.x_i + b)``::

        u_i = a_i + s C_i z_i,    a+_i = clip(u_i, 0, C_i),    J = {i : 0 < u_i < C_i}
        H p = -(w - sum_i a+_i t_i x_i),    H = I + s sum_J C_i x_i x_i'

    A Newton step goes along p to the exact minimum on that ray. When the smooth problem is solved well enough, a+
    becomes a, and s grows: the augmented Lagrangian of the dual. The squared hinge is smooth as it is: one round.

    Rows that cannot have come into their zones since they were read are not read again. An epoch reads as many rows as
    there are, or ends before, when the gap has fallen to a quarter.

    Parameters
    ----------
    sampling : bool, default=True
        Begin with a small sample of the rows, and go on with samples eight times as large, up to every 8th row.

    Notes
    -----
    H is solved by its Cholesky factor, of the order of the number of features or, by the formula of Woodbury, of the
    number of rows in J, or by conjugate gradients: whichever takes fewer operations by count. A matrix takes at most
    32 MB, or an eighth of what the values of X take in float64. Beside it there are 33 bytes a row, 8 more if costs
    differ, 16 more for a row that may enter or leave its zone, and 36 more for a row in J.

    References
    ----------
    Yan, Li: An efficient augmented Lagrangian method for support vector machine. Optimization Methods and Software,
    2020. Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. JMLR 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hinge import Newton, solve
    >>> X, y = load_breast_cancer(return_X_y=True)  # not scaled
    >>> solve(X, y, C=1000, tol=1e-6, solver=Newton()).status
    'converged'
    """

    sampling: bool = True

    forgets: ClassVar[State] = {"rate": _NEAR_RATE}
    multipliers: ClassVar[str | None] = "a"

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(
            losses=("hinge", "squared_hinge"),
            intercepts=("none", "free", "penalized"),
            refines_tiny=True,
            transfers=True,
        )

    def start(self, problem: Problem, setup: Setup) -> NativeRun:
        """Begin a run."""
        return NewtonRun(self.build(self.core, problem, setup), setup, self, problem)

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        return core.Newton(problem.native, bool(self.sampling), setup.n_threads)


class NewtonRun(NativeRun):
    """Newton at work. It can take over from another solver."""

    def __init__(self, algorithm: Any, setup: Setup, solver: NativeSolver, problem: Problem) -> None:
        super().__init__(algorithm, setup, solver, problem)
        self._free = problem.intercept.kind == "free"
        self._rows, self._cost = problem.rows, problem.cost

    def begin_at(self, point: Point, near: bool) -> None:
        """Begin with these multipliers and weights, with narrow zones if they are `near` the optimum."""
        state = self.save()
        if point.w is not None:
            state["w"] = _finite(np.append(point.w[:-1], point.b if self._free else point.w[-1]))
        a = np.maximum(_finite(point.multipliers), 0.0)
        state.update(a=a, rate=self._unit(a) * (_NEAR_RATE if near else _FAR_RATE))
        self._algorithm.restore(state)

    def _unit(self, a: Floats) -> float:
        """The mean positive multiplier, as a share of its cost, where conjugate gradients may be needed; else 1.

        In a zone, a_i changes by s C_i for each unit of slack. With a C that no multiplier comes near to, that is far
        more than it takes, and conjugate gradients take the more iterations the larger s is. A matrix does not mind.
        """
        positive = a > 0.0
        if _core.newton_has_matrix(self._rows) or not positive.any():
            return 1.0
        with np.errstate(over="ignore"):
            shares = np.minimum(a[positive] / self._cost[positive], 1.0)
        return max(float(np.mean(shares)), _LEAST_UNIT)


def _finite(values: Floats) -> Floats:
    """Zero where there is no number: with extreme costs a solver may overflow."""
    return np.where(np.isfinite(values), values, 0.0)
