"""ASSET: approximate stochastic subgradient estimation training.

Lee & Wright, "ASSET: Approximate Stochastic Subgradient Estimation Training for Support Vector Machines". Algorithm 1,
on rows that are features already. Minimises lambda/2 |w|^2 + mean loss, that is lambda P, over
X = { |w| <= 1/sqrt(lambda), |b| <= B }. Step j = 1, 2, ...::

    1. choose a row i
    2. d = 1 if t_i (w.x_i + b) < 1, else 0                           (strict: a margin of exactly 1 is no loss)
    3. w <- (1 - eta_j lambda) w + eta_j d s^_i t_i x_i,    b <- b + eta_j d s^_i t_i      (b only if it is free)
    4. back into X
    5. the output is the average of the iterates N-bar .. j, iterate j with weight eta_j

    ASSET    eta_j = D_X / (D_G sqrt(j)),   D_X^2 = 1/lambda + B^2,   D_G^2 = mean of |G|^2 over M random rows at (0, 0)
    ASSET*   eta_j = 1 / (lambda j), for an objective that is strongly convex: no free intercept

The paper prints a division by M^2 in D_G^2; a mean needs M. eta_j lambda <= 1 keeps the steps from overshooting w = 0,
where rows are so short that lambda w dominates the subgradient, which D_G does not know of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hinge.reference.algorithm import Algorithm, Point, inside
from hinge.reference.dual_average import DualAverage
from hinge.reference.loss import slack
from hinge.reference.order import Order, Sampling, draws
from hinge.reference.primal_iterate import Output, PrimalIterate
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import Floats


@dataclass(frozen=True)
class AssetOptions:
    """Those of :class:`hinge.Asset`; `average_last` 0 is None there."""

    sampling: Sampling = Sampling.iid
    average_last: int = 0


class Rate(Protocol):
    """The size of step j = 1, 2, ..., once it is known; B; and what a new start forgets."""

    largest_b: float
    ready: bool

    def estimate(self, problem: Problem, rng: Rng) -> None:
        """Find out what is not known, from the norms of the rows."""
        ...

    def forget(self) -> None: ...

    def __call__(self, problem: Problem, j: int) -> float: ...


@dataclass
class RootRate:
    """eta_j = D_X / (D_G sqrt(j)); D_G is estimated before the first step."""

    sample_size: int
    largest_b: float
    d_g: float = -1.0  # not known yet

    @property
    def ready(self) -> bool:
        return self.d_g >= 0.0

    def estimate(self, problem: Problem, rng: Rng) -> None:
        of_b = 1.0 if problem.free_intercept else 0.0
        total = 0.0
        for i in draws(problem.m, self.sample_size, rng):
            weight = problem.relative_weight(i)
            total += weight * weight * (problem.rows.squared_norm(i) + of_b)
        self.d_g = math.sqrt(total / self.sample_size)

    def forget(self) -> None:
        self.d_g = -1.0

    def __call__(self, problem: Problem, j: int) -> float:
        d_x = math.sqrt(problem.total_cost + self.largest_b * self.largest_b)
        g = self.d_g * math.sqrt(j)
        return min(d_x / g if g > 0.0 else math.inf, problem.total_cost)


class StarRate:
    """eta_j = 1 / (lambda j)"""

    largest_b = 0.0  # there is no free intercept
    ready = True

    def estimate(self, problem: Problem, rng: Rng) -> None:
        """Everything is known."""

    def forget(self) -> None:
        """Nothing was found out."""

    def __call__(self, problem: Problem, j: int) -> float:
        return problem.total_cost / j


class AssetSteps(Algorithm):
    """One epoch takes m rows."""

    fields = (
        *inside("iterate", PrimalIterate.fields),
        *inside("average", DualAverage.fields),
        *("b", "eta_sum", "b_sum", "octave", "octave_eta", "octave_b", "rng"),
    )

    def __init__(self, problem: Problem, rate: Rate, options: AssetOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.rate = rate
        self.options = options
        self.order = order
        self.rng = rng
        self.iterate = PrimalIterate(0, problem.n_features, Output.average)
        self.average = DualAverage(problem.m)
        self.b = 0.0
        self.octave: Floats = np.zeros(0 if options.average_last else self.iterate.v.size)  # eta_j w_j, added up
        self.octave_eta = 0.0
        self.octave_b = 0.0
        self._begin_average()

    def _begin_average(self) -> None:
        """Nothing has been added up yet."""
        self.iterate.u[:] = 0.0
        self.iterate.scale_sum = 0.0
        self.eta_sum = 0.0
        self.b_sum = 0.0

    def _next_octave(self) -> None:
        """At j = 1, 2, 4, 8, ...: the output is the average of the octave before, and of this one so far."""
        self.octave = self._sum()
        self.octave_eta = self.eta_sum
        self.octave_b = self.b_sum
        self._begin_average()

    def _sum(self) -> Floats:
        """eta_j w_j, added up since the average began."""
        return self.iterate.scale_sum * self.iterate.v - self.iterate.u

    def run_epoch(self) -> None:
        m = self.problem.m
        if not self.rate.ready:
            self.rate.estimate(self.problem, self.rng)
        left = m
        for i in self.each(self.order.sample(self.options.sampling, m, m, self.rng)):
            if left == self.options.average_last:
                self._begin_average()
            left -= 1
            self._step(i)

    def _step(self, i: int) -> None:
        problem, iterate = self.problem, self.iterate
        z = iterate.decision(problem.rows, i)
        slope = problem.loss.slope(slack(problem.target[i], z + self.b))  # 2.
        self.average.visited(i, slope, iterate.t)
        iterate.t += 1
        if self.options.average_last == 0 and iterate.t.bit_count() == 1:
            self._next_octave()
        eta = self.rate(problem, iterate.t)
        keep = 1.0 - eta * problem.lambda_
        iterate.shrink(keep)  # 3.
        if slope != 0.0:
            step = eta * problem.relative_weight(i) * slope
            iterate.add(problem.rows, i, problem.target[i], step, keep * z)
            if problem.free_intercept:
                self.b += step * problem.target[i]
        iterate.project(problem.total_cost)  # 4.
        self.b = min(max(self.b, -self.rate.largest_b), self.rate.largest_b)
        iterate.scale_sum += eta * iterate.scale  # 5.
        self.eta_sum += eta
        self.b_sum += eta * self.b

    def point(self) -> Point:
        total = self.octave_eta + self.eta_sum
        b = 0.0
        with np.errstate(all="ignore"):  # steps may have exploded
            if total > 0.0:
                w = ((self.octave if self.octave.size else 0.0) + self._sum()) / total
                b = (self.octave_b + self.b_sum) / total
            else:
                w, b = self.iterate.scale * self.iterate.v, self.b
        return w, b if self.problem.free_intercept else 0.0, self.average.multipliers(self.problem)

    def make_consistent(self) -> None:
        """On another problem the weights are a start like any other; averages and D_G were those of the one before."""
        self.rate.forget()
        most = self.rate.largest_b
        self.b = min(max(self.b, -most), most) if self.problem.free_intercept else 0.0
        self._begin_average()
        self.octave[:] = 0.0
        self.octave_eta = self.octave_b = 0.0


class Asset(AssetSteps):
    """With steps that fall as 1/sqrt(j)."""

    fields = (*AssetSteps.fields, "rate.d_g")


class AssetStar(AssetSteps):
    """With steps that fall as 1/j."""
