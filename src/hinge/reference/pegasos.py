"""Pegasos: primal estimated sub-gradient solver for SVM.

Shalev-Shwartz, Singer & Srebro (ICML 2007); Rupnik, "Stochastic subgradient approach for solving linear SVMs".
Minimises lambda/2 |w|^2 + mean loss, that is lambda P. Step t = 1, 2, ...::

    1. choose A_t, k rows: drawn independently, k different rows drawn anew, or the next piece of an order of all rows
    2. A_t+ = rows of A_t with t (w.x + b) < 1                       (strict: a margin of exactly 1 is no loss)
    3. w <- (1 - 1/t) w + eta_t/k sum over A_t+ of s^_i slope_i t_i x_i,   eta_t = 1/(lambda t)    (hinge: slope_i = 1)
    4. w <- min(1, 1/(sqrt(lambda) |w|)) w                           (optional)

A step costs O(non-zeros of A_t) (see `PrimalIterate`). At t = 1 the factor 1 - 1/t is exactly 0: the start is erased,
except through the choice of the first violators. With w_1 the start and w_{t+1} what step t makes, the average output
and the random one are over w_2 .. w_{T+1} (the theorems: w_1 .. w_T).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from hinge.reference.algorithm import Algorithm, Point, inside
from hinge.reference.loss import slack
from hinge.reference.objective import best_intercept
from hinge.reference.order import Order, Sampling, subsets
from hinge.reference.primal_iterate import Output, PrimalIterate
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import squared_norm


class Bias(Enum):
    """No b (or a constant feature, through the rows); free, by subgradient steps; or free and exact at each step."""

    none = 0
    subgradient = 1
    exact = 2


@dataclass(frozen=True)
class PegasosOptions:
    """Those of :class:`hinge.Pegasos`."""

    k: int = 1
    sampling: Sampling = Sampling.iid
    projection: bool = True
    advance_without_loss: bool = True  # False: a step without loss changes nothing, t included
    bias: Bias = Bias.none
    output: Output = Output.last
    random_start: bool = False
    start: Sequence[float] = ()  # w_1, if the user has one
    steps: int = 0  # T; 0: no limit


class Violator(NamedTuple):
    row: int
    z: float  # w.x before the step
    slope: float  # of the loss; on the margin of an exact intercept one between the slopes on either side


class Pegasos(Algorithm):
    """One epoch takes about m rows, k a step."""

    fields = (*inside("iterate", PrimalIterate.fields), "b", "rng")

    def __init__(self, problem: Problem, options: PegasosOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        if options.bias is Bias.exact and problem.loss.name != "hinge":
            raise ValueError('Pegasos: bias="exact" is for the hinge loss only')
        self.options = options
        self.order = order
        self.rng = rng
        self.iterate = PrimalIterate(problem.m, problem.n_features, options.output)
        self.b = 0.0
        if options.random_start:
            self._start_in_ball(math.sqrt(problem.total_cost))
        if options.start:
            self.iterate.v[:-1] = options.start  # the weight of a constant feature starts at zero
            self.iterate.norm2 = squared_norm(self.iterate.v)

    def _start_in_ball(self, radius: float) -> None:
        """A random direction at a random distance; the constant feature starts at zero."""
        v = self.iterate.v
        v[:-1] = [2.0 * self.rng.uniform() - 1.0 for _ in range(v.size - 1)]
        length = math.sqrt(squared_norm(v))
        distance = radius * self.rng.uniform()
        if length > 0.0:
            v *= distance / length
        self.iterate.norm2 = squared_norm(v)

    def run_epoch(self) -> None:
        if self.finished():
            return
        k, steps = self.options.k, self.options.steps
        visit = self._draw()
        if steps > 0:
            visit = visit[: (steps - self.iterate.t) * k]
        for begin in range(0, len(visit), k):
            batch = visit[begin : begin + k]
            self._step(batch)
            self.touched += len(batch)

    def finished(self) -> bool:
        """T steps were taken."""
        return 0 < self.options.steps <= self.iterate.t

    def _draw(self) -> list[int]:
        """1. The rows of this epoch; k = m is the deterministic variant, all rows in their order."""
        k, m = self.options.k, self.problem.m
        if k >= m:
            return list(range(m))
        n_steps = -(-m // k)
        if self.options.sampling is Sampling.subset:
            return subsets(m, k, n_steps, self.rng)
        return self.order.sample(self.options.sampling, m, n_steps * k, self.rng)

    def _step(self, batch: Sequence[int]) -> None:
        violators = self._find_violators(batch)
        if not violators and not self.options.advance_without_loss:
            return
        self.iterate.t += 1
        keep = 1.0 - 1.0 / self.iterate.t  # exactly 0 at t = 1
        self.iterate.shrink(keep)
        self._add_violators(violators, keep, len(batch))
        if self.options.projection:
            self.iterate.project(self.problem.total_cost)  # 4.
        self.iterate.record(self.rng)

    def _find_violators(self, batch: Sequence[int]) -> list[Violator]:
        """2. Rows with loss at (w, b)."""
        z = []
        for i in batch:
            z.append(self.iterate.decision(self.problem.rows, i))
            self.ask_poll(i)
        if self.options.bias is Bias.exact:
            return self._violators_at_best_b(batch, z)
        target, slope = self.problem.target, self.problem.loss.slope
        found = [Violator(i, z_i, slope(slack(target[i], z_i + self.b))) for i, z_i in zip(batch, z, strict=True)]
        return [violator for violator in found if violator.slope != 0.0]

    def _violators_at_best_b(self, batch: Sequence[int], z: Sequence[float]) -> list[Violator]:
        """2'. b minimises the loss of the batch. At that minimum zero is a subgradient in b, the one where the rows
        exactly on the margin count as the fraction of a violation that makes sum s^_i t_i = 0."""
        target = [self.problem.target[i] for i in batch]
        weight = [self.problem.relative_weight(i) for i in batch]
        self.b = best_intercept(z, target, weight)
        # 1 - t (z + b), with the sign of the comparison of b with the breakpoint: zero exactly where b rests.
        slacks = [t * ((t - z_i) - self.b) for t, z_i in zip(target, z, strict=True)]
        imbalance = 0.0  # sum s^_i t_i over the rows with loss
        on_margin = {-1.0: 0.0, 1.0: 0.0}  # weight of the rows exactly on it, by target
        for t, weight_i, s in zip(target, weight, slacks, strict=True):
            if s > 0.0:
                imbalance += t * weight_i
            if s == 0.0:
                on_margin[t] += weight_i
        side = -1.0 if imbalance > 0.0 else 1.0
        fraction = min(1.0, abs(imbalance) / on_margin[side]) if on_margin[side] > 0.0 else 0.0
        violators = []
        for i, t, z_i, s in zip(batch, target, z, slacks, strict=True):
            if s > 0.0:
                violators.append(Violator(i, z_i, 1.0))
            if s == 0.0 and t == side and fraction > 0.0:
                violators.append(Violator(i, z_i, fraction))
        return violators

    def _add_violators(self, violators: Sequence[Violator], keep: float, k: int) -> None:
        """3. w <- w + eta_t/k sum s^_i slope_i t_i x_i"""
        rows, iterate = self.problem.rows, self.iterate
        eta = 1.0 / (self.problem.lambda_ * iterate.t)
        for position, (i, z, slope) in enumerate(violators):
            step = eta / k * (self.problem.relative_weight(i) * slope)
            # w.x of the first one is known: nothing has been added since.
            before = keep * z if position == 0 else iterate.decision(rows, i)
            iterate.add(rows, i, self.problem.target[i], step, before)
            if self.options.bias is Bias.subgradient:
                self.b += step * self.problem.target[i]

    def point(self) -> Point:
        b = self.b if self.problem.free_intercept else 0.0
        return self.iterate.weights(), b, self.iterate.multipliers()

    def make_consistent(self) -> None:
        if not self.problem.free_intercept:
            self.b = 0.0
        self.iterate.recombine(self.problem)
