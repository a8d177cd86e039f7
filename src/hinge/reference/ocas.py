"""OCAS: the optimised cutting-plane algorithm.

Franc & Sonnenburg, "Optimized Cutting Plane Algorithm for Support Vector Machines" (ICML 2008). The best w so far moves
to the exact minimum of P on the ray towards v, the solution of the reduced problem; the next plane touches the risk at
(1 - mu) w + mu v, a little beyond. A free b moves on the ray from the best for w to the best for v, and then to the
best for the new w. If P is lower at the point of the plane, with the best b there, that is the new best w.
"""

from __future__ import annotations

import numpy as np

from hinge.reference.contact import best_shift, touching
from hinge.reference.line_search import line_search
from hinge.reference.planes import PlaneMethod
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats, squared_norm


class Ocas(PlaneMethod):
    """One epoch adds one plane."""

    fields = (*PlaneMethod.fields, "margins")

    def __init__(self, problem: Problem, mu: float, patience: int, n_threads: int) -> None:
        super().__init__(problem, patience, n_threads)
        self.mu = mu
        self.margins: Floats = np.zeros(problem.m)  # t_i (w.x_i + b)

    def run_epoch(self) -> None:
        of_v, b_of_v = self._settled(self.margins_at(self.v))
        way = self.v - self.w
        k = line_search(self.margins, of_v, self.cost, float(self.w @ way), float(way @ way))
        self.w = self.w + k * way
        self.margins, shift = self._settled(self.margins + k * (of_v - self.margins))
        self.b += k * (b_of_v - self.b)
        self.b += shift
        self.primal = self._value()
        beyond = self.margins + self.mu * (of_v - self.margins)
        contact = touching(self.problem, beyond)
        there = self.w + self.mu * (self.v - self.w)
        lower = 0.5 * squared_norm(there) + contact.risk
        if self.problem.free_intercept and lower < self.primal:
            self.margins = beyond + np.array(self.problem.target) * contact.shift
            self.b += self.mu * (b_of_v - self.b) + contact.shift
            self.w, self.primal = there, lower
        self.solve_with(contact)

    def make_consistent(self) -> None:
        """Everything that follows from w and from the rows of the planes, computed anew."""
        self.rebuild_planes()
        self.margins, self.b = self._settled(self.margins_at(self.w))
        self.primal = self._value()

    def _settled(self, margins: Floats) -> tuple[Floats, float]:
        """(margins at the best b, by how much b has moved there)."""
        shift = best_shift(self.problem, margins)
        return margins + np.array(self.problem.target) * shift, shift

    def _value(self) -> float:
        """P(w, b)"""
        return float(0.5 * self.w @ self.w + self.cost @ np.maximum(0.0, 1.0 - self.margins))
