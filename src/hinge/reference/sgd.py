"""SGD-r, SGD-s, SGD-m: stochastic gradient descent as a perceptron with a growing margin threshold.

Panagiotakopoulos & Tsampouka, "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited".

With eta_t = 1/(t+1) and w_t = a_t / (lambda t), a step on row k (y_k the row times its target) is::

    a_{t+1} = a_t + y_k   if a_t . y_k <= lambda t   (a margin error; equality counts, it makes t = 0 work),   else a_t

After T complete epochs the counts I_k of margin errors give feasible multipliers C I_k / T, hence the lower bound
L^T = C M / T - |w|^2 / 2, M = sum_k I_k. With weights, row k counts s^_k times: a step adds s^_k y_k, and moves a . y_k
by s^_k |y_k|^2.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference.algorithm import Algorithm, Point
from hinge.reference.order import Order, draws
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import in_double, squared_norm


def margin_errors(P: float, lambda_: float, q: float, l: int) -> int:  # noqa: E741
    """Proposition 3: the number l+ of margin errors in l presentations, with P = a_t . y_k - lambda t and q = |y_k|^2.

    The j-th presentation is an error iff P + (errors so far) q <= (j - 1) lambda. For q >= lambda an error makes the
    next ones later, by q; for q < lambda every presentation after the first error is an error again.
    """
    room = (l - 1) * lambda_ - P
    if not room >= 0.0:
        return 0
    later = room / max(q, lambda_)
    return math.floor(later) + 1 if later < l - 1 else l


class Presentation(Enum):
    """SGD-r: rows drawn independently. SGD-s: complete epochs. SGD-m: complete epochs, some rows several times."""

    random = 0
    single = 1
    multiple = 2


class Sgd(Algorithm):
    """One epoch presents as many rows as there are. a is float64, or float32; sums are in float64 either way."""

    dtype: ClassVar[npt.DTypeLike] = np.float64
    fields = ("a", "counts", "epoch", "t", "M", "r", "loss", "rng")

    def __init__(self, problem: Problem, presentation: Presentation, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.presentation = presentation
        self.order = order
        self.rng = rng
        self.a: npt.NDArray[Any] = np.zeros(problem.n_features + 1, dtype=self.dtype)  # a_t
        self.counts = np.zeros(problem.m, dtype=np.int64)  # I_k
        self.epoch = 0  # T, passes begun
        self.t = 0  # presentations so far
        self.M = 0.0  # sum C_k I_k
        self.r = 0.0  # |a_t|^2, tracked
        self.loss = 0.0  # sum C_k hinge_k of the last epoch, each taken when its row was first presented

    def run_epoch(self) -> None:
        m, random = self.problem.m, self.presentation is Presentation.random
        visit = draws(m, m, self.rng) if random else self.order.of_all(m, self.rng)
        self.epoch += 1
        self.loss = 0.0
        for k in self.each(visit):
            self._present(k, self.multiplicity(self.epoch))

    def multiplicity(self, T: int) -> int:
        """How often each row is presented in epoch T (from 1 on)."""
        return 5 if self.presentation is Presentation.multiple and 0 < T % 9 < 5 else 1

    def _present(self, k: int, l: int) -> None:  # noqa: E741
        rows, cost, target = self.problem.rows, self.problem.cost[k], self.problem.target[k]
        weight = self.problem.relative_weight(k)
        q = rows.squared_norm(k)
        p = target * rows.dot(k, self.a)
        theta = self.threshold
        if p <= theta:
            self.loss += cost * (1.0 - p / theta if self.t > 0 else 1.0)
        errors = margin_errors(p - theta, self.problem.lambda_, weight * q, l)
        if errors > 0:
            change = errors * weight
            rows.add(k, change * target, self.a)
            self.r += 2.0 * change * p + change * change * q
            self.counts[k] += errors
            self.M += cost * errors
        self.t += l

    def make_consistent(self) -> None:
        """a, M and r follow from the counts."""
        problem = self.problem
        self.a[:] = 0.0
        self.M = 0.0
        for k in np.flatnonzero(self.counts).tolist():
            count = float(self.counts[k])
            problem.rows.add(k, count * problem.relative_weight(k) * problem.target[k], self.a)
            self.M += problem.cost[k] * count
            self.ask_poll(k)
        self.r = squared_norm(self.a)

    @property
    def threshold(self) -> float:
        """lambda t"""
        return self.problem.lambda_ * self.t

    @property
    def T_eff(self) -> float:
        """t / m, the presentations per row: T unless rows were presented several times."""
        return self.t / self.problem.m

    def estimate(self) -> tuple[float, float] | None:
        """J = |w|^2 / 2 + loss and L^T = M / T_eff - |w|^2 / 2. SGD-r, which does not visit all rows, cannot tell."""
        if self.presentation is Presentation.random or self.t == 0:
            return None
        half_norm2 = self.r / (2.0 * self.threshold * self.threshold)
        return half_norm2 + self.loss, self.M / self.T_eff - half_norm2

    def point(self) -> Point:
        """w = a_t / (lambda t), and multipliers C_k I_k / T_eff: feasible after complete epochs of SGD-s and SGD-m."""
        if self.t == 0:
            return np.zeros(self.a.size), 0.0, np.zeros(self.problem.m)
        return in_double(self.a) / self.threshold, 0.0, np.array(self.problem.cost) * (self.counts / self.T_eff)


class SgdSingle(Sgd):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32
