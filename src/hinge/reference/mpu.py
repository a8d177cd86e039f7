"""Margin perceptron with unlearning.

Panagiotakopoulos & Tsampouka, "The Margin Perceptron with Unlearning" (ICML 2010). Multipliers are multiples of a step,
a_k = h_k I_k with integer counts 0 <= I_k <= N and h_k = C_k / N. With q_k = |x_k|^2 and p = t_k (w.x_k + b), a visit
of row k::

    learns     if p <= 1 and I_k < N:           counts until p > 1
    unlearns   if p > 1 + h_k q_k and I_k > 0:  counts until p <= 1 + h_k q_k

One count learned changes sum_k (1 + h_k q_k / 2) a_k - |w|^2 / 2 by h_k (1 - p) >= 0, one unlearned by
h_k (p - 1 - h_k q_k) > 0: it ends. If no row moves, the gap is at most sum_k a_k h_k q_k. N doubles, and the
multipliers stay, whenever the gap of an epoch is within that (ours; the paper's step is fixed, and the run ends when no
row moves in an epoch over all rows: `refining` false).

A row at a bound that did not move, and whose margin is farther from 1 than those of the rows that moved in the epoch
before were on average, is left out for a while.

Free intercept: the method of multipliers, `hinge.reference.free_intercept`. q_k grows by kappa, so that h_k q_k is what
one count moves p by, b included.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference.algorithm import ActiveRows, Point, inside
from hinge.reference.free_intercept import FreeIntercept, Jump
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import squared_norm

MOST_COUNTS = 2**52  # all counts are exact in float64


class Mpu(FreeIntercept):
    """One epoch visits the active rows once. N is a power of two. kappa = 0 unless the intercept is free."""

    dtype: ClassVar[npt.DTypeLike] = np.float64
    fields = (
        *("N", "counts", "w", "b", "residue", "last_residue", "rate", *inside("at_work", ActiveRows.fields)),
        *("width", "gap", "reduced", "full_b", "dual", "rng"),
    )

    def __init__(self, problem: Problem, N: int, refining: bool, kappa: float, order: Order, rng: Rng) -> None:
        super().__init__(problem, kappa)
        self.refining = refining  # N doubles
        self.N = N  # counts that make up C_k
        self.order = order
        self.rng = rng
        self.counts = np.zeros(problem.m, dtype=np.int64)  # I_k
        self.w: npt.NDArray[Any] = np.zeros(problem.n_features + 1, dtype=self.dtype)
        self.at_work = ActiveRows(problem.m)
        self.width = math.inf  # a row at a bound leaves when its margin is farther from 1
        self.gap = math.inf  # estimate of the last epoch
        self.reduced = 0  # rows read since the last epoch over all rows
        self.full_b = 0.0  # b after the last epoch over all rows
        self.dual = 0.0  # D(a), tracked
        self.at_rest = False  # with a fixed step: no row has moved in the last epoch, which was over all rows

    def step(self, k: int) -> float:
        """h_k"""
        return self.problem.cost[k] / self.N

    def multiplier(self, k: int) -> float:
        """a_k = h_k I_k"""
        return self.step(k) * int(self.counts[k])

    def point(self) -> Point:
        b = self.b if self.problem.free_intercept else 0.0
        return np.array(self.w, dtype=np.float64), b, np.array([self.multiplier(k) for k in range(self.problem.m)])

    def estimate(self) -> tuple[float, float]:
        return self.dual + self.gap, self.dual

    def run_epoch(self) -> None:
        problem = self.problem
        visit = self.order.arrange(self.at_work.active, self.rng)
        leaving = set()
        share = 0.0  # P - D = sum_k gap_share_k, each term taken when its row is visited
        allowed = 0.0  # what the step may leave of it
        violation = 0.0  # |p - 1|, summed over the rows that moved
        n_moved = 0
        jump = Jump()
        for k in self.each(visit):
            count, a = int(self.counts[k]), self.multiplier(k)
            g = problem.target[k] * (problem.rows.dot(k, self.w) + self.b) - 1.0
            zone = self.step(k) * (problem.rows.squared_norm(k) + self.kappa)
            share += problem.loss.gap_share(a, g, problem.cost[k])
            allowed += a * zone
            due = counts_due(count, self.N, g, zone)
            if due != 0:
                self._move(k, g, due)
                violation += abs(g)
                n_moved += 1
                continue
            if (count == 0 and g > self.width) or (count == self.N and -g > self.width):
                leaving.add(k)
            if count < self.N:  # it learns when p falls to 1
                jump.add(-problem.target[k], g)
            if count > 0:  # and unlearns beyond the zone
                jump.add(problem.target[k], zone - g)
        full = self.at_work.full
        self.at_work.remove(leaving)
        self.width = violation / n_moved if n_moved > 0 else 0.0
        self.follow(jump if n_moved == 0 else None)
        self.gap = share + self.cost_of_residue()
        self._return_rows(full, len(visit), n_moved)
        if self.refining and share <= allowed:
            self._refine()
        self.at_rest = not self.refining and full and n_moved == 0 and self.kappa == 0.0

    def finished(self) -> bool:
        return self.at_rest

    def _move(self, k: int, g: float, due: int) -> None:
        rows, target, change = self.problem.rows, self.problem.target[k], self.step(k) * due
        rows.add(k, change * target, self.w)
        self.dual -= change * (g - target * self.b + 0.5 * change * rows.squared_norm(k))
        self.moved(change * target)
        self.counts[k] += due

    def _return_rows(self, full: bool, n_visited: int, n_moved: int) -> None:
        """All rows come back when the active ones are settled, when b has moved by half the mean violation, or when
        they have had as much work as two full epochs."""
        if full:
            self.at_work.full_gap, self.reduced, self.full_b = self.gap, 0, self.b
            return
        self.reduced += n_visited
        settled = self.at_work.settled(self.gap) or self.reduced >= 2 * self.problem.m
        if n_moved == 0:
            self._activate_all()
        elif settled or abs(self.b - self.full_b) > 0.5 * self.width:
            self._activate_all(ActiveRows.FAR_AGAIN * self.width)

    def _activate_all(self, farthest: float = math.inf) -> None:
        """Rows leave again if their margins are farther from 1 than `farthest`."""
        self.at_rest = False
        self.at_work.take_all()
        self.width = farthest

    def _refine(self) -> None:
        """Half the step, the same multipliers."""
        if self.N < MOST_COUNTS:
            self.N *= 2
            self.counts *= 2

    def make_consistent(self) -> None:
        """All rows come back, and what follows from the counts is computed anew."""
        w = np.zeros_like(self.w)
        residue = total = 0.0
        for k in np.flatnonzero(self.counts).tolist():
            self.problem.rows.add(k, self.multiplier(k) * self.problem.target[k], w)
            residue += self.multiplier(k) * self.problem.target[k]
            total += self.multiplier(k)
            self.ask_poll(k)
        self.w, self.residue = w, residue
        if not self.problem.free_intercept:
            self.b = 0.0
        self.dual = total - 0.5 * squared_norm(w)
        self._activate_all()


class MpuSingle(Mpu):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32


def counts_due(count: int, N: int, g: float, zone: float) -> int:
    """How many counts a row learns (negative: unlearns), with g = p - 1 and zone = h_k q_k. Rows of zeros learn all."""
    if g <= 0.0 and count < N:
        steps = -g / zone if zone > 0.0 else math.inf
        return math.floor(steps) + 1 if steps < N - count - 1 else N - count
    if g > zone and count > 0:
        steps = g / zone if zone > 0.0 else math.inf
        return -max(math.ceil(steps) - 1, 1) if steps <= count else -count
    return 0
