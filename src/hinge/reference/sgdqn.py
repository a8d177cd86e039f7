"""SGD-QN: stochastic gradient descent with a diagonal quasi-Newton matrix.

Bordes, Bottou & Gallinari, "SGD-QN: Careful Quasi-Newton Stochastic Gradient Descent" (JMLR 2009); Bordes, Bottou,
Gallinari, Chang & Smith, "Erratum: SGDQN is Less Careful than Expected" (JMLR 2010). Minimises lambda/2 |w|^2 + mean
hinge, that is lambda P. Each feature has a step size gain_j / lambda. Step t = 0, 1, ... on row i::

    1. w_j <- (1 - skip gain_j) w_j                    every `skip` steps
    2. w_j <- w_j + s^_i t_i x_ij gain_j / lambda      if t_i w.x_i < 1 at the beginning of the step

and in the step after 1 a lesson on the curvature: h_j = (change of the gradient)_j / (change of w)_j, relative to
lambda. That is 1 where x_ij = 0, and more where a row crosses the margin. How the gains follow from the h, and what the
first ones are, is said by the variants: `SgdQnPublished`, `SgdQnErratum`, `SgdQnSgd2` and `SgdQnMixed`.

w is no combination of the rows with non-negative coefficients: the multipliers are a `DualAverage`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference.algorithm import Algorithm, Point, inside
from hinge.reference.dual_average import DualAverage
from hinge.reference.loss import slack
from hinge.reference.order import Order
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.sums import Floats, in_double, squared_norm
from hinge.reference.svmsgd import lower_of_best_pair

LARGEST_T0 = 1e15


class SgdQn(Algorithm):
    """What the variants share. One epoch visits every row once. w and d are float64, or float32 as in the programs."""

    fields = (
        *("w", "d", "before", *inside("average", DualAverage.fields), "t0", "t", "learned", "skip", "count"),
        *("watching", "rng"),
    )
    dtype: ClassVar[npt.DTypeLike] = np.float64
    of_next_row: ClassVar[bool]  # lessons are those of the next row, not of a row's own step

    def __init__(self, problem: Problem, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.order = order
        self.rng = rng
        self.w: npt.NDArray[Any] = np.zeros(problem.n_features + 1, dtype=self.dtype)
        self.d: npt.NDArray[Any] = np.ones_like(self.w)  # the gains follow from it
        self.before: npt.NDArray[Any] = np.zeros_like(self.w) if self.of_next_row else self.w[:0].copy()
        self.t0 = 0.0  # 0: not chosen
        self.t = 0
        self.learned = 0  # steps until the last lesson
        self.skip = 0
        self.count = 0  # steps until the next shrinking
        self.watching = False  # this step has a lesson
        self.average = DualAverage(problem.m)

    # What a variant says

    def choose_t0(self) -> float:
        """t_0, perhaps after trials."""
        raise NotImplementedError

    def first_d(self) -> float:
        """d before the first step."""
        raise NotImplementedError

    def gains(self, columns: Any) -> Floats:
        """Those of some features."""
        raise NotImplementedError

    def learn(self, i: int, strength: float) -> None:
        """A lesson of row i; `strength` is s^_i t_i / lambda times the change of the loss's slope."""
        raise NotImplementedError

    # What all do

    def run_epoch(self) -> None:
        if self.t0 == 0.0:
            stored = sum(self.problem.rows.stored(i) for i in range(self.problem.m))
            self.skip = int(max(1.0, 16.0 * self.w.size / max(1.0, stored / self.problem.m)))
            self._begin(self.choose_t0())
        self._present(self.order.of_all(self.problem.m, self.rng))

    def _begin(self, t0: float) -> None:
        """The schedule from its first step on."""
        self.t0 = t0
        self.t = self.learned = 0
        self.count = self.skip
        self.watching = False
        self.d[:] = self.first_d()

    def _present(self, visit: Sequence[int]) -> None:
        for i in self.each(visit):
            self._step(i)

    def _step(self, i: int) -> None:
        loss = self._has_loss(i, self.w)
        self.average.visited(i, 1.0 if loss else 0.0, self.t)
        strength = self.problem.relative_weight(i) * self.problem.target[i] / self.problem.lambda_
        lesson_due, self.watching = self.watching, False
        if lesson_due and self.of_next_row:
            self.learn(i, strength * (float(loss) - float(self._has_loss(i, self.before))))
        if self.of_next_row or not lesson_due:  # a row's own step with a lesson is not counted
            self.count -= 1
            if self.count <= 0:
                self._shrink()
        if loss:
            columns, x = self.problem.rows.entries(i)  # 2.
            self.w[columns] = in_double(self.w[columns]) + strength * x * self.gains(columns)
        if lesson_due and not self.of_next_row and loss and not self._has_loss(i, self.w):
            self.learn(i, strength)
        self.t += 1

    def _has_loss(self, i: int, w: npt.NDArray[Any]) -> bool:
        return self.problem.target[i] * self.problem.rows.dot(i, w) < 1.0

    def _shrink(self) -> None:
        """1."""
        if self.of_next_row:
            self.before = self.w.copy()
        self.w[:] = in_double(self.w) * np.maximum(0.0, 1.0 - self.skip * self.gains(slice(None)))
        self.count = self.skip
        self.watching = True

    @property
    def now(self) -> float:
        """t + t_0"""
        return self.t + self.t0

    def first_rows(self, most: int) -> list[int]:
        """For trials: the first rows of an epoch."""
        return self.order.of_all(self.problem.m, self.rng)[:most]

    def cost(self, sample: Sequence[int], t0: float, epochs: int, lambda_: float | None = None) -> float:
        """The objective on these rows after epochs over them, from w = 0, perhaps at another lambda."""
        trial = copy.copy(self)
        trial.problem = problem = copy.copy(self.problem)
        problem.lambda_ = problem.lambda_ if lambda_ is None else lambda_
        trial.w, trial.d, trial.average, trial.touched = np.zeros_like(self.w), self.d.copy(), DualAverage(0), 0
        trial._begin(t0)
        for _ in range(epochs):
            trial._present(sample)
        self.touched += trial.touched + len(sample)
        loss = 0.0
        for i in sample:
            decision = problem.rows.dot(i, trial.w)
            loss += problem.relative_weight(i) * problem.loss.value(slack(problem.target[i], decision))
        return 0.5 * problem.lambda_ * squared_norm(trial.w) + loss / len(sample)

    def point(self) -> Point:
        return np.array(self.w, dtype=np.float64), 0.0, self.average.multipliers(self.problem)

    def make_consistent(self) -> None:
        """On another problem: w stays as the start, the schedule is made anew."""
        self.t0 = 0.0


