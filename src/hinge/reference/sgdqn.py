"""SGD-QN: stochastic gradient descent with a diagonal quasi-Newton matrix.

Bordes, Bottou & Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent" (JMLR 2009), and the erratum
"SGDQN is Less Careful than Expected" (JMLR 2010). Minimises lambda/2 |w|^2 + mean hinge, that is lambda P. B is
diagonal, 1/lambda at first. Step t = 0, 1, ... on row i::

    1. w <- w + s^_i t_i B x_i / (t + t_0)                     if t_i w.x_i < 1
    2. every `skip` steps: w <- w - skip/(t + t_0) lambda B w
    3. at the step after: the curvature seen by it, h_j = (change of the gradient)_j / (change of w)_j, clipped to
       [lambda, 100 lambda]. If step 1 lifted the margin over 1 that is lambda + s^_i x_ij / (change of w_j) where x_ij
       is not 0, and lambda elsewhere. The mean r of the h is updated, and B = 1/r (the erratum: means of the curvature,
       not of its inverse).

So B is small where features are frequent, and they take small steps. t_0 makes the first steps as large as |w|
typically is: eta_0 = (lambda/q)^(-1/4)/q, t_0 = 1/(lambda eta_0), with q the mean squared norm of the rows.

w is no combination of the rows with non-negative coefficients: the multipliers are a `DualAverage`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference.algorithm import Algorithm, Point, inside
from hinge.reference.dual_average import DualAverage
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import in_double

MOST = 100.0  # curvature, relative to lambda


class SgdQn(Algorithm):
    """One epoch visits every row once. w and r are float64, or float32 as in the paper."""

    fields = ("w", "r", *inside("average", DualAverage.fields), "t0", "t", "skip", "count", "watching", "rng")
    dtype: ClassVar[npt.DTypeLike] = np.float64

    def __init__(self, problem: Problem, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.order = order
        self.rng = rng
        self.w: npt.NDArray[Any] = np.zeros(problem.n_features + 1, dtype=self.dtype)
        self.r: npt.NDArray[Any] = np.ones_like(self.w)  # mean curvature, relative to lambda: B = 1/(lambda r)
        self.t0 = 0.0  # 0: not prepared
        self.t = 0
        self.skip = 0
        self.count = 0  # steps until the next shrinking
        self.watching = False  # the next step measures the curvature
        self.average = DualAverage(problem.m)

    def run_epoch(self) -> None:
        if self.t0 == 0.0:
            self._prepare()
        for i in self.each(self.order.of_all(self.problem.m, self.rng)):
            self._step(i)

    def _prepare(self) -> None:
        rows, m = self.problem.rows, self.problem.m
        norms = 0.0
        for i in range(m):
            norms += rows.squared_norm(i)
        root = math.sqrt(norms / m / self.problem.lambda_)
        self.t0 = min(max(root * math.sqrt(root), 1.0), 1e15)  # (q/lambda)^(3/4)
        per_row = max(1.0, sum(rows.stored(i) for i in range(m)) / m)
        self.skip = int(max(1.0, 16.0 * self.w.size / per_row))
        self.count = self.skip
        self.watching = False

    def _step(self, i: int) -> None:
        loss = self._margin(i) < 1.0
        self.average.visited(i, 1.0 if loss else 0.0, self.t)
        if loss:
            self._move(i)
        if self.watching:
            if loss and self._margin(i) >= 1.0:
                self._learn_curvature(i)
            self.watching = False
        self.count -= 1
        if self.count <= 0:
            self._shrink()
            self.count = self.skip
            self.watching = True
        self.t += 1

    @property
    def now(self) -> float:
        """t + t_0"""
        return self.t + self.t0

    def _margin(self, i: int) -> float:
        return self.problem.target[i] * self.problem.rows.dot(i, self.w)

    def _move(self, i: int) -> None:
        """1. w <- w + s^_i t_i B x_i / (t + t_0)"""
        columns, x = self.problem.rows.entries(i)
        size = self.problem.relative_weight(i) / (self.problem.lambda_ * self.now)
        self.w[columns] += size * self.problem.target[i] * x / in_double(self.r[columns])

    def _shrink(self) -> None:
        """2. w <- w - skip/(t + t_0) lambda B w"""
        self.w[:] = in_double(self.w) * np.maximum(0.0, 1.0 - self.skip / self.now / in_double(self.r))

    def _learn_curvature(self, i: int) -> None:
        """3. All features have seen lambda, those of the row 1 + (t + t_0) r_j times as much."""
        columns, x = self.problem.rows.entries(i)
        now, skip = self.now, self.skip
        gain = 2.0 * skip / (now + skip) if now > skip else skip / (now + skip)
        r = in_double(self.r)
        self.r[:] = np.maximum(1.0, (r + gain * (1.0 - r)).astype(self.r.dtype))
        seen = columns[x != 0.0]
        r = in_double(self.r[seen])
        self.r[seen] = np.minimum(MOST, (r + gain * (np.minimum(1.0 + now * r, MOST) - 1.0)).astype(self.r.dtype))

    def point(self) -> Point:
        return np.array(self.w, dtype=np.float64), 0.0, self.average.multipliers(self.problem)

    def make_consistent(self) -> None:
        """On another problem: w stays as the start, the schedule is made anew."""
        self.t0 = 0.0


class SgdQnSingle(SgdQn):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32
