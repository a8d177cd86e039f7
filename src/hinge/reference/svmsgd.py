"""SvmSgd: stochastic gradient descent with Bottou's schedule.

Bottou, "Stochastic gradient descent examples", version 2 of svmsgd. Minimises lambda/2 |w|^2 + mean loss, that is
lambda P, by the steps of `GradientDescent` in complete epochs, with::

    eta_t = eta_0 / (1 + lambda eta_0 t) = 1 / (lambda (t + t_0)),   t_0 = 1 / (lambda eta_0),   t = 0, 1, ...

so that the first steps are as large as the data bear, and the late ones those of Pegasos. eta_0 is chosen on a sample
of about a thousand rows: of 1 and its multiples by powers of 2 the one whose single pass over the sample, from w = 0,
ends with the lowest objective on it. eta_0 lambda stays at most 1/2: w never changes its sign by shrinking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference.gradient import GradientDescent, GradientOptions
from hinge.reference.loss import slack
from hinge.reference.order import Order, Sampling, draws
from hinge.reference.primal_iterate import Output
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng

DOUBLINGS = 200  # at most: rows near the ends of float64 want extreme steps


@dataclass
class BottouRate:
    """Not chosen yet while eta0 = 0."""

    eta0: float = 0.0

    def __call__(self, lambda_: float, t: int) -> float:
        return self.eta0 / (1.0 + lambda_ * self.eta0 * (t - 1))


class SvmSgd(GradientDescent):
    """The first epoch begins with the choice of eta_0 on `sample_size` rows."""

    fields = (*GradientDescent.fields, "rate.eta0")
    dtype: ClassVar[npt.DTypeLike] = np.float64
    rate: BottouRate

    def __init__(self, problem: Problem, sample_size: int, output: Output, order: Order, rng: Rng) -> None:
        super().__init__(problem, BottouRate(), GradientOptions(Sampling.epoch, output=output), order, rng, self.dtype)
        self.sample_size = min(sample_size, problem.m)
        self.largest = 0.5 / problem.lambda_  # of the eta_0 that are tried

    def run_epoch(self) -> None:
        if self.rate.eta0 == 0.0:
            self.rate.eta0 = self.best_eta0(draws(self.problem.m, self.sample_size, self.rng))
        super().run_epoch()

    def best_eta0(self, sample: Sequence[int]) -> float:
        """Halve as long as that helps; if it does not, double. A cost that overflows is worse than any other."""
        start = best = min(1.0, self.largest)
        lowest = self.cost(sample, start)
        for factor in (0.5, 2.0):
            for _ in range(DOUBLINGS):
                candidate = best * factor
                if candidate > self.largest or not candidate > 0.0:
                    break
                cost = self.cost(sample, candidate)
                if not cost < lowest and math.isfinite(lowest):
                    break
                best, lowest = candidate, cost
            if best != start:
                break
        return best

    def cost(self, sample: Sequence[int], eta0: float) -> float:
        """The objective on the sample after one pass over it."""
        problem = self.problem
        options = GradientOptions(Sampling.epoch, multipliers=False)
        trial = GradientDescent(problem, BottouRate(eta0), options, self.order, self.rng, self.dtype)
        trial._poll = self._poll
        trial.present(sample)
        self.touched += 2 * len(sample)
        loss = 0.0
        for i in sample:
            s = slack(problem.target[i], trial.iterate.decision(problem.rows, i))
            loss += problem.relative_weight(i) * problem.loss.value(s)
        return 0.5 * problem.lambda_ * trial.iterate.norm2 + loss / len(sample)

    def make_consistent(self) -> None:
        """A step size saved with another lambda may be too large for this one."""
        self.rate.eta0 = min(self.rate.eta0, self.largest)


class SvmSgdSingle(SvmSgd):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32
