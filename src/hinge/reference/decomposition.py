"""The dual of a kernel machine, and steps on working sets of many rows.

In signed multipliers alpha_i = a_i t_i between lower_i and upper_i::

    f(x) = sum_i alpha_i k(x_i, x) + b
    g_i = dD / dalpha_i = t_i - z_i - d_i alpha_i,   z_i = sum_j alpha_j K_ij
    d_i = 0 for the hinge, 1 / (2 C_i) for its square

With a free intercept sum_i alpha_i = 0, and a pair moves at a time: alpha_i rises, alpha_j falls by the same. It
violates the conditions of optimality by g_i - g_j if i can rise, j can fall and that is positive.

A step of the decomposition (Joachims 1999)::

    1. chooses the working set: rows of the last one that are strictly inside their bounds, up to half of it, then in
       turn the rows that can rise with the largest g, and those that can fall with the smallest
    2. takes their kernel rows
    3. solves the dual on them to a tenth of the violation, by pairs of second order (Fan, Chen & Lin 2005)
    4. updates g of all rows
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hinge.reference.kernel import Kernel, KernelRows, kernel_sums
from hinge.reference.loss import slack
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats, total

FLAT = 1e-12  # a curvature below this share of the diagonal is rounding: the rows are the same
INNER_TOLERANCE = 0.1
INNER_STEPS = 50  # for each row of the set


class KernelDual:
    """alpha and its derivatives g, where these are known."""

    def __init__(self, problem: Problem, kernel: Kernel) -> None:
        self.problem = problem
        self.kernel = kernel
        self.rows = KernelRows(kernel, problem.rows)
        self.alpha: Floats = np.zeros(problem.m)
        self.g: Floats = np.array(problem.target)
        box = np.array([problem.box(i) for i in range(problem.m)])
        target = np.array(problem.target)
        self.lower = np.where(target < 0.0, -box, 0.0)
        self.upper = np.where(target > 0.0, box, 0.0)
        self.diagonal = np.array([problem.loss.diagonal(c) for c in problem.cost])
        self.curvature = np.array([kernel.diagonal(problem.rows, i) for i in range(problem.m)]) + self.diagonal

    def can_rise(self, i: int) -> bool:
        return bool(self.alpha[i] < self.upper[i])

    def can_fall(self, i: int) -> bool:
        return bool(self.alpha[i] > self.lower[i])

    def extremes(self, rows: Iterable[int]) -> tuple[int | None, int | None]:
        """The row with the largest g of those that can rise, and the one with the smallest of those that can fall."""
        rows = list(rows)
        rising = [s for s in rows if self.can_rise(s)]
        falling = [s for s in rows if self.can_fall(s)]
        return max(rising, key=self.g.__getitem__, default=None), min(falling, key=self.g.__getitem__, default=None)

    def single_step(self, i: int) -> float:
        """How far alpha_i goes alone: to the largest D, or to its bound."""
        args = (float(x[i]) for x in (self.alpha, self.g, self.curvature, self.lower, self.upper))
        return single_step(*args)

    def decisions(self) -> Floats:
        """z, where g is known for all rows."""
        return np.array(self.problem.target) - self.g - self.diagonal * self.alpha

    def intercept(self) -> float:
        """b of LASVM, half way between the extremes of g: at the optimum every b between them is best."""
        i, j = self.extremes(range(self.problem.m))
        known = self.problem.free_intercept and i is not None and j is not None
        return 0.5 * float(self.g[i] + self.g[j]) if known else 0.0

    def objective(self, b: float) -> tuple[float, float]:
        """(P at (alpha, b), D), roughly."""
        target, cost, loss = self.problem.target, self.problem.cost, self.problem.loss
        z = self.decisions().tolist()
        a = (self.alpha * np.array(target)).tolist()
        half = total(0.5 * v * z_i for v, z_i in zip(self.alpha.tolist(), z, strict=True))
        terms = total(a_i - loss.dual_penalty(a_i, c) for a_i, c in zip(a, cost, strict=True))
        losses = total(c * loss.value(slack(t, z_i + b)) for c, t, z_i in zip(cost, target, z, strict=True))
        return half + losses, terms - half

    def make_feasible(self) -> None:
        """Into the box, and into balance if b is free: for multipliers of another problem."""
        self.alpha = np.nan_to_num(np.minimum(np.maximum(self.alpha, self.lower), self.upper), nan=0.0)
        sides = [np.array(self.problem.target) * side > 0.0 for side in (-1.0, 1.0)]
        sums = [total(np.abs(self.alpha[side]).tolist()) for side in sides]
        if not self.problem.free_intercept or sums[0] == sums[1]:
            return
        for side, own in zip(sides, sums, strict=True):
            if own > min(sums):
                self.alpha[side] *= min(sums) / own

    def recompute(self) -> None:
        """g of all rows, in double precision."""
        z = kernel_sums(self.kernel, self.problem.rows, self.alpha)
        self.g = np.array(self.problem.target) - z - self.diagonal * self.alpha


class Decomposition:
    """Working sets of `size` rows."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows_at_work = array("q")
        self.violation = 0.0

    def choose(self, dual: KernelDual) -> bool:
        """1. False if no row violates the conditions of optimality."""
        inside = [i for i in self.rows_at_work if dual.can_rise(i) and dual.can_fall(i)]
        rising, falling = self._pairs(dual) if dual.problem.free_intercept else self._singles(dual)
        self.rows_at_work = array("q")
        if not self.violation > 0.0:
            return False
        most = max(0, min(self.size // 2, self.size - 2))  # the most violating pair must find room
        chosen = dict.fromkeys(inside[:most])  # in order, each once
        for k in range(max(len(rising), len(falling))):
            for candidates in (rising, falling):
                if k < len(candidates) and len(chosen) < self.size:
                    chosen[candidates[k]] = None
        self.rows_at_work = array("q", chosen)
        return True

    def _pairs(self, dual: KernelDual) -> tuple[list[int], list[int]]:
        everybody = range(dual.problem.m)
        i, j = dual.extremes(everybody)
        if i is None or j is None:
            self.violation = 0.0
            return [], []
        high, low = float(dual.g[i]), float(dual.g[j])
        self.violation = high - low
        rising = {k: float(dual.g[k]) - low for k in everybody if dual.can_rise(k) and dual.g[k] > low}
        falling = {k: high - float(dual.g[k]) for k in everybody if dual.can_fall(k) and dual.g[k] < high}
        return self._worst(rising), self._worst(falling)

    def _singles(self, dual: KernelDual) -> tuple[list[int], list[int]]:
        moving = {k: abs(float(dual.g[k])) for k in range(dual.problem.m) if dual.single_step(k) != 0.0}
        self.violation = max(moving.values(), default=0.0)
        return self._worst(moving), []

    def _worst(self, violations: dict[int, float]) -> list[int]:
        return sorted(violations, key=lambda k: (-violations[k], k))[: self.size]

    def step(self, dual: KernelDual) -> None:
        """2., 3. and 4."""
        chosen = np.array(self.rows_at_work)
        kernel_rows = [dual.rows.row(i) for i in self.rows_at_work]
        Q = np.array([row[chosen] for row in kernel_rows])
        np.fill_diagonal(Q, dual.curvature[chosen])
        small = WorkingSet(dual.alpha[chosen], dual.lower[chosen], dual.upper[chosen], dual.g[chosen], Q)
        solve = small.solve_balanced if dual.problem.free_intercept else small.solve_single
        solve(INNER_TOLERANCE * self.violation, INNER_STEPS * self.size)
        change = small.alpha - dual.alpha[chosen]
        dual.alpha[chosen] = small.alpha
        dual.g[chosen] -= change * dual.diagonal[chosen]
        for by, row in zip(change.tolist(), kernel_rows, strict=True):
            if by != 0.0:
                dual.g -= by * row


class WorkingSet:
    """The dual on a few rows."""

    def __init__(self, alpha: Floats, lower: Floats, upper: Floats, g: Floats, Q: Floats) -> None:
        self.alpha, self.lower, self.upper, self.g, self.Q = alpha, lower, upper, g, Q

    def solve_balanced(self, tolerance: float, limit: int) -> None:
        """Steps of pairs until none violates by more than `tolerance`: i has the largest g, j the largest gain with
        it."""
        for _ in range(limit):
            rising, falling = np.flatnonzero(self.alpha < self.upper), np.flatnonzero(self.alpha > self.lower)
            if not rising.size or not falling.size:
                return
            i = int(rising[np.argmax(self.g[rising])])
            difference = self.g[i] - self.g[falling]
            gains = np.where(difference > 0.0, difference * difference / self._curvature(i, falling), 0.0)
            if not gains.max() > 0.0 or not self.g[i] - self.g[falling].min() > tolerance:
                return
            j = int(falling[np.argmax(gains)])
            step, self.alpha[i], self.alpha[j] = pair_step(
                float(self.g[i] - self.g[j]),
                float(self._curvature(i, np.array([j]))[0]),
                *(float(x) for x in (self.alpha[i], self.upper[i], self.alpha[j], self.lower[j])),
            )
            self.g -= step * (self.Q[i] - self.Q[j])

    def _curvature(self, i: int, others: npt.NDArray[np.int64]) -> Floats:
        diagonals = self.Q[i, i] + self.Q[others, others]
        return np.asarray(np.maximum(diagonals - 2.0 * self.Q[i, others], FLAT * diagonals))

    def solve_single(self, tolerance: float, limit: int) -> None:
        """Steps of single rows, those with the largest gain."""
        for _ in range(limit):
            steps = np.array([self._single(k) for k in range(self.alpha.size)])
            gains = steps * (self.g - 0.5 * steps * np.diagonal(self.Q))
            best = int(np.argmax(gains))
            if not gains[best] > 0.0 or not np.max(np.abs(self.g), where=steps != 0.0, initial=0.0) > tolerance:
                return
            moved = float(self.alpha[best] + steps[best])
            self.alpha[best] = min(max(moved, float(self.lower[best])), float(self.upper[best]))
            self.g -= steps[best] * self.Q[best]

    def _single(self, k: int) -> float:
        return single_step(*(float(x) for x in (self.alpha[k], self.g[k], self.Q[k, k], self.lower[k], self.upper[k])))


def single_step(alpha: float, g: float, q: float, lower: float, upper: float) -> float:
    """How far a multiplier goes alone: to the largest D, or to its bound."""
    bound = upper if g > 0.0 else lower if g < 0.0 else alpha
    wanted = alpha + g / q if q > 0.0 else bound
    return min(max(wanted, lower), upper) - alpha


def pair_step(
    difference: float, curvature: float, alpha_i: float, upper_i: float, alpha_j: float, lower_j: float
) -> tuple[float, float, float]:
    """(how far a pair goes, alpha_i, alpha_j): to the largest D, or to the first bound, exactly there."""
    rise, fall = upper_i - alpha_i, alpha_j - lower_j
    step = min(difference / curvature if curvature > 0.0 else math.inf, rise, fall)
    return step, upper_i if step == rise else alpha_i + step, lower_j if step == fall else alpha_j - step
