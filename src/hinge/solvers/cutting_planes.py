"""Cutting planes: SVM-perf's method (Joachims, KDD 2006) and OCAS (Franc & Sonnenburg, ICML 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

from hinge import checks
from hinge.problem import Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver


@dataclass(frozen=True)
class CuttingPlane(NativeSolver):
    """Cutting planes with one slack variable, the method of SVM-perf. Deterministic; an epoch adds one plane.

    The rows with ``y_i w.x_i < 1`` at the current w give a plane ``b - w.a`` that touches the risk
    ``R(w) = sum_i C_i max(0, 1 - y_i w.x_i)`` from below: ``a = sum C_i y_i x_i``, ``b = sum C_i`` over these rows. The
    next w minimises ``1/2 |w|^2 + max_j (b_j - w.a_j)`` over all planes so far, a small quadratic problem whose value
    is a lower bound of the optimum. With a free intercept each plane touches the risk at the best b for w, and rows on
    the margin, one of them in part, make it balanced: ``sum C_i y_i = 0``.

    Parameters
    ----------
    keep_unused : int, default=50
        Drop a plane that this many solutions in a row have not used.

    Notes
    -----
    A plane takes 8 bytes a feature and one bit a row; easy problems need some dozens of them, hard ones hundreds.

    References
    ----------
    Joachims: Training Linear SVMs in Linear Time. KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import CuttingPlane, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=CuttingPlane(), intercept="none").status
    'converged'
    """

    keep_unused: int = 50

    def __post_init__(self) -> None:
        checks.whole("keep_unused", self.keep_unused)

    @property
    def traits(self) -> Traits:
        """What the solver supports. Its estimates are the values, but for rounding."""
        return Traits(intercepts=("none", "free", "penalized"), comparison=1.0, transfers=True)

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        return core.CuttingPlane(problem.native, int(self.keep_unused), setup.n_threads)


@dataclass(frozen=True)
class OCAS(CuttingPlane):
    """The optimised cutting-plane algorithm. Deterministic; an epoch adds one plane.

    As `CuttingPlane`, but the best w so far moves to the exact minimum of P on the ray towards the solution of the
    small problem, so P falls with every plane; and the next plane touches the risk a little beyond that minimum.

    Parameters
    ----------
    keep_unused : int, default=50
        Drop a plane that this many solutions in a row have not used.
    mu : float, default=0.1
        The next plane is taken at ``(1 - mu) w + mu v``, w the best point and v the solution of the small problem;
        above 0, at most 1.

    Notes
    -----
    A plane takes 8 bytes a feature and one bit a row; easy problems need some dozens of them, hard ones hundreds.

    References
    ----------
    Franc, Sonnenburg: Optimized Cutting Plane Algorithm for Support Vector Machines. ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import OCAS, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=OCAS(), intercept="none").status
    'converged'
    """

    mu: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.mu, Real) and 0 < self.mu <= 1):
            raise ValueError(f"mu must lie above 0 and not above 1, got {self.mu!r}.")

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        return core.Ocas(problem.native, float(self.mu), int(self.keep_unused), setup.n_threads)
