"""Dual coordinate descent (Hsieh et al., ICML 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from hinge import _core, checks
from hinge.problem import Blocks, Problem
from hinge.solvers.contract import Setup, State, Traits
from hinge.solvers.native import NativeSolver, kappa_of, order_of, rng_of

# Rows too few for it to pay to leave some out.
_FEW = 1000


@dataclass(frozen=True)
class DCD(NativeSolver):
    """Dual coordinate descent with shrinking.

    One multiplier at a time is set to its best value, ``a_i <- clip(a_i - g / q_i, 0, C_i)``. For the hinge loss
    ``g = t_i (w.x_i + b) - 1`` and ``q_i = |x_i|^2``; the squared hinge adds ``a_i / (2 C_i)`` to g and ``1 / (2 C_i)``
    to q, and has no upper bound. Rows that seem settled at a bound are left out until a check on all rows says
    otherwise; the final check is always on all rows. A free intercept is the multiplier of ``sum_i a_i t_i = 0`` in
    the method of multipliers.

    Parameters
    ----------
    shrinking : bool, default=True
        Leave out rows that seem settled, on problems of more than 1000 rows.
    polish : bool, default=True
        Now and then, take Newton steps in the multipliers strictly between their bounds, if there are at most 400 of
        them. Coordinate steps alone crawl where features are few or nearly dependent.
    eps : float or None, default=None
        None: rows leave by the mean of the projected gradients, and come back when the gap of those at work is small. A
        number: the rule of the paper and of liblinear. Rows leave by the extreme projected gradients. When those of an
        epoch lie within eps of each other, all rows come back, or the run ends if none was left out, whatever the gap;
        rows are left out of small problems too. Only without a free intercept.
    lanes : {1, 2, "auto"}, default="auto"
        2: the rows of an epoch are taken in two lanes, side by side, which `n_jobs=2` threads share, for eight passes.
        The result has the same bits for any number of threads. One thread takes about a tenth longer than with one
        lane. "auto": two on large sparse data, of sixteen million stored values and more, else 1; with eps always 1.

    Notes
    -----
    ``DCD(polish=False, eps=0.1)`` with ``order="permutation"`` is the published algorithm with liblinear's shrinking
    and stopping. Ours are `polish`, two lanes, over-relaxation, the default order in blocks, the rule by which rows
    leave and come back, and the free intercept.

    After eight passes a run is a long one, and steps are then 1.6 times as long: they go beyond the maximum along their
    coordinate. D still rises at each, and hard problems take 0.6 to 0.8 of the passes. With `eps`, and with `polish` on
    up to 1000 rows, steps are exact throughout.

    In rounds of some thousand rows, each of two lanes has a half of the rows and weights of its own, and counts its
    steps twice, as if the other lane did the same. The mean of both weights is then the w of all steps. D never falls.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A Dual Coordinate Descent Method for Large-scale Linear SVM. ICML 2008.

    Ma, Smith, Jaggi, Jordan, Richtarik, Takac: Adding vs. Averaging in Distributed Primal-Dual Optimization. ICML 2015.

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
    eps: float | None = None
    lanes: Literal[1, 2, "auto"] = "auto"

    forgets: ClassVar[State] = {"summit": 0.0, "shrink_above": math.inf, "shrink_below": -math.inf, "passes": 0.0}
    multipliers: ClassVar[str | None] = "a"

    def __post_init__(self) -> None:
        if self.eps is not None:
            checks.positive("eps (a number or None)", self.eps)
        checks.choice("lanes", self.lanes, (1, 2, "auto"))

    @property
    def traits(self) -> Traits:
        """What the solver supports. It converges linearly in the end, so tiny problems are worth refining."""
        return Traits(
            losses=("hinge", "squared_hinge"),
            intercepts=("none", "free", "penalized") if self.eps is None else ("none", "penalized"),
            order=Blocks(),
            refines_tiny=True,
            rebuilds=True,
            transfers=True,
            leaves_rows_out=bool(self.shrinking) and self.eps is None,
        )

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        return core.Dcd(
            problem.native,
            bool(self.shrinking) and (problem.m > _FEW or self.eps is not None),
            bool(self.polish),
            0.0 if self.eps is None else float(self.eps),
            kappa_of(problem),
            self._block(problem),
            order_of(core, problem, setup),
            rng_of(core, setup),
            setup.n_threads,
        )

    def _block(self, problem: Problem) -> int:
        """The rows of a lane in a round; 0 for one lane."""
        rows = problem.rows
        pay = self.eps is None and rows.layout == "csr" and _core.lanes_pay(rows)
        return _core.lane_block(rows) if self.lanes == 2 or (self.lanes == "auto" and pay) else 0