class SgdQnPublished(SgdQn):
    """LibSGDQN of 2008: gain_j = d_j / (t + t_0), with the mean d_j of 1/h_j, at least 1/100.

    A lesson is that of a row's own step, and is learned only if the row crosses the margin in it. t_0 makes the first
    steps as large as |w| typically is, for rows of length 1.
    """

    LEAST: ClassVar[float] = 0.01
    of_next_row: ClassVar[bool] = False

    def choose_t0(self) -> float:
        root = math.sqrt(1.0 / self.problem.lambda_)
        return min(max(root * math.sqrt(root), 1.0), LARGEST_T0)  # lambda^(-3/4)

    def first_d(self) -> float:
        return 1.0

    def gains(self, columns: Any) -> Floats:
        return in_double(self.d[columns]) / self.now

    def learn(self, i: int, strength: float) -> None:
        columns, x = self.problem.rows.entries(i)
        now, skip = self.now, self.skip
        share = 2.0 * skip / (now + skip) if now > skip else skip / (now + skip)
        less = np.where(x != 0.0, 1.0 / (1.0 + now / in_double(self.d[columns])) - 1.0, 0.0)
        d = in_double(self.d)
        self.d[:] = d + share * (1.0 - d)
        self.d[columns] = np.maximum(in_double(self.d[columns]) + share * less, self.LEAST)


