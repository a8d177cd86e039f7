"""Pegasos: primal estimated sub-gradient solver for SVM.

Shalev-Shwartz, Singer & Srebro (ICML 2007); Rupnik, "Stochastic subgradient approach for solving linear SVMs".
Minimises lambda/2 |w|^2 + mean hinge, that is lambda P. Step t = 1, 2, ...::

    1. choose A_t, k rows
    2. A_t+ = rows of A_t with y (w.x + b) < 1                       (strict: a margin of exactly 1 is no loss)
    3. w <- (1 - 1/t) w + eta_t/k sum over A_t+ of s^_i y_i x_i,   eta_t = 1/(lambda t)
    4. w <- min(1, 1/(sqrt(lambda) |w|)) w                           (optional)

A step costs O(non-zeros of A_t) (see `PrimalIterate`). At t = 1 the factor 1 - 1/t is exactly 0: the start is erased,
except through the choice of the first violators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hinge._reference.objective import best_intercept
from hinge._reference.order import Order, Sampling
from hinge._reference.primal_iterate import Output, PrimalIterate
from hinge._reference.problem import Problem, squared_norm
from hinge._reference.rng import Rng


@dataclass(frozen=True)
class PegasosOptions:
    """`bias`: "none" (or a constant feature, through the rows), free by "subgradient" steps, or free and "exact"."""

    k: int = 1
    sampling: Sampling = "iid"
    projection: bool = True
    advance_without_loss: bool = True  # False: a step without loss changes nothing, t included
    bias: Literal["none", "subgradient", "exact"] = "none"
    output: Output = "last"
    random_start: bool = False


class Violator(NamedTuple):
    row: int
    z: float  # w.x before the step
    fraction: float  # of its relative weight: 1, or less on the margin of an exact intercept


class Pegasos(PrimalIterate):
    """A run; one call of `run_epoch` takes about m rows, k a step."""

    def __init__(self, problem: Problem, options: PegasosOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem, problem.m, options.output)
        self.options = options
        self.order = order
        self.rng = rng
        self.b = 0.0
        if options.random_start:
            self._start_in_ball(math.sqrt(problem.total_cost))

    def rebuild(self) -> None:
        if not self.problem.free_intercept:
            self.b = 0.0
        super().rebuild()

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
        return self.order.sample(self.options.sampling, m, -(-m // k) * k, self.rng)

    def _step(self, batch: Sequence[int]) -> None:
        z = [self.decision(i) for i in batch]
        violators = self._violators_at_best_b(batch, z) if self.options.bias == "exact" else self._violators(batch, z)
        if not violators and not self.options.advance_without_loss:
            return
        self.t += 1
        keep = 1.0 - 1.0 / self.t  # exactly 0 at t = 1
        self.shrink(keep)
        self._add_violators(violators, keep, len(batch))
        if self.options.projection:
            self.project(self.problem.total_cost)  # 4.
        self.record(self.rng)

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

    def _add_violators(self, violators: Sequence[Violator], keep: float, k: int) -> None:
        """3. w <- w + eta_t/k sum s^_i y_i x_i"""
        eta = 1.0 / (self.problem.lambda_ * self.t)
        for position, (i, z, fraction) in enumerate(violators):
            step = eta / k * (self.problem.relative_weight(i) * fraction)
            # w.x of the first one is known: nothing has been added since.
            self.add(i, step, keep * z if position == 0 else self.decision(i))
            if self.options.bias == "subgradient":
                self.b += step * self.problem.y[i]
