"""Norma and Zhang's method: stochastic subgradient descent, one row a step, with other step sizes than Pegasos.

Kivinen, Smola & Williamson, "Online Learning with Kernels" (2004); Zhang, "Solving Large Scale Linear Prediction
Problems Using Stochastic Gradient Descent Algorithms" (ICML 2004); both as compared in the Pegasos paper. Minimises
lambda/2 |w|^2 + mean loss, that is lambda P. Step t = 1, 2, ...::

    1. choose a row i
    2. w <- (1 - eta_t lambda) w + eta_t s^_i slope_i t_i x_i,   slope_i the slope of the loss at t_i w.x_i before
       (hinge: 1 if that is below 1, strictly, as in Pegasos; its square: 2 (1 - t_i w.x_i) there)
    3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                              (optional)

The multipliers are a `DualAverage`: with these rates the combination of rows that makes up w rests on few recent steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hinge.reference.algorithm import Algorithm, Point, inside
from hinge.reference.dual_average import DualAverage
from hinge.reference.loss import slack
from hinge.reference.order import Order, Sampling
from hinge.reference.primal_iterate import Output, PrimalIterate
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng


class Rate(Protocol):
    """The size of step t = 1, 2, ..."""

    def __call__(self, lambda_: float, t: int) -> float: ...


@dataclass
class NormaRate:
    """eta_t = p / (lambda sqrt(t)), 0 < p < 1"""

    p: float

    def __call__(self, lambda_: float, t: int) -> float:
        return self.p / (lambda_ * math.sqrt(t))


@dataclass
class ConstantRate:
    """eta_t = eta, with eta lambda < 1"""

    eta: float

    def __call__(self, lambda_: float, t: int) -> float:
        return self.eta


@dataclass(frozen=True)
class GradientOptions:
    """Those of :class:`hinge.Norma`; without `multipliers` none are kept, for a trial that needs no dual point."""

    sampling: Sampling = Sampling.iid
    projection: bool = False
    output: Output = Output.last
    multipliers: bool = True


class GradientDescent(Algorithm):
    """One epoch takes m rows."""

    fields = (*inside("iterate", PrimalIterate.fields), *inside("average", DualAverage.fields), "rng")

    def __init__(
        self,
        problem: Problem,
        rate: Rate,
        options: GradientOptions,
        order: Order,
        rng: Rng,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        super().__init__(problem)
        self.rate = rate
        self.options = options
        self.order = order
        self.rng = rng
        self.iterate = PrimalIterate(0, problem.n_features, options.output, dtype)
        self.average = DualAverage(problem.m if options.multipliers else 0)

    def run_epoch(self) -> None:
        m = self.problem.m
        self.present(self.order.sample(self.options.sampling, m, m, self.rng))

    def present(self, visit: Sequence[int]) -> None:
        """These rows, one after the other."""
        for i in self.each(visit):
            self._step(i)

    def _step(self, i: int) -> None:
        problem, iterate = self.problem, self.iterate
        z = iterate.decision(problem.rows, i)
        slope = problem.loss.slope(slack(problem.target[i], z))
        self.average.visited(i, slope, iterate.t)
        iterate.t += 1
        eta = self.rate(problem.lambda_, iterate.t)
        keep = 1.0 - eta * problem.lambda_
        iterate.shrink(keep)
        if slope != 0.0:
            iterate.add(problem.rows, i, problem.target[i], eta * problem.relative_weight(i) * slope, keep * z)
        if self.options.projection:
            iterate.project(problem.total_cost)
        iterate.record(self.rng)

    def point(self) -> Point:
        return self.iterate.weights(), 0.0, self.average.multipliers(self.problem)

    def make_consistent(self) -> None:
        """On another problem the weights are a start like any other."""


class Norma(GradientDescent):
    """With the rate of Norma."""


class Zhang(GradientDescent):
    """With a constant rate."""
