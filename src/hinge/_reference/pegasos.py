"""Pegasos: primal estimated sub-gradient solver for SVM.

Shalev-Shwartz, Singer & Srebro (ICML 2007); Rupnik, "Stochastic subgradient approach for solving linear SVMs".
Minimises lambda/2 |w|^2 + mean hinge, that is lambda P. Step t = 1, 2, ...::

    1. choose A_t, k rows
    2. A_t+ = rows of A_t with y (w.x + b) < 1                       (strict: a margin of exactly 1 is no loss)
    3. w <- (1 - 1/t) w + eta_t/k sum over A_t+ of s^_i y_i x_i,   eta_t = 1/(lambda t)
    4. w <- min(1, 1/(sqrt(lambda) |w|)) w                           (optional)

w = scale * v = scale * sum_i c_i y_i x_i, so that shrinking and projection cost O(1). At t = 1 the factor 1 - 1/t is
exactly 0: the start is erased, except through the choice of the first violators, and v begins anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from hinge._reference.objective import best_intercept
from hinge._reference.order import Order, draws
from hinge._reference.problem import Problem, squared_norm
from hinge._reference.rng import Rng
from hinge._reference.rows import Floats


@dataclass(frozen=True)
class PegasosOptions:
    """`bias`: "none" (or a constant feature, through the rows), free by "subgradient" steps, or free and "exact"."""

    k: int = 1
    sampling: Literal["iid", "epoch"] = "iid"
    projection: bool = True
    advance_without_loss: bool = True  # False: a step without loss changes nothing, t included
    bias: Literal["none", "subgradient", "exact"] = "none"
    output: Literal["last", "average", "random"] = "last"
    random_start: bool = False


class Violator(NamedTuple):
    row: int
    z: float  # w.x before the step
    fraction: float  # of its relative weight: 1, or less on the margin of an exact intercept


class Pegasos:
    """A run; one call of `run_epoch` takes about m rows, k a step."""

    def __init__(self, problem: Problem, options: PegasosOptions, order: Order, rng: Rng) -> None:
        self.problem = problem
        self.options = options
        self.order = order
        self.rng = rng
        self.v: Floats = np.zeros(problem.rows.n_features + 1)
        self.c: Floats = np.zeros(problem.m)
        self.scale = 1.0
        self.norm2 = 0.0  # |w|^2, tracked
        self.b = 0.0
        self.t = 0
        # The sum of all iterates is scale_sum * v - u, and of the multipliers scale_sum * c - e: a change made at a
        # step must not count in the iterates before it. For a random output, u and e hold that iterate itself.
        self.u: Floats = np.zeros(0 if options.output == "last" else self.v.size)
        self.e: Floats = np.zeros(0 if options.output == "last" else self.c.size)
        self.scale_sum = 0.0
        if options.random_start:
            self._start_in_ball(math.sqrt(problem.total_cost))

    def _start_in_ball(self, radius: float) -> None:
        """A random direction at a random distance; the constant feature starts at zero."""
        self.v[:-1] = [2.0 * self.rng.uniform() - 1.0 for _ in range(self.v.size - 1)]
        length = math.sqrt(squared_norm(self.v))
        target = radius * self.rng.uniform()
        if length > 0.0:
            self.v *= target / length
        self.norm2 = squared_norm(self.v)

    def run_epoch(self) -> None:
        k, visit = self.options.k, self._draw()
        for begin in range(0, len(visit), k):
            self._step(visit[begin : begin + k])

    def _draw(self) -> list[int]:
        """1. The rows of this epoch; k = m is the deterministic variant, all rows in their order."""
        k, m = self.options.k, self.problem.m
        if k >= m:
            return list(range(m))
        return draws(m, -(-m // k) * k, self.rng) if self.options.sampling == "iid" else self.order.of_all(m, self.rng)

    def _step(self, batch: Sequence[int]) -> None:
        z = [self.scale * self.problem.rows.dot(i, self.v) for i in batch]
        violators = self._violators_at_best_b(batch, z) if self.options.bias == "exact" else self._violators(batch, z)
        if not violators and not self.options.advance_without_loss:
            return
        self.t += 1
        keep = 1.0 - 1.0 / self.t
        self._shrink(keep)
        self._add(violators, keep, len(batch))
        if self.options.projection:
            self._project(self.problem.total_cost)
        self._record()

    def _violators(self, batch: Sequence[int], z: Sequence[float]) -> list[Violator]:
        """2. Rows with loss at (w, b)."""
        y = self.problem.y
        return [Violator(i, z_i, 1.0) for i, z_i in zip(batch, z, strict=True) if y[i] * (z_i + self.b) < 1.0]

    def _violators_at_best_b(self, batch: Sequence[int], z: Sequence[float]) -> list[Violator]:
        """2'. b minimises the loss of the batch. At that minimum zero is a subgradient in b, the one where the rows
        exactly on the margin count as the fraction of a violation that makes sum s^_i y_i = 0."""
        y = [self.problem.y[i] for i in batch]
        weight = [self.problem.relative_weight(i) for i in batch]
        self.b = best_intercept(z, y, weight)
        # 1 - y (z + b), with the sign of the comparison of b with the breakpoint: zero exactly where b rests.
        slack = [y_i * ((y_i - z_i) - self.b) for y_i, z_i in zip(y, z, strict=True)]
        imbalance = 0.0  # sum s^_i y_i over the rows with loss
        on_margin = {-1: 0.0, 1: 0.0}  # weight of the rows exactly on it, by label
        for y_i, weight_i, slack_i in zip(y, weight, slack, strict=True):
            if slack_i > 0.0:
                imbalance += y_i * weight_i
            if slack_i == 0.0:
                on_margin[y_i] += weight_i
        side = -1 if imbalance > 0.0 else 1
        fraction = min(1.0, abs(imbalance) / on_margin[side]) if on_margin[side] > 0.0 else 0.0
        violators = []
        for i, y_i, z_i, slack_i in zip(batch, y, z, slack, strict=True):
            if slack_i > 0.0:
                violators.append(Violator(i, z_i, 1.0))
            if slack_i == 0.0 and y_i == side and fraction > 0.0:
                violators.append(Violator(i, z_i, fraction))
        return violators

    def _shrink(self, keep: float) -> None:
        """3a. w <- keep * w; keep is exactly 0 at t = 1."""
        if keep == 0.0:
            self.v[:] = 0.0
            self.c[:] = 0.0
            self.scale = 1.0
            self.norm2 = 0.0
            return
        self.scale *= keep
        self.norm2 *= keep * keep
        self._fold_tiny_scale()

    def _add(self, violators: Sequence[Violator], keep: float, k: int) -> None:
        """3b. w <- w + eta_t/k sum s^_i y_i x_i"""
        rows = self.problem.rows
        eta = 1.0 / (self.problem.lambda_ * self.t)
        for position, (i, z, fraction) in enumerate(violators):
            label = self.problem.y[i]
            step = eta / k * (self.problem.relative_weight(i) * fraction)
            before = keep * z if position == 0 else self.scale * rows.dot(i, self.v)
            self.norm2 += 2.0 * step * label * before + step * step * rows.squared_norm(i)
            change = step / self.scale
            rows.add(i, change * label, self.v)
            self.c[i] += change
            if self.options.output == "average":
                rows.add(i, change * label * self.scale_sum, self.u)
                self.e[i] += change * self.scale_sum
            if self.options.bias == "subgradient":
                self.b += step * label

    def _project(self, radius2: float) -> None:
        """4. Back into the ball of radius 1/sqrt(lambda)."""
        if self.norm2 > radius2:
            self.scale *= math.sqrt(radius2 / self.norm2)
            self.norm2 = radius2
            self._fold_tiny_scale()

    def _record(self) -> None:
        """Keep what the output needs of this iterate: each of t steps is the random one with probability 1/t."""
        if self.options.output == "average":
            self.scale_sum += self.scale
        if self.options.output == "random" and self.rng.below(self.t) == 0:
            self.u = self.scale * self.v
            self.e = self.scale * self.c

    def _fold_tiny_scale(self) -> None:
        """1/t times many projections may underflow: fold the scale into v and c long before. The sum of the iterates
        cancels as many digits as the scale has lost, so that it is written out much sooner, and begins anew."""
        average = self.options.output == "average"
        if self.scale >= (1e-6 if average else 1e-100):
            return
        if average:
            self.u -= self.scale_sum * self.v
            self.e -= self.scale_sum * self.c
            self.scale_sum = 0.0
        self.v *= self.scale
        self.c *= self.scale
        self.scale = 1.0

    def point(self) -> tuple[Floats, Floats]:
        """The iterate asked for, and its multipliers (not yet clipped to the box)."""
        return self._output(self.v, self.u), self._output(self.c, self.e)

    def _output(self, now: Floats, kept: Floats) -> Floats:
        if self.options.output == "last":
            return self.scale * now
        return kept if self.options.output == "random" else (self.scale_sum * now - kept) / max(self.t, 1)
