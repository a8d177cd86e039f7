"""Margin perceptron with unlearning.

Panagiotakopoulos & Tsampouka, "The Margin Perceptron with Unlearning" (ICML 2010). Multipliers are multiples of a step,
a_k = h_k I_k with integer counts 0 <= I_k <= N and h_k = C_k / N. With q_k = |x_k|^2 and p = y_k w.x_k, a visit of row
k::

    learns     if p <= 1 and I_k < N:           counts until p > 1
    unlearns   if p > 1 + h_k q_k and I_k > 0:  counts until p <= 1 + h_k q_k

One count learned changes sum_k (1 + h_k q_k / 2) a_k - |w|^2 / 2 by h_k (1 - p) >= 0, one unlearned by
h_k (p - 1 - h_k q_k) > 0: it ends. If no row moves, the gap is at most sum_k a_k h_k q_k. N doubles, and the
multipliers stay, whenever the gap of an epoch is within that.
"""

from __future__ import annotations

import math

import numpy as np

from hinge._reference.order import Order
from hinge._reference.problem import Problem, squared_norm
from hinge._reference.rng import Rng
from hinge._reference.rows import Floats

MOST_COUNTS = 2**52
SETTLED = 0.1  # the active rows are settled when this part of the gap is left


class Mpu:
    """A run; one call of `run_epoch` visits the active rows once. N is a power of two."""

    def __init__(self, problem: Problem, N: int, order: Order, rng: Rng) -> None:
        self.problem = problem
        self.N = N
        self.order = order
        self.rng = rng
        self.counts = np.zeros(problem.m, dtype=np.int64)  # I_k
        self.w: Floats = np.zeros(problem.rows.n_features + 1)
        self.gap = math.inf  # estimate of the last epoch
        self.full_gap = math.inf  # of the last epoch over all rows
        self.reduced = 0  # rows read since then
        self.dual = 0.0  # D(a), tracked
        self.activate_all()

    def activate_all(self) -> None:
        """The active set is a guess: all rows come back, and none leaves before the next epoch is over."""
        self.active = list(range(self.problem.m))  # ascending
        self.width = math.inf  # a row at a bound leaves when its margin is farther from 1

    def rebuild(self) -> None:
        """All rows come back, and what follows from the counts is computed anew: it may have drifted."""
        self.w = np.zeros(self.problem.rows.n_features + 1)
        self.dual = 0.0
        for k, a in enumerate(self.multipliers().tolist()):
            if a != 0.0:
                self.problem.rows.add(k, a * self.problem.y[k], self.w)
                self.dual += a
        self.dual -= 0.5 * squared_norm(self.w)
        self.activate_all()

    def step(self, k: int) -> float:
        """h_k"""
        return self.problem.cost[k] / self.N

    def multipliers(self) -> Floats:
        """a_k = h_k I_k"""
        return np.array([self.step(k) * count for k, count in enumerate(self.counts.tolist())])

    def run_epoch(self) -> None:
        visit = self.order.arrange(self.active, self.rng)
        leaving = set()
        share = 0.0  # P - D = sum_k (C_k max(0, -g_k) + a_k g_k), each term taken when its row is visited
        allowed = 0.0  # what the step may leave of it
        violations = []  # |p - 1| of the rows that moved
        for k in visit:
            count = int(self.counts[k])
            g = self.problem.y[k] * self.problem.rows.dot(k, self.w) - 1.0
            a = self.step(k) * count
            zone = self.step(k) * self.problem.rows.squared_norm(k)
            share += max(0.0, -self.problem.cost[k] * g) + a * g
            allowed += a * zone
            due = counts_due(count, self.N, g, zone)
            if due != 0:
                self._move(k, g, due)
                violations.append(abs(g))
            elif (count == 0 and g > self.width) or (count == self.N and -g > self.width):
                leaving.add(k)
        full = len(self.active) == self.problem.m
        self.active = [k for k in self.active if k not in leaving]
        self.width = sum(violations) / len(violations) if violations else 0.0
        self.gap = share
        self._return_rows(full, len(visit), len(violations))
        if share <= allowed:
            self._refine()

    def _move(self, k: int, g: float, due: int) -> None:
        rows, change = self.problem.rows, self.step(k) * due
        rows.add(k, change * self.problem.y[k], self.w)
        self.dual -= change * (g + 0.5 * change * rows.squared_norm(k))
        self.counts[k] += due

    def _return_rows(self, full: bool, n_visited: int, moved: int) -> None:
        """All rows come back when the active ones are settled, or have had as much work as two full epochs."""
        if full:
            self.full_gap, self.reduced = self.gap, 0
            return
        self.reduced += n_visited
        if moved == 0 or self.gap <= SETTLED * self.full_gap or self.reduced >= 2 * self.problem.m:
            self.activate_all()

    def _refine(self) -> None:
        """Half the step, the same multipliers."""
        if self.N < MOST_COUNTS:
            self.N *= 2
            self.counts *= 2


def counts_due(count: int, N: int, g: float, zone: float) -> int:
    """How many counts a row learns (negative: unlearns), with g = p - 1 and zone = h_k q_k. Rows of zeros learn all."""
    if g <= 0.0 and count < N:
        return min(N - count, math.floor(-g / zone) + 1) if zone > 0.0 else N - count
    if g > zone and count > 0:
        return -min(count, max(math.ceil(g / zone) - 1, 1))
    return 0
