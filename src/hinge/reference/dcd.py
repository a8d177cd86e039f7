"""Dual coordinate descent with shrinking.

Hsieh, Chang, Lin, Keerthi & Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM" (ICML 2008),
Algorithms 1 and 3. Maximise D(a) over 0 <= a_i <= box_i, one a_i at a time::

    g = t_i (w.x_i + b) - 1 + diagonal_i a_i,   a_i <- clip(a_i - g / q_i, 0, box_i),   w += (change of a_i) t_i x_i

Box and diagonal are those of the loss: C_i and 0 for the hinge, none and 1 / (2 C_i) for its square;
q_i = |x_i|^2 + diagonal_i.

Shrinking: a row at a bound is left out for a while if its gradient is larger than a quarter of what projected gradients
were on average in the last epoch. All rows come back when the gap of those at work is small; those that are still far
away leave again at once. With eps > 0 it is the rule of the paper and of liblinear: gradients are compared with the
extreme ones of the last epoch, and when these lie within eps of each other, all rows come back and the extremes are
forgotten, or the run ends if none was left out.

Free intercept: the method of multipliers, `hinge.reference.free_intercept`. q_i grows by kappa.

Batches: the products of several rows may be computed before the first of them moves; they are even computed before the
rows of the batch before have moved. Each row then makes its best step as if it were alone.

Polish: now and then all free multipliers move at once (`hinge.reference.face`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from hinge.reference import face
from hinge.reference.algorithm import ActiveRows, Point
from hinge.reference.free_intercept import Jump
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import squared_norm

FAR = 0.25  # rows leave beyond this share of the mean projected gradient
LEAST_BATCHES = 64  # an epoch of fewer is done row by row
ROUNDING = 1e-12  # of D: what rounding can make of an epoch in which nothing moves

# What a climb on the face costs, in units of one row's dot product; dcd.hpp says why.
FEW = 1000  # rows of a problem so small that steps on the face cost nothing
SHARE = 0.5  # of the work of coordinate steps that a climb on the face may cost, on larger problems
VALUES_PER_ROW = 16.0  # a dot product costs as much as reading so many values more than the row has
ALWAYS = 100.0  # steps that a small problem may take whatever they cost


class Dcd(face.DualIterate):
    """One epoch visits the active rows once. kappa = 0 unless the intercept is free."""

    fields = (
        *("a", "w", "b", "residue", "last_residue", "rate", "at_work.active", "shrink_above", "shrink_below", "gap"),
        *("at_work.full_gap", "full_b", "dual", "summit", "credit", "overshot", "rng"),
    )

    def __init__(
        self,
        problem: Problem,
        shrinking: bool,
        polish: bool,
        eps: float,
        kappa: float,
        batch: int,
        order: Order,
        rng: Rng,
        n_threads: int = 1,
    ) -> None:
        super().__init__(problem, kappa)
        self.shrinking = shrinking
        self.polish = polish
        self.eps = eps  # 0: rows come back by the gap
        self.batch = batch
        self.order = order
        self.rng = rng
        self.at_work = ActiveRows(problem.m)
        self.shrink_above = math.inf  # a row at a = 0 leaves when its gradient is above
        self.shrink_below = -math.inf  # a row at a = box leaves when its gradient is below
        self.gap = math.inf  # estimate of the last epoch
        self.full_b = 0.0  # b after the last epoch over all rows
        self.credit = 0.0  # what a climb on the face may cost, in rows
        self.overshot = False  # batches did: one row at a time from then on
        self.within_eps = False  # the projected gradients of all rows are

    def point(self) -> Point:
        return self.w.copy(), self.b if self.problem.free_intercept else 0.0, self.a.copy()

    def estimate(self) -> tuple[float, float]:
        return self.dual + self.gap, self.dual

    def run_epoch(self) -> None:
        rows, target, cost, loss = self.problem.rows, self.problem.target, self.problem.cost, self.problem.loss
        visit = self.order.arrange(self.at_work.active, self.rng)
        leaving = set()
        highest, lowest = -math.inf, math.inf  # of the projected gradients
        violation, n_moved = 0.0, 0  # the sum of their absolute values, and how many are not zero
        share = 0.0  # P - D = sum_i gap_share_i, each term taken when its row is visited
        gained = 0.0  # D without -|w|^2 / 2
        jump = Jump()
        batch = 1 if self.overshot or len(visit) < LEAST_BATCHES * self.batch else self.batch
        before = self.dual, 0.5 * squared_norm(self.w), self.residue, self.b
        try:
            for i, product in self._products(visit, batch):
                a, box = float(self.a[i]), self.problem.box(i)
                decision = rows.with_constant(product, self.w) + self.b
                g = target[i] * decision - 1.0 + loss.diagonal(cost[i]) * a
                share += loss.gap_share(a, g, cost[i])
                if self.shrinking and ((a == 0.0 and g > self.shrink_above) or (a == box and g < self.shrink_below)):
                    leaving.add(i)
                    continue
                projected = min(g, 0.0) if a == 0.0 else max(g, 0.0) if a == box else g
                highest, lowest = max(highest, projected), min(lowest, projected)
                if projected != 0.0:
                    violation, n_moved = violation + abs(projected), n_moved + 1
                    gained += self._move(i, g)
                else:
                    jump.add(-target[i] if a == 0.0 else target[i], abs(g))
        finally:  # also when the poll has ended it: D must be that of the multipliers
            if batch > 1:
                self._compare(*before, gained)
        full = self.at_work.full
        self.at_work.remove(leaving)
        self.follow(jump if highest <= 0.0 <= lowest else None)
        self.gap = share + self.cost_of_residue()
        if self.eps > 0.0:
            self._shrink_beyond(highest if highest > 0.0 else math.inf, lowest if lowest < 0.0 else -math.inf)
            self._return_rows_within_eps(full, highest - lowest)
        else:
            width = FAR * violation / n_moved if n_moved > 0 else math.inf
            self._shrink_beyond(width, -width)
            self._return_rows(full, max(highest, -lowest))
        if self.polish and visit:
            self._climb(visit)

    def _products(self, visit: list[int], batch: int) -> Iterator[tuple[int, float]]:
        """Each row with its product: with w as it is or, in batches, as it was two batches ago."""
        rows, waiting = self.problem.rows, list[tuple[int, float]]()
        if batch == 1:
            for i in self.each(visit):
                yield i, rows.product(i, self.w)
            return
        for begin in range(0, len(visit), batch):
            ready = [(i, rows.product(i, self.w)) for i in self.each(visit[begin : begin + batch])]
            yield from waiting
            waiting = ready
        yield from waiting

    def _compare(self, dual: float, half_norm: float, residue: float, b: float, gained: float) -> None:
        """D after an epoch of batches, and whether what coordinate steps climb has fallen: D - beta s - kappa/2 s^2,
        with s the residue and beta = b - kappa s before the epoch."""
        self.dual = dual + gained + (half_norm - 0.5 * squared_norm(self.w))
        beta = b - self.kappa * residue
        penalty = 0.5 * self.kappa * (self.residue * self.residue - residue * residue)
        rise = self.dual - dual - beta * (self.residue - residue) - penalty
        self.overshot = rise < -ROUNDING * self.dual

    def _move(self, i: int, g: float) -> float:
        """The exact maximum along coordinate i. Returns what D gains but for -|w|^2 / 2."""
        rows, target, a = self.problem.rows, self.problem.target[i], float(self.a[i])
        diagonal, box = self.problem.loss.diagonal(self.problem.cost[i]), self.problem.box(i)
        q = rows.squared_norm(i) + self.kappa + diagonal
        following = min(max(a - g / q, 0.0), box) if q > 0.0 else box
        change = following - a
        if change == 0.0:
            return 0.0
        rows.add(i, change * target, self.w)
        self.dual -= change * (g - target * self.b + 0.5 * change * (rows.squared_norm(i) + diagonal))
        self.moved(change * target)
        self.a[i] = following
        penalty = self.problem.loss.dual_penalty
        return change - (penalty(following, self.problem.cost[i]) - penalty(a, self.problem.cost[i]))

    def _shrink_beyond(self, highest: float, lowest: float) -> None:
        self.shrink_above, self.shrink_below = highest, lowest

    def _return_rows(self, full: bool, violation: float) -> None:
        """All rows come back when the active ones are settled, or when b has moved by half the largest violation."""
        if full:
            self.at_work.full_gap, self.full_b = self.gap, self.b
        elif self.at_work.settled(self.gap) or abs(self.b - self.full_b) > 0.5 * violation:
            self.at_work.take_all()
            self._shrink_beyond(ActiveRows.FAR_AGAIN * self.shrink_above, ActiveRows.FAR_AGAIN * self.shrink_below)

    def _return_rows_within_eps(self, full: bool, spread: float) -> None:
        """All rows come back, or the run ends, when the projected gradients are this close."""
        self.within_eps = full and spread <= self.eps
        if not full and spread <= self.eps:
            self.at_work.take_all()
            self._shrink_beyond(math.inf, -math.inf)

    def finished(self) -> bool:
        return self.within_eps

    def make_consistent(self) -> None:
        """All rows come back, multipliers into their box, and what follows from them is computed anew."""
        self.recompute()
        if not self.problem.free_intercept:
            self.b = 0.0
        if self.eps == 0.0:
            self.at_work.take_all()

    def _climb(self, visit: list[int]) -> None:
        """A climb on the face of the free multipliers, once coordinate steps have earned it."""
        m = self.problem.m
        self.credit += m if m <= FEW else SHARE * len(visit)
        f = sum(self.is_free(i) for i in self.at_work.active)
        if f == 0 or f > face.LARGEST:
            return
        per_row = sum(self.problem.rows.stored(i) for i in visit) / len(visit) + VALUES_PER_ROW
        one_step = f + f * f * f / (3.0 * per_row)  # r, and the Cholesky factor
        if self.credit >= 0.5 * f * f + one_step:  # f^2 / 2: half of K, which is symmetric
            affordable = self.credit / one_step
            at_least = min(f, ALWAYS) if m <= FEW else 1.0
            face.climb(self, int(min(max(affordable, at_least), face.LARGEST)))
            self.credit = 0.0
