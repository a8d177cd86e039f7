"""SvmSgd: stochastic gradient descent with Bottou's schedule.

Bottou, "Stochastic gradient descent examples", version 2 of svmsgd. Minimises lambda/2 |w|^2 + mean loss, that is
lambda P, by the steps of `GradientDescent` in complete epochs, with::

    eta_t = eta_0 / (1 + lambda eta_0 t) = 1 / (lambda (t + t_0)),   t_0 = 1 / (lambda eta_0),   t = 0, 1, ...

so that the first steps are as large as the data bear, and the late ones those of Pegasos. eta_0 is chosen on about a
thousand rows by single passes over them, from w = 0, with 1 and its multiples by powers of 2. The cost of a pass is the
objective on these rows after it. eta_0 lambda stays at most 1/2: w never changes its sign by shrinking::

    sampled (ours)       rows drawn at random; rates that fall as in training; the best one
    first (the program)  the first rows of an epoch; a constant rate. Of two neighbours, first 1 and 2, the pair moves
                         down or up by a factor of 2 as long as its outer one is better; the lower one of the last pair
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference.gradient import ConstantRate, GradientDescent, GradientOptions
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


class Calibration(Enum):
    """How eta_0 is chosen."""

    sampled = 0
    first = 1


class SvmSgd(GradientDescent):
    """The first epoch begins with the choice of eta_0 on `sample_size` rows."""

    fields = (*GradientDescent.fields, "rate.eta0")
    dtype: ClassVar[npt.DTypeLike] = np.float64
    rate: BottouRate

    def __init__(
        self, problem: Problem, sample_size: int, calibration: Calibration, output: Output, order: Order, rng: Rng
    ) -> None:
        super().__init__(problem, BottouRate(), GradientOptions(Sampling.epoch, output=output), order, rng, self.dtype)
        self.calibration = calibration
        self.sample_size = min(sample_size, problem.m)
        self.largest = 0.5 / problem.lambda_  # of the eta_0 that are tried

    def run_epoch(self) -> None:
        if self.rate.eta0 == 0.0:
            m, size = self.problem.m, self.sample_size
            if self.calibration is Calibration.sampled:
                self.rate.eta0 = self.best_eta0(draws(m, size, self.rng))
            else:
                first = self.order.of_all(m, self.rng)[:size]
                self.rate.eta0 = lower_of_best_pair(self.largest, lambda eta: self.cost(first, ConstantRate(eta)))
        super().run_epoch()

    def best_eta0(self, sample: Sequence[int]) -> float:
        """Halve as long as that helps; if it does not, double. A cost that overflows is worse than any other."""
        start = best = min(1.0, self.largest)
        lowest = self.cost(sample, BottouRate(start))
        for factor in (0.5, 2.0):
            for _ in range(DOUBLINGS):
                candidate = best * factor
                if candidate > self.largest or not candidate > 0.0:
                    break
                cost = self.cost(sample, BottouRate(candidate))
                if not cost < lowest and math.isfinite(lowest):
                    break
                best, lowest = candidate, cost
            if best != start:
                break
        return best

    def cost(self, sample: Sequence[int], rate: Any) -> float:
        """The objective on these rows after one pass over them."""
        problem = self.problem
        options = GradientOptions(Sampling.epoch, multipliers=False)
        trial = GradientDescent(problem, rate, options, self.order, self.rng, self.dtype)
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


def lower_of_best_pair(largest: float, cost: Callable[[float], float]) -> float:
    """How Bottou's programs choose a first step size: the lower one of the best two neighbours among powers of 2.

    The pair, first 1 and 2, moves down or up as long as its outer one is better. No step size is above `largest`, an
    infinite cost is worse than any other, and the search ends: that is ours.
    """
    low = min(1.0, 0.5 * largest)
    low_cost, high_cost = cost(low), cost(2.0 * low)
    down = low_cost < high_cost or not math.isfinite(high_cost)
    if not down and not high_cost < low_cost:
        return low
    outer = low_cost if down else high_cost
    for _ in range(DOUBLINGS):
        following = 0.5 * low if down else 4.0 * low
        if following > largest or not following > 0.0:
            break
        inner, outer = outer, cost(following)
        low *= 0.5 if down else 2.0
        if not outer < inner and math.isfinite(inner):
            break
    return low
