"""Multipliers for a primal method whose weights are no combination of the rows, or a poor one.

Step t on row i has the subgradient -m s^_i slope t_i x_i (of the sum of losses, lambda w apart), with the slope of the
loss there: 1 or 0 for the hinge. At the optimum lambda w is the mean of the steps' -gradients, so that the mean slope
of a row's visits, times C_i, tends to its multiplier. Step t counts t times: early steps, far from the optimum, are
forgotten soon::

    share <- (1 - 2/(t+2)) share,   share_i += 2m/(t+2) slope;   multipliers C_i share_i
"""

from __future__ import annotations

import numpy as np

from hinge.reference.problem import Problem
from hinge.reference.sums import Floats


class DualAverage:
    """The shares are share_scale * share, so that forgetting costs O(1). Without room (m = 0) none are kept."""

    fields = ("share", "share_scale")

    def __init__(self, m: int) -> None:
        self.share: Floats = np.zeros(m)
        self.share_scale = 1.0

    def visited(self, i: int, slope: float, t: int) -> None:
        """Step t = 0, 1, ... has visited row i."""
        if not self.share.size:
            return
        gain = 2.0 / (t + 2.0)
        if gain == 1.0:
            self.share[:] = 0.0
            self.share_scale = 1.0
        else:
            self.share_scale *= 1.0 - gain
        if slope != 0.0:
            self.share[i] += gain * self.share.size * slope / self.share_scale
        if self.share_scale < 1e-100:
            self.share *= self.share_scale
            self.share_scale = 1.0

    def multipliers(self, problem: Problem) -> Floats:
        """C_i share_i, not yet clipped to the box."""
        with np.errstate(all="ignore"):  # steps may have exploded
            return np.array(problem.cost) * (self.share_scale * self.share)