class SgdQnSgd2(SgdQn):
    """Bottou's sgd-2: gain_j = 1 / d_j, with d_j = t_0 + sum of the h_j over the steps.

    A lesson is that of the row after a shrinking, between w before it and w after the step; each counts for `skip`
    steps. 1/(lambda t_0) is chosen as SvmSgd's program chooses its first step size, on the first thousand rows.
    """

    LEAST: ClassVar[float] = 0.1
    MOST: ClassVar[float] = 100.0
    of_next_row: ClassVar[bool] = True

    def choose_t0(self) -> float:
        sample = self.first_rows(1000)

        def t0_of(eta: float) -> float:
            return min(max(1.0 / (self.problem.lambda_ * eta), 1.0), LARGEST_T0)

        return t0_of(lower_of_best_pair(1.0 / self.problem.lambda_, lambda eta: self.cost(sample, t0_of(eta), 1)))

    def first_d(self) -> float:
        return self.t0

    def gains(self, columns: Any) -> Floats:
        return 1.0 / in_double(self.d[columns])

    def learn(self, i: int, strength: float) -> None:
        self.learn_for(self.skip, i, strength)

    def learn_for(self, steps: int, i: int, strength: float) -> None:
        """A lesson that counts for so many steps."""
        self.learned = self.t + 1
        self.d[:] = in_double(self.d) + steps
        if strength == 0.0:
            return
        columns, x = self.problem.rows.entries(i)
        columns, x = columns[x != 0.0], x[x != 0.0]
        change = in_double(self.before[columns]) - in_double(self.w[columns])
        h = np.where(change != 0.0, 1.0 + strength * x / change, self.MOST)
        seen = np.where(h <= self.MOST, np.maximum(h, self.LEAST), self.MOST)  # also if it is no number
        self.d[columns] = in_double(self.d[columns]) + steps * (seen - 1.0)


class SgdQnErratum(SgdQnSgd2):
    """LibSGDQN after the erratum: a lesson is learned if its row crosses the margin, for all steps since the last.

    t_0 is the best of 1, 10, ..., 10^10 in trials of five epochs on a tenth of the rows.
    """

    POWERS: ClassVar[int] = 10
    EPOCHS: ClassVar[int] = 5
    FEW: ClassVar[int] = 1000

    def choose_t0(self) -> float:
        return self.best_t0(self.first_rows(max(self.problem.m // 10, self.FEW)), self.problem.lambda_)

    def best_t0(self, sample: Sequence[int], lambda_: float) -> float:
        """That of the trial with the lowest cost at this lambda."""
        costs = [
            (self.cost(sample, 10.0**power, self.EPOCHS, lambda_), 10.0**power) for power in range(self.POWERS + 1)
        ]
        finite = [pair for pair in costs if pair[0] < math.inf]
        return min(finite)[1] if finite else 1.0

    def learn(self, i: int, strength: float) -> None:
        if strength != 0.0:
            self.learn_for(self.t + 1 - self.learned, i, strength)


class SgdQnMixed(SgdQnErratum):
    """Lessons as in Sgd2. Trials as in Erratum, but at the same C: with the lambda of a problem of so many rows."""

    def choose_t0(self) -> float:
        sample = self.first_rows(max(self.problem.m // 10, self.FEW))
        share = len(sample) / self.problem.m
        return self.best_t0(sample, self.problem.lambda_ / share) / share

    def learn(self, i: int, strength: float) -> None:
        self.learn_for(self.skip, i, strength)


class SgdQnPublishedSingle(SgdQnPublished):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32


class SgdQnErratumSingle(SgdQnErratum):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32


class SgdQnSgd2Single(SgdQnSgd2):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32


class SgdQnMixedSingle(SgdQnMixed):
    """The same with weights in single precision."""

    dtype: ClassVar[npt.DTypeLike] = np.float32
