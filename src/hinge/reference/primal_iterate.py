"""The weights of a subgradient method, and the multipliers that follow them.

Every method of this family moves by w <- keep * w + sum step_i t_i x_i, then perhaps back into a ball. With::

    w = scale * v,   v = sum_i c_i t_i x_i,   c_i >= 0,   |w|^2 tracked

shrinking and projecting cost O(1), and a step the non-zeros of its rows. scale * c are multipliers, not yet clipped to
their box; without room for c (m = 0) none are kept. Outputs: the last iterate, the average of all iterates, or the
iterate of a uniformly random step.

The weights are float64, or float32 for half the memory traffic. Sums are in float64 either way.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.rows import Rows
from hinge.reference.sums import Floats, in_double, squared_norm


class Output(Enum):
    """Which iterate is the result: the last, the average of all, or that of a random step."""

    last = 0
    average = 1
    random = 2


class PrimalIterate:
    """Where a subgradient method is."""

    fields = ("v", "c", "scale", "norm2", "t", "u", "e", "scale_sum")

    def __init__(self, m: int, n_features: int, output: Output, dtype: npt.DTypeLike = np.float64) -> None:
        self.output = output
        self.v: npt.NDArray[Any] = np.zeros(n_features + 1, dtype=dtype)
        self.c: Floats = np.zeros(m)
        self.scale = 1.0
        self.norm2 = 0.0  # |w|^2, tracked
        self.t = 0  # steps
        # The sum of all iterates is scale_sum * v - u, and of the multipliers scale_sum * c - e: a change made at a
        # step must not count in the iterates before it. For a random output, u and e hold that iterate itself.
        self.u: Floats = np.zeros(0 if output is Output.last else self.v.size)
        self.e: Floats = np.zeros(0 if output is Output.last else self.c.size)
        self.scale_sum = 0.0

    def decision(self, rows: Rows, i: int) -> float:
        """w.x_i"""
        return self.scale * rows.dot(i, self.v)

    def shrink(self, keep: float) -> None:
        """w <- keep * w. A factor of exactly 0 (a step of size 1/lambda) erases everything: v begins anew."""
        if keep == 0.0:
            if self.scale_sum != 0.0:
                self.write_out_sum()
            self.v[:] = 0.0
            self.c[:] = 0.0
            self.scale = 1.0
            self.norm2 = 0.0
            return
        self.scale *= keep
        self.norm2 *= keep * keep
        self.fold_tiny_scale()

    def add(self, rows: Rows, i: int, target: float, step: float, before: float) -> None:
        """w <- w + step t_i x_i, where w.x_i is `before`."""
        self.norm2 += 2.0 * step * target * before + step * step * rows.squared_norm(i)
        change = step / self.scale
        rows.add(i, change * target, self.v)
        if self.c.size:
            self.c[i] += change
        if self.output is Output.average:
            rows.add(i, change * target * self.scale_sum, self.u)
            if self.c.size:
                self.e[i] += change * self.scale_sum

    def project(self, radius2: float) -> None:
        """Back into the ball of squared radius `radius2`; 1/lambda is that of a ball that holds the optimum."""
        if self.norm2 > radius2:
            self.scale *= math.sqrt(radius2 / self.norm2)
            self.norm2 = radius2
            self.fold_tiny_scale()

    def record(self, rng: Rng | None = None) -> None:
        """Keep what the output needs of this iterate: each of t steps is the random one with probability 1/t."""
        if self.output is Output.average:
            self.scale_sum += self.scale
        if self.output is Output.random and rng is not None and rng.below(self.t) == 0:
            self.u = self.scale * in_double(self.v)
            self.e = self.scale * self.c

    @property
    def smallest_scale(self) -> float:
        """Sums of iterates cancel as many digits as the scale has lost; single precision has a short range."""
        if self.output is Output.average:
            return 1e-6
        return 1e-15 if self.v.dtype == np.float32 else 1e-100

    def fold_tiny_scale(self) -> None:
        """1/t times many projections may underflow: fold the scale into v and c long before. The sum of the iterates
        is written out then, and begins anew."""
        if self.scale >= self.smallest_scale:
            return
        if self.output is Output.average:
            self.write_out_sum()
        self.v[:] = in_double(self.v) * self.scale
        self.c *= self.scale
        self.scale = 1.0

    def write_out_sum(self) -> None:
        """The sum of the iterates so far becomes -u, and no longer rests on v."""
        self.u -= self.scale_sum * in_double(self.v)
        self.e -= self.scale_sum * self.c
        self.scale_sum = 0.0

    def weights(self) -> Floats:
        """The iterate asked for."""
        return self._output(in_double(self.v), self.u)

    def multipliers(self) -> Floats:
        """Its multipliers, not yet clipped to the box."""
        return self._output(self.c, self.e)

    def _output(self, now: Floats, kept: Floats) -> Floats:
        with np.errstate(all="ignore"):  # steps may have exploded
            if self.output is Output.last:
                return self.scale * now
            return kept.copy() if self.output is Output.random else (self.scale_sum * now - kept) / max(self.t, 1)

    def recombine(self, problem: Problem) -> None:
        """For a state saved on a problem with other costs, targets or rows: what follows from the multipliers, anew."""
        _combine_into(self.v, self.c, problem)
        if self.u.size:
            _combine_into(self.u, self.e, problem)
        self.norm2 = self.scale * self.scale * squared_norm(self.v)


def _combine_into(total: npt.NDArray[Any], coefficients: Floats, problem: Problem) -> None:
    total[:] = 0.0
    for i in np.flatnonzero(coefficients).tolist():
        problem.rows.add(i, float(coefficients[i]) * problem.target[i], total)
