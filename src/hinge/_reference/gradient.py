"""Norma and Zhang's method: stochastic subgradient descent, one row a step, with other step sizes than Pegasos.

Kivinen, Smola & Williamson, "Online Learning with Kernels" (2004); Zhang, "Solving Large Scale Linear Prediction
Problems Using Stochastic Gradient Descent Algorithms" (ICML 2004); both as compared in the Pegasos paper. Minimises
lambda/2 |w|^2 + mean hinge, that is lambda P. Step t = 1, 2, ...::

    1. choose a row i
    2. w <- (1 - eta_t lambda) w,   and + eta_t s^_i y_i x_i if y_i w.x_i < 1 before    (strict, as in Pegasos)
    3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                              (optional)

The multipliers are a `DualAverage`: with these rates the combination of rows that makes up w rests on few recent steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hinge._reference.dual_average import DualAverage
from hinge._reference.order import Order, Sampling
from hinge._reference.primal_iterate import Output, PrimalIterate
from hinge._reference.problem import Problem
from hinge._reference.rng import Rng
from hinge._reference.rows import Floats


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
    sampling: Sampling = "iid"
    projection: bool = False
    output: Output = "last"


R = TypeVar("R", bound=Rate)


class GradientDescent(PrimalIterate, Generic[R]):
    """A run; one call of `run_epoch` takes m rows."""

    def __init__(
        self,
        problem: Problem,
        rate: R,
        options: GradientOptions,
        order: Order,
        rng: Rng,
        dtype: npt.DTypeLike = np.float64,
    ) -> None:
        super().__init__(problem, 0, options.output, dtype)
        self.rate = rate
        self.options = options
        self.order = order
        self.rng = rng
        self.average = DualAverage(problem.m)

    def rebuild(self) -> None:
        """On another problem the weights are a start like any other."""

    def run_epoch(self) -> None:
        m = self.problem.m
        self.present(self.order.sample(self.options.sampling, m, m, self.rng))

    def present(self, visit: Sequence[int]) -> None:
        """These rows, one after the other."""
        for i in visit:
            self._step(i)

    def _step(self, i: int) -> None:
        lambda_ = self.problem.lambda_
        z = self.decision(i)
        loss = self.problem.y[i] * z < 1.0
        self.average.visited(i, loss, self.t)
        self.t += 1
        eta = self.rate(lambda_, self.t)
        keep = 1.0 - eta * lambda_
        self.shrink(keep)
        if loss:
            self.add(i, eta * self.problem.relative_weight(i), keep * z)
        if self.options.projection:
            self.project(self.problem.total_cost)
        self.record(self.rng)

    def point(self) -> tuple[Floats, Floats]:
        return self.weights(), self.average.multipliers(self.problem)
