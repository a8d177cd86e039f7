"""Margin perceptron with unlearning.

Panagiotakopoulos & Tsampouka, "The Margin Perceptron with Unlearning" (ICML 2010). Multipliers are multiples of a step,
a_k = h_k I_k with integer counts 0 <= I_k <= N and h_k = C_k / N. With q_k = |x_k|^2 and p = t_k w.x_k, a visit of row
k::

    learns     if p <= 1 and I_k < N:           counts until p > 1
    unlearns   if p > 1 + h_k q_k and I_k > 0:  counts until p <= 1 + h_k q_k

One count learned changes sum_k (1 + h_k q_k / 2) a_k - |w|^2 / 2 by h_k (1 - p) >= 0, one unlearned by
h_k (p - 1 - h_k q_k) > 0: it ends. If no row moves, the gap is at most sum_k a_k h_k q_k. N doubles, and the
multipliers stay, whenever the gap of an epoch is within that.

A row at a bound that did not move, and whose margin is farther from 1 than those of the rows that moved in the epoch
before were on average, is left out for a while.
"""

from __future__ import annotations

import math

import numpy as np

from hinge.reference.algorithm import ActiveRows, Algorithm, Point, inside
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import Floats, squared_norm

MOST_COUNTS = 2**52  # all counts are exact in float64


class Mpu(Algorithm):
    """One epoch visits the active rows once. N is a power of two."""

    fields = ("N", "counts", "w", *inside("at_work", ActiveRows.fields), "width", "gap", "reduced", "dual", "rng")

    def __init__(self, problem: Problem, N: int, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.N = N  # counts that make up C_k
        self.order = order
        self.rng = rng
        self.counts = np.zeros(problem.m, dtype=np.int64)  # I_k
        self.w: Floats = np.zeros(problem.n_features + 1)
        self.at_work = ActiveRows(problem.m)
        self.width = math.inf  # a row at a bound leaves when its margin is farther from 1
        self.gap = math.inf  # estimate of the last epoch
        self.reduced = 0  # rows read since the last epoch over all rows
        self.dual = 0.0  # D(a), tracked

    def step(self, k: int) -> float:
        """h_k"""
        return self.problem.cost[k] / self.N

    def multiplier(self, k: int) -> float:
        """a_k = h_k I_k"""
        return self.step(k) * int(self.counts[k])

    def point(self) -> Point:
        return self.w.copy(), 0.0, np.array([self.multiplier(k) for k in range(self.problem.m)])

    def estimate(self) -> tuple[float, float]:
        return self.dual + self.gap, self.dual

    def run_epoch(self) -> None:
        problem = self.problem
        visit = self.order.arrange(self.at_work.active, self.rng)
        leaving = set()
        share = 0.0  # P - D = sum_k gap_share_k, each term taken when its row is visited
        allowed = 0.0  # what the step may leave of it
        violation = 0.0  # |p - 1|, summed over the rows that moved
        moved = 0
        for k in self.each(visit):
            count, a = int(self.counts[k]), self.multiplier(k)
            g = problem.target[k] * problem.rows.dot(k, self.w) - 1.0
            zone = self.step(k) * problem.rows.squared_norm(k)
            share += problem.loss.gap_share(a, g, problem.cost[k])
            allowed += a * zone
            due = counts_due(count, self.N, g, zone)
            if due != 0:
                self._move(k, g, due)
                violation += abs(g)
                moved += 1
            elif (count == 0 and g > self.width) or (count == self.N and -g > self.width):
                leaving.add(k)
        full = self.at_work.full
        self.at_work.remove(leaving)
        self.width = violation / moved if moved > 0 else 0.0
        self.gap = share
        self._return_rows(full, len(visit), moved)
        if share <= allowed:
            self._refine()

    def _move(self, k: int, g: float, due: int) -> None:
        rows, change = self.problem.rows, self.step(k) * due
        rows.add(k, change * self.problem.target[k], self.w)
        self.dual -= change * (g + 0.5 * change * rows.squared_norm(k))
        self.counts[k] += due

    def _return_rows(self, full: bool, n_visited: int, moved: int) -> None:
        """All rows come back when the active ones are settled, or have had as much work as two full epochs."""
        if full:
            self.at_work.full_gap, self.reduced = self.gap, 0
            return
        self.reduced += n_visited
        if moved == 0 or self.at_work.settled(self.gap) or self.reduced >= 2 * self.problem.m:
            self._activate_all()

    def _activate_all(self) -> None:
        """None leaves before the next epoch is over."""
        self.at_work.take_all()
        self.width = math.inf

    def _refine(self) -> None:
        """Half the step, the same multipliers."""
        if self.N < MOST_COUNTS:
            self.N *= 2
            self.counts *= 2

    def make_consistent(self) -> None:
        """All rows come back, and what follows from the counts is computed anew."""
        w = np.zeros_like(self.w)
        total = 0.0
        for k in np.flatnonzero(self.counts).tolist():
            self.problem.rows.add(k, self.multiplier(k) * self.problem.target[k], w)
            total += self.multiplier(k)
            self.ask_poll(k)
        self.w = w
        self.dual = total - 0.5 * squared_norm(w)
        self._activate_all()


def counts_due(count: int, N: int, g: float, zone: float) -> int:
    """How many counts a row learns (negative: unlearns), with g = p - 1 and zone = h_k q_k. Rows of zeros learn all."""
    if g <= 0.0 and count < N:
        steps = -g / zone if zone > 0.0 else math.inf
        return math.floor(steps) + 1 if steps < N - count - 1 else N - count
    if g > zone and count > 0:
        steps = g / zone if zone > 0.0 else math.inf
        return -max(math.ceil(steps) - 1, 1) if steps <= count else -count
    return 0
