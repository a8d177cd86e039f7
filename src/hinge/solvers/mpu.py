"""Margin perceptron with unlearning (Panagiotakopoulos & Tsampouka, ICML 2010)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from hinge import checks
from hinge.problem import Blocks, Problem
from hinge.solvers.contract import Setup, Traits
from hinge.solvers.native import NativeSolver, Precision, kappa_of, order_of, rng_of

# The first step may move a margin by this much.
_FIRST_ZONE = 10.0
# As many counts as float64 holds exactly.
_MOST_COUNTS = 2.0**52


@dataclass(frozen=True)
class MPU(NativeSolver):
    """Margin perceptron with unlearning.

    Multipliers are multiples of a step, ``a_k = I_k C_k / N`` with integer counts ``0 <= I_k <= N``. A row whose margin
    is at most 1 learns as many counts as bring it above; one whose margin is above ``1 + |x_k|^2 C_k / N`` unlearns as
    many as bring it back. N doubles whenever the gap of an epoch is within what the step may leave. Rows that seem
    settled are left out for a while; the final check is always on all rows. A free intercept is the multiplier of
    ``sum_k a_k t_k = 0`` in the method of multipliers, as in :class:`hinge.DCD`.

    Parameters
    ----------
    delta : float or None, default=None
        The relative gap that the first step would leave at most, the paper's accuracy known before the run (roughly,
        with a free intercept). None: begin with the largest steps that are sensible, which is faster.
    refine : bool, default=True
        Halve the step whenever the gap of an epoch is within what it may leave. False, with `delta`, is the paper's
        protocol: the step is fixed before the run, and the run ends when no row moves. (With a free intercept it ends
        by `tol` or ``max_iter`` only.)
    precision : {"double", "single"}, default="double"
        Type of the weights while training. The certificate is computed in float64 either way.

    Notes
    -----
    The rule for rows to learn and unlearn is the paper's. Ours are the halving of the step, the threshold at which rows
    are left out, the free intercept and the order in blocks.

    References
    ----------
    Panagiotakopoulos, Tsampouka: The Margin Perceptron with Unlearning. ICML 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import MPU, solve
    >>> X, y = np.array([[-1.0], [-2.0], [2.0], [3.0]]), np.array([-1, -1, 1, 1])
    >>> solution = solve(X, y, solver=MPU(), intercept="none")
    >>> solution.certificate.relative_gap < 1e-3
    True
    """

    delta: float | None = None
    refine: bool = True
    precision: Precision = "double"

    def __post_init__(self) -> None:
        if self.delta is not None:
            checks.positive("delta (a number or None)", self.delta)
        elif not self.refine:
            raise ValueError("refine=False fixes the step for an accuracy: give that as delta, for example delta=0.01.")
        checks.choice("precision", self.precision, get_args(Precision))

    @property
    def traits(self) -> Traits:
        """What the solver supports."""
        return Traits(
            intercepts=("none", "free", "penalized"),
            order=Blocks(),
            rebuilds=True,
            transfers=True,
            leaves_rows_out=bool(self.refine),
        )

    def build(self, core: Any, problem: Problem, setup: Setup) -> Any:
        """The algorithm at work."""
        zone = _FIRST_ZONE if self.delta is None else self.delta / (2.0 + self.delta)
        counts = _first_counts(problem, zone)
        kind = core.Mpu if self.precision == "double" else core.MpuSingle
        order, rng = order_of(core, problem, setup), rng_of(core, setup)
        return kind(problem.native, counts, bool(self.refine), kappa_of(problem), order, rng)


def _first_counts(problem: Problem, zone: float) -> int:
    """The smallest power of two N for which max_k |x_k|^2 C_k / N <= zone, within limits.

    At least 2: with one count, every multiplier would be 0 or C_k.
    """
    with np.errstate(over="ignore"):
        norms = problem.rows.squared_norms
        # Of costs that are the same, the longest row has the largest product: no array has to be made.
        lengths = np.max(norms) if checks.kept_once(problem.cost) else norms
        wanted = float(np.max(checks.in_memory(problem.cost) * (lengths + kappa_of(problem))) / zone)
    return 1 << math.ceil(math.log2(min(max(wanted, 2.0), _MOST_COUNTS)))
