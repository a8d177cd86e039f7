"""OCAS: the optimised cutting-plane algorithm.

Franc & Sonnenburg, "Optimized Cutting Plane Algorithm for Support Vector Machines" (ICML 2008). The best w so far moves
to the exact minimum of P on the ray towards v, the solution of the reduced problem; the next plane touches the risk at
(1 - mu) w + mu v, a little beyond.
"""

from __future__ import annotations

import numpy as np

from hinge._reference.line_search import line_search
from hinge._reference.planes import PlaneMethod, dot
from hinge._reference.problem import Problem, squared_norm
from hinge._reference.rows import Floats, interleaved_sum


class Ocas(PlaneMethod):
    """A run; one call of `run_epoch` adds one plane."""

    def __init__(self, problem: Problem, mu: float, patience: int) -> None:
        super().__init__(problem, patience)
        self.mu = mu
        self.margins = np.zeros(problem.m)  # y_i w.x_i

    def run_epoch(self) -> None:
        of_v = self._margins(self.v)
        way = self.v - self.w
        k = line_search(self.margins, of_v, self.cost, dot(self.w, way), dot(way, way))
        self.w = self.w + k * way
        self.margins = self.margins + k * (of_v - self.margins)
        beyond = self.margins + self.mu * (of_v - self.margins)
        self.primal = self._value()
        self._cut.move(beyond < 1.0)
        self._solve_with_cut(interleaved_sum(np.where(beyond < 1.0, self.cost, 0.0), 8))

    def rebuild(self) -> None:
        """Everything that follows from w and from the rows of the planes, computed anew."""
        self._rebuild_planes()
        self.margins = self._margins(self.w)
        self.primal = self._value()

    def _margins(self, at: Floats) -> Floats:
        return np.array([y * self.problem.rows.dot(i, at) for i, y in enumerate(self.problem.y)])

    def _value(self) -> float:
        """P(w)"""
        loss = self.cost * np.maximum(0.0, 1.0 - self.margins)
        return 0.5 * squared_norm(self.w) + interleaved_sum(loss, 8)
