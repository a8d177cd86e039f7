"""The cutting-plane method, one slack variable.

Joachims, "Training Linear SVMs in Linear Time" (KDD 2006). Each epoch finds the plane that touches the risk at v, adds
it to the bundle, and minimises 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v. The best v so far is kept as w.
"""

from __future__ import annotations

import math

from hinge.reference.planes import PlaneMethod
from hinge.reference.sums import squared_norm


class CuttingPlane(PlaneMethod):
    """One epoch adds one plane."""

    def run_epoch(self) -> None:
        problem = self.problem
        loss = 0.0
        for i in self.each(range(problem.m)):
            margin = problem.target[i] * problem.rows.dot(i, self.v)
            loss += problem.cost[i] * max(0.0, 1.0 - margin)
            if (margin < 1.0) != self.cut.members[i]:
                self.cut.flip(i)
        value = 0.5 * squared_norm(self.v) + loss
        if value < self.primal:
            self.primal, self.w = value, self.v.copy()
        self.solve_with_cut()

    def make_consistent(self) -> None:
        """Everything that follows from the rows of the planes, computed anew; P is known again after the next epoch."""
        self.rebuild_planes()
        self.primal = math.inf
