"""Multipliers for a primal method whose weights are no combination of the rows, or a poor one.

Step t on row i has the subgradient -m s^_i y_i x_i if the row has loss, else 0 (of the sum of losses, lambda w apart).
At the optimum lambda w is the mean of the steps' -gradients, so that the share of a row's visits with loss, times C_i,
tends to its multiplier. Step t counts t times: early steps, far from the optimum, are forgotten soon::

    share <- (1 - 2/(t+2)) share,   and share_i + 2m/(t+2) if row i has loss;   multipliers C_i share_i
"""

from __future__ import annotations

import numpy as np

from hinge._reference.problem import Problem
from hinge._reference.rows import Floats


class DualAverage:
    """The shares are share_scale * share, so that forgetting costs O(1)."""

    def __init__(self, m: int) -> None:
        self.share: Floats = np.zeros(m)
        self.share_scale = 1.0

    def visited(self, i: int, loss: bool, t: int) -> None:
        """Step t = 0, 1, ... has visited row i."""
        gain = 2.0 / (t + 2.0)
        if gain == 1.0:
            self.share[:] = 0.0
            self.share_scale = 1.0
        else:
            self.share_scale *= 1.0 - gain
        if loss:
            self.share[i] += gain * self.share.size / self.share_scale
        if self.share_scale < 1e-100:
            self.share *= self.share_scale
            self.share_scale = 1.0

    def multipliers(self, problem: Problem) -> Floats:
        """C_i share_i, not yet clipped to the box."""
        return np.array(problem.cost) * (self.share_scale * self.share)
