"""The cutting-plane method, one slack variable.

Joachims, "Training Linear SVMs in Linear Time" (KDD 2006). Each epoch finds the plane that touches the risk at v, adds
it to the bundle, and minimises 1/2 |v|^2 + max_j (b_j - v.a_j) for the next v. The best v so far is kept as w, with its
best b if the intercept is free.
"""

from __future__ import annotations

import math

from hinge.reference.contact import touching
from hinge.reference.planes import PlaneMethod
from hinge.reference.sums import squared_norm


class CuttingPlane(PlaneMethod):
    """One epoch adds one plane."""

    def run_epoch(self) -> None:
        contact = touching(self.problem, self.margins_at(self.v))
        value = 0.5 * squared_norm(self.v) + contact.risk
        if value < self.primal:
            self.primal, self.w, self.b = value, self.v.copy(), contact.shift
        self.solve_with(contact)

    def make_consistent(self) -> None:
        """Everything that follows from the rows of the planes, computed anew; P is known again after the next epoch."""
        self.rebuild_planes()
        self.primal = math.inf
        if not self.problem.free_intercept:
            self.b = 0.0
