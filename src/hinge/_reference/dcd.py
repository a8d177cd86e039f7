"""Dual coordinate descent with shrinking.

Hsieh, Chang, Lin, Keerthi & Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM" (ICML 2008),
Algorithms 1 and 3. Maximise D(a) over 0 <= a_i <= C_i, one a_i at a time::

    g = y_i (w.x_i + b) - 1,    a_i <- clip(a_i - g / q_i, 0, C_i),    w += (change of a_i) y_i x_i

Free intercept: single coordinates cannot move along sum a_i y_i = 0, so the constraint is handled by the method of
multipliers. b is the multiplier; the penalty kappa/2 (sum a_i y_i)^2 acts like a constant feature sqrt(kappa):
q_i = |x_i|^2 + kappa, and b moves by kappa (change of a_i) y_i at each step, and by kappa sum a_i y_i after each epoch.
"""

from __future__ import annotations

import math

import numpy as np

from hinge._reference import face
from hinge._reference.order import Order
from hinge._reference.problem import Problem, squared_norm
from hinge._reference.rng import Rng

FEW = 1000  # rows: so few that steps on the face cost nothing
SETTLED = 0.1  # the active rows are settled when this part of the gap is left


class Dcd(face.DualIterate):
    """A run; one call of `run_epoch` visits the active rows once. kappa = 0 unless the intercept is free."""

    def __init__(self, problem: Problem, shrinking: bool, polish: bool, kappa: float, order: Order, rng: Rng) -> None:
        super().__init__(np.zeros(problem.m), np.zeros(problem.rows.n_features + 1))
        self.problem = problem
        self.shrinking = shrinking
        self.polish = polish
        self.kappa = kappa
        self.rate = 1.0  # of the multiplier b, relative to kappa
        self.order = order
        self.rng = rng
        self.last_residue = 0.0  # after the epoch before
        self.gap = math.inf  # estimate of the last epoch
        self.full_gap = math.inf  # of the last epoch over all rows
        self.full_b = 0.0  # b then
        self.credit = 0.0  # rows read since the last climb on the face
        self.activate_all()

    def activate_all(self) -> None:
        """Shrinking is a guess: all rows come back, and none leaves before the next epoch is over."""
        self.active = list(range(self.problem.m))  # ascending
        self.shrink_above = math.inf  # a row at a = 0 leaves when its gradient is above
        self.shrink_below = -math.inf  # a row at a = C leaves when its gradient is below

    def rebuild(self) -> None:
        """All rows come back, and what follows from the multipliers is computed anew: it may have drifted."""
        rows, y = self.problem.rows, self.problem.y
        self.w = np.zeros(rows.n_features + 1)
        self.residue = self.dual = 0.0
        if not self.problem.free_intercept:
            self.b = 0.0
        for i, a in enumerate(self.a.tolist()):
            if a != 0.0:
                rows.add(i, a * y[i], self.w)
                self.residue += a * y[i]
                self.dual += a
        self.dual -= 0.5 * squared_norm(self.w)
        self.activate_all()

    def run_epoch(self) -> None:
        visit = self.order.arrange(self.active, self.rng)
        leaving = set()
        highest, lowest = -math.inf, math.inf  # of the projected gradients
        share = 0.0  # P - D = sum_i (C_i max(0, -g_i) + a_i g_i), each term taken when its row is visited
        for i in visit:
            a, cost = float(self.a[i]), self.problem.cost[i]
            g = self.problem.y[i] * (self.problem.rows.dot(i, self.w) + self.b) - 1.0
            share += max(0.0, -cost * g) + a * g
            if self.shrinking and ((a == 0.0 and g > self.shrink_above) or (a == cost and g < self.shrink_below)):
                leaving.add(i)
                continue
            projected = min(g, 0.0) if a == 0.0 else max(g, 0.0) if a == cost else g
            highest, lowest = max(highest, projected), min(lowest, projected)
            if projected != 0.0:
                self._move(i, g)
        full = len(self.active) == self.problem.m
        self.active = [i for i in self.active if i not in leaving]
        self.shrink_above = highest if highest > 0.0 else math.inf
        self.shrink_below = lowest if lowest < 0.0 else -math.inf
        if self.kappa > 0.0:
            self._update_multiplier()
        self.gap = share + ((1.0 + abs(self.b)) * abs(self.residue) if self.kappa > 0.0 else 0.0)
        self._return_rows(full, max(highest, -lowest))
        if self.polish and visit:
            self._climb(visit)

    def _update_multiplier(self) -> None:
        """b follows the residue; one that changes its sign tells of a multiplier that overshoots."""
        self.rate = 0.5 * self.rate if self.residue * self.last_residue < 0.0 else min(1.0, 1.5 * self.rate)
        self.b += self.rate * self.kappa * self.residue
        self.last_residue = self.residue

    def _return_rows(self, full: bool, violation: float) -> None:
        """All rows come back when the active ones are settled, or when b has moved by half the largest violation."""
        if full:
            self.full_gap, self.full_b = self.gap, self.b
        elif self.gap <= SETTLED * self.full_gap or abs(self.b - self.full_b) > 0.5 * violation:
            self.activate_all()

    def _move(self, i: int, g: float) -> None:
        """The exact maximum along coordinate i."""
        rows, label, a, cost = self.problem.rows, self.problem.y[i], float(self.a[i]), self.problem.cost[i]
        q = rows.squared_norm(i) + self.kappa
        following = min(max(a - g / q, 0.0), cost) if q > 0.0 else cost
        change = following - a
        if change == 0.0:
            return
        rows.add(i, change * label, self.w)
        self.dual -= change * (g - label * self.b + 0.5 * change * rows.squared_norm(i))
        self.b += self.kappa * change * label
        self.residue += change * label
        self.a[i] = following

    def _climb(self, visit: list[int]) -> None:
        """A climb on the face of the free multipliers, once coordinate steps have done as much work as it takes."""
        m = self.problem.m
        self.credit += max(len(visit), min(m, 1000 + m // 8))
        f = sum(0.0 < self.a[i] < self.problem.cost[i] for i in self.active)
        if f == 0 or f > face.LARGEST:
            return
        # In units of one row's dot product, which costs about as much as reading 16 values more.
        per_row = sum(self.problem.rows.stored(i) for i in visit) / len(visit) + 16.0
        one_step = f + f * f * f / (3.0 * per_row)
        if self.credit >= 0.5 * f * f + one_step:
            affordable = 4.0 * self.credit / one_step
            at_least = min(f, 100.0) if m <= FEW else 1.0
            face.climb(self.problem, self, int(min(max(affordable, at_least), 400.0)))
            self.credit = 0.0
