"""ASSET (Lee & Wright)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, get_args

from hinge import checks
from hinge.problem import Permutation, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, order_of, rng_of
from hinge.solvers.norma import Sampling


@dataclass(frozen=True)
class Asset(NativeSolver):
    """Step sizes ``D_X / (D_G sqrt(j))``, a free intercept, and the average of the late iterates.

    Step j draws a row and moves against its subgradient, ``w <- (1 - eta_j lambda) w + eta_j y_i x_i`` and
    ``b <- b + eta_j y_i`` if ``y_i (w.x_i + b) < 1``, then goes back to ``|w| <= 1/sqrt(lambda)`` and ``|b| <= B``.
    D_X is the radius of that set, and D_G^2 the mean squared subgradient of a sample of rows at the start. The output
    is the average of the iterates since N-bar, each weighted by its step size.

    Parameters
    ----------
    B : float or None, default=None
        The largest intercept. None: ``1 + max |x_i| / sqrt(lambda)``, which holds the best b of every w in the ball.
    sample_size : int, default=100
        Rows that D_G is estimated from. (The paper prints a division by their number squared; a mean is meant.)
    average_last : int or None, default=None
        The output is the average of the last so many steps of an epoch, or of all if it has fewer: 100 in the
        experiments of the paper, 1 for the last iterate. None: of half to three quarters of all steps so far, N-bar
        being a power of 2.
    sampling : {"iid", "epoch"}, default="iid"
        Rows drawn independently, or a permutation of all for each epoch.

    References
    ----------
    Lee, Wright: ASSET: Approximate Stochastic Subgradient Estimation Training for Support Vector Machines.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import Asset, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=Asset(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    B: float | None = None
    sample_size: int = 100
    average_last: int | None = None
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        if self.B is not None:
            checks.positive("B", self.B)
        checks.whole("sample_size", self.sample_size)
        _check_average(self.average_last, self.sampling)

    @property
    def traits(self) -> Traits:
        """What the solver supports. Only sampling in epochs has an order."""
        return Traits(intercepts=("none", "free", "penalized"), order=_order(self.sampling))

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        largest_b = 0.0
        if problem.intercept.kind == "free":
            largest_b = _largest_intercept(problem) if self.B is None else float(self.B)
        rate = core.RootRate(int(self.sample_size), largest_b)
        return core.Asset(problem.native, rate, *_how(self, core, problem, setup))


@dataclass(frozen=True)
class AssetStar(NativeSolver):
    """ASSET without a free intercept: step sizes ``1 / (lambda j)``, and the average of the late iterates.

    The steps are those of :class:`hinge.Pegasos` with one row each; what the paper adds is the average, and the
    features of a kernel approximation that they run on.

    Parameters
    ----------
    average_last : int or None, default=None
        The output is the average of the last so many steps of an epoch, or of all if it has fewer: 100 in the
        experiments of the paper, 1 for the last iterate. None: of half to three quarters of all steps so far, N-bar
        being a power of 2.
    sampling : {"iid", "epoch"}, default="iid"
        Rows drawn independently, or a permutation of all for each epoch.

    References
    ----------
    Lee, Wright: ASSET: Approximate Stochastic Subgradient Estimation Training for Support Vector Machines.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import AssetStar, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solve(X, y, solver=AssetStar(), intercept="none", tol=0.1, max_iter=10_000).status
    'converged'
    """

    average_last: int | None = None
    sampling: Sampling = "iid"

    def __post_init__(self) -> None:
        _check_average(self.average_last, self.sampling)

    @property
    def traits(self) -> Traits:
        """What the solver supports. Only sampling in epochs has an order."""
        return Traits(order=_order(self.sampling))

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        return core.AssetStar(problem.native, core.StarRate(), *_how(self, core, problem, setup))


def _check_average(average_last: int | None, sampling: str) -> None:
    if average_last is not None:
        checks.whole("average_last", average_last)
    checks.choice("sampling", sampling, get_args(Sampling))


def _order(sampling: str) -> Permutation | None:
    return Permutation() if sampling == "epoch" else None


def _largest_intercept(problem: Problem) -> float:
    """1 + |w| max |x_i| for the longest w in the ball: the best b of any w is one of the t_i - w.x_i."""
    radius = math.sqrt(problem.native.total_cost)
    return min(1.0 + radius * math.sqrt(float(problem.rows.squared_norms.max())), 1e150)  # its square must be finite


def _how(solver: Asset | AssetStar, core: Any, problem: Problem, setup: Setup) -> tuple[Any, Any, Any]:
    """Options, order and random numbers of a run."""
    last = 0 if solver.average_last is None else min(int(solver.average_last), problem.m)
    options = core.AssetOptions(getattr(core.Sampling, solver.sampling), last)
    return options, order_of(core, problem, setup), rng_of(core, setup)
