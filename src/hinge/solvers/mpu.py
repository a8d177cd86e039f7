"""Margin perceptron with unlearning (Panagiotakopoulos & Tsampouka, ICML 2010)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from hinge import _core
from hinge.certificate import Point
from hinge.order import Blocks, Order
from hinge.problem import InterceptKind, Problem
from hinge.solvers.protocol import Configuration, NativeRun

# The first step may move a margin by this much.
_FIRST_ZONE = 10.0
# As many counts as float64 holds exactly.
_MOST_COUNTS = 2.0**52


@dataclass(frozen=True)
class MPU(Configuration):
    """Margin perceptron with unlearning.

    Multipliers are multiples of a step, ``a_k = I_k C_k / N`` with integer counts ``0 <= I_k <= N``. A row whose margin
    is at most 1 learns as many counts as bring it above; one whose margin is above ``1 + |x_k|^2 C_k / N`` unlearns as
    many as bring it back. N doubles whenever the gap of an epoch is within what the step may leave. Rows that seem
    settled are left out for a while; the final check is always on all rows.

    Parameters
    ----------
    delta : float or None, default=None
        The relative gap that the first step would leave at most, the paper's accuracy known before the run. None:
        begin with the largest steps that are sensible, which is faster.

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

    intercepts: ClassVar[tuple[InterceptKind, ...]] = ("none", "penalized")
    default_order: ClassVar[Order | None] = Blocks()

    def __post_init__(self) -> None:
        if self.delta is not None and not (isinstance(self.delta, Real) and 0 < self.delta < math.inf):
            raise ValueError(f"delta must be a positive number or None, got {self.delta!r}.")

    def start(self, problem: Problem, *, order: Order | None, stream: tuple[int, ...], poll: _core.Poll) -> MPURun:
        zone = _FIRST_ZONE if self.delta is None else self.delta / (2.0 + self.delta)
        native = _core.Mpu(
            problem.native,
            _first_counts(problem, zone),
            (order or self.default_order or Blocks()).native(),
            _core.Rng(list(stream)),
        )
        return MPURun(native, poll)


def _first_counts(problem: Problem, zone: float) -> int:
    """The smallest power of two N for which max_k |x_k|^2 C_k / N <= zone, within limits.

    At least 2: with one count, every multiplier would be 0 or C_k.
    """
    with np.errstate(over="ignore"):
        wanted = float(np.max(problem.cost * problem.rows.squared_norms) / zone)
    return 1 << math.ceil(math.log2(min(max(wanted, 2.0), _MOST_COUNTS)))


class MPURun(NativeRun):
    def point(self) -> Point:
        return Point(self._native.multipliers())

    def estimate(self) -> tuple[float, float]:
        primal, dual = self._native.estimate()
        return primal, dual

    def not_yet(self) -> None:
        """The active set was wrong, or w has drifted, or it is not done yet: all rows come back, w is computed anew."""
        self._native.rebuild(self._poll)
