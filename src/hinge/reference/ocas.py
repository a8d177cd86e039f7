"""OCAS: the optimised cutting-plane algorithm.

Franc & Sonnenburg, "Optimized Cutting Plane Algorithm for Support Vector Machines" (ICML 2008). The best w so far moves
to the exact minimum of P on the ray towards v, the solution of the reduced problem; the next plane touches the risk at
(1 - mu) w + mu v, a little beyond.
"""

from __future__ import annotations

import numpy as np

from hinge.reference.line_search import line_search
from hinge.reference.planes import PlaneMethod
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats


class Ocas(PlaneMethod):
    """One epoch adds one plane."""

    fields = (*PlaneMethod.fields, "margins")

    def __init__(self, problem: Problem, mu: float, patience: int) -> None:
        super().__init__(problem, patience)
        self.mu = mu
        self.margins: Floats = np.zeros(problem.m)  # t_i w.x_i

    def run_epoch(self) -> None:
        of_v = self._margins(self.v)
        way = self.v - self.w
        k = line_search(self.margins, of_v, self.cost, float(self.w @ way), float(way @ way))
        self.w = self.w + k * way
        self.margins = self.margins + k * (of_v - self.margins)
        self.primal = self._value()
        beyond = self.margins + self.mu * (of_v - self.margins)
        for i in self.each(self.cut.changes_to(beyond < 1.0)):
            self.cut.flip(i)
        self.solve_with_cut()

    def make_consistent(self) -> None:
        """Everything that follows from w and from the rows of the planes, computed anew."""
        self.rebuild_planes()
        self.margins = self._margins(self.w)
        self.primal = self._value()

    def _margins(self, at: Floats) -> Floats:
        rows, target = self.problem.rows, self.problem.target
        return np.array([target[i] * rows.dot(i, at) for i in self.each(range(self.problem.m))])

    def _value(self) -> float:
        """P(w)"""
        return float(0.5 * self.w @ self.w + self.cost @ np.maximum(0.0, 1.0 - self.margins))
