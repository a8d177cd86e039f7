"""The cutting-plane method, one slack variable.

Joachims, "Training Linear SVMs in Linear Time" (KDD 2006). Each epoch finds the plane that touches the risk at v, adds
it to the bundle, and minimises 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v. The best v so far is kept as w.
"""

from __future__ import annotations

import math

from hinge._reference.planes import PlaneMethod
from hinge._reference.problem import squared_norm


class CuttingPlane(PlaneMethod):
    """A run; one call of `run_epoch` adds one plane."""

    def run_epoch(self) -> None:
        loss = offset = 0.0
        for i in range(self.problem.m):
            cost = self.problem.cost[i]
            margin = self.problem.y[i] * self.problem.rows.dot(i, self.v)
            if margin < 1.0:
                loss += cost * (1.0 - margin)
                offset += cost
            if (margin < 1.0) != self._cut.members[i]:
                self._cut.flip(i)
        value = 0.5 * squared_norm(self.v) + loss
        if value < self.primal:
            self.primal, self.w = value, self.v
        self._solve_with_cut(offset)

    def rebuild(self) -> None:
        """Everything that follows from the rows of the planes, computed anew; P is known again after the next epoch."""
        self._rebuild_planes()
        self.primal = math.inf
