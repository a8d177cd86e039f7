"""SGD-r, SGD-s, SGD-m: stochastic gradient descent as a perceptron with a growing margin threshold.

Panagiotakopoulos & Tsampouka, "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited".

With eta_t = 1/(t+1) and w_t = a_t / (lambda t), a step on row k (y_k the row times its label) is::

    a_{t+1} = a_t + y_k   if a_t . y_k <= lambda t   (a margin error; equality counts, it makes t = 0 work),   else a_t

After T complete epochs the counts I_k of margin errors give feasible multipliers C I_k / T. With weights, row k counts
s^_k times: a step adds s^_k y_k, and moves a . y_k by s^_k |y_k|^2.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from hinge._reference.order import Order, draws
from hinge._reference.problem import Problem
from hinge._reference.rng import Rng
from hinge._reference.rows import Floats


def margin_errors(P: float, lambda_: float, q: float, l: int) -> int:  # noqa: E741
    """Proposition 3: the number l+ of margin errors in l presentations, with P = a_t . y_k - lambda t and q = |y_k|^2.

    The j-th presentation is an error iff P + (errors so far) q <= (j - 1) lambda. For q >= lambda an error makes the
    next ones later, by q; for q < lambda every presentation after the first error is an error again.
    """
    room = (l - 1) * lambda_ - P
    return min(l, math.floor(room / max(q, lambda_)) + 1) if room >= 0.0 else 0


class Sgd:
    """A run; one call of `run_epoch` presents as many rows as there are.

    Parameters
    ----------
    presentation : "random" (SGD-r: rows drawn independently), "single" (SGD-s: complete epochs) or "multiple" (SGD-m:
        complete epochs T, each row presented five times if 0 < T mod 9 < 5)
    """

    def __init__(
        self, problem: Problem, presentation: Literal["random", "single", "multiple"], order: Order, rng: Rng
    ) -> None:
        self.problem = problem
        self.presentation = presentation
        self.order = order
        self.rng = rng
        self.a: Floats = np.zeros(problem.rows.n_features + 1)  # a_t
        self.counts = np.zeros(problem.m, dtype=np.int64)  # I_k
        self.epoch = 0  # T, passes begun
        self.t = 0  # presentations so far
        self.M = 0.0  # sum C_k I_k
        self.r = 0.0  # |a_t|^2, tracked
        self.loss = 0.0  # sum C_k hinge_k of the last epoch, each taken when its row was first presented

    def run_epoch(self) -> None:
        m = self.problem.m
        visit = draws(m, m, self.rng) if self.presentation == "random" else self.order.of_all(m, self.rng)
        self.epoch += 1
        self.loss = 0.0
        for k in visit:
            self._present(k, self.multiplicity(self.epoch))

    def multiplicity(self, T: int) -> int:
        """How often each row is presented in epoch T (from 1 on)."""
        return 5 if self.presentation == "multiple" and 0 < T % 9 < 5 else 1

    def _present(self, k: int, l: int) -> None:  # noqa: E741
        rows, cost, label = self.problem.rows, self.problem.cost[k], self.problem.y[k]
        weight = self.problem.relative_weight(k)
        q = rows.squared_norm(k)
        p = label * rows.dot(k, self.a)
        theta = self.threshold
        if p <= theta:
            self.loss += cost * (1.0 - p / theta if self.t > 0 else 1.0)
        errors = margin_errors(p - theta, self.problem.lambda_, weight * q, l)
        if errors > 0:
            change = errors * weight
            rows.add(k, change * label, self.a)
            self.r += 2.0 * change * p + change * change * q
            self.counts[k] += errors
            self.M += cost * errors
        self.t += l

    @property
    def threshold(self) -> float:
        """lambda t"""
        return self.problem.lambda_ * self.t

    @property
    def T_eff(self) -> float:
        """t / m, the presentations per row: T unless rows were presented several times."""
        return self.t / self.problem.m

    def estimate(self) -> tuple[float, float]:
        """J = |w|^2 / 2 + loss and L^T = M / T_eff - |w|^2 / 2, from quantities at hand."""
        half_norm2 = self.r / (2.0 * self.threshold * self.threshold)
        return half_norm2 + self.loss, self.M / self.T_eff - half_norm2

    def point(self) -> tuple[Floats, Floats]:
        """w = a_t / (lambda t), and multipliers C_k I_k / T_eff: feasible after complete epochs of SGD-s and SGD-m."""
        if self.t == 0:
            return np.zeros_like(self.a), np.zeros(self.problem.m)
        return self.a / self.threshold, np.array(self.problem.cost) * (self.counts / self.T_eff)
