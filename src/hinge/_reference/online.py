"""The online support vector machine, one row or a small batch at a time.

Bagnell, "Notes on efficient online SVM implementation" (2010).
Minimises lambda/2 |w|^2 + mean hinge. Step t = 1, 2, ... takes the next k rows, with alpha_t = 1/(lambda t)::

    1. violators: those of the k rows with y (w.x + b) < 1                  (strict: a margin of exactly 1 is no loss)
    2. w <- (1 - alpha_t lambda) w + alpha_t/k sum over the violators of s_i y_i x_i
    3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                  (optional)

With weights s_i the ball that holds the optimum has the squared radius (mean s_i)/lambda. w stays the same while a
batch is collected: what is kept of its violators is the sum g of s_i y_i x_i. A batch of one row is added at once.

A free intercept moves by b += alpha_t/k sum s_i y_i; with the projection it is held to |b| <= 1 + |w| max |x_i|, where
the best b of any w lies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge._reference.order import Order
from hinge._reference.primal_iterate import PrimalIterate
from hinge._reference.problem import Problem
from hinge._reference.rng import Rng
from hinge._reference.rows import DenseRows, Floats, Rows


@dataclass(frozen=True)
class OnlineOptions:
    """`batch` is k. A `free_intercept` moves by subgradient steps; others are none of the steps' business."""

    batch: int = 1
    projection: bool = True
    free_intercept: bool = False
    average: bool = False


class ScaledRows:
    """Rows seen as [f_i x_i, rho]; the rows below have no constant feature of their own."""

    def __init__(self, plain: Rows, factors: Sequence[float] | None, rho: float) -> None:
        self.plain = plain
        self.factors = [1.0] * len(plain) if factors is None else [float(f) for f in factors]
        self.rho = rho
        self.n_features = plain.n_features

    def __len__(self) -> int:
        return len(self.plain)

    def stored(self, i: int) -> int:
        return self.plain.stored(i)

    def squared_norm(self, i: int) -> float:
        return self.factors[i] * (self.factors[i] * self.plain.squared_norm(i)) + self.rho * self.rho

    def dot(self, i: int, w: npt.NDArray[Any]) -> float:
        return self.factors[i] * self.plain.dot(i, w) + self.rho * float(w[-1])

    def add(self, i: int, scale: float, v: npt.NDArray[Any]) -> None:
        self.plain.add(i, scale * self.factors[i], v)
        v[-1] += scale * self.rho

    def entries(self, i: int) -> tuple[npt.NDArray[np.int64], Floats]:
        columns, x = self.plain.entries(i)
        extra = [] if self.rho == 0.0 else [self.n_features]
        return np.append(columns, extra).astype(np.int64), np.append(self.factors[i] * x, [self.rho] * len(extra))


class OnlineSteps(PrimalIterate):
    """The steps, wherever the rows come from. Multipliers follow the weights if there is room for them (m > 0)."""

    def __init__(self, problem: Problem, m: int, options: OnlineOptions) -> None:
        super().__init__(problem, m, "average" if options.average else "last")
        self.options = options
        self.b = 0.0
        self.b_sum = 0.0  # over all iterates
        self.longest2 = 0.0  # if b is free: the largest |x_i|^2 so far
        self.g: Floats = np.zeros(self.v.size if options.batch > 1 else 0)
        self.forget_batch()

    def forget_batch(self) -> None:
        self.waiting = 0  # rows of the batch so far
        self.g[:] = 0.0  # sum of s_i y_i x_i over its violators
        self.g_columns: list[int] = []  # where it may differ from zero, in the order in which they came
        self.w_g = 0.0  # w.g
        self.g_b = 0.0  # sum of s_i y_i over its violators
        self.violators: list[int] = []
        self.violator_weights: list[float] = []

    def present(self, i: int, weight: float, lambda_: float, radius2: float) -> None:
        """The next row: number i of the problem at hand."""
        label = self.problem.y[i]
        if self.options.free_intercept:
            self.longest2 = max(self.longest2, self.problem.rows.squared_norm(i))
        z = self.decision(i)
        loss = label * (z + self.b) < 1.0
        if self.options.batch == 1:
            keep = self._begin_step()
            if loss:
                step = weight * (1.0 / (lambda_ * self.t))
                self.add(i, step, keep * z)
                if self.options.free_intercept:
                    self.b += step * label
            self.end_step(radius2)
            return
        if loss:
            self._hold(i, weight, z)
        self.waiting += 1
        if self.waiting == self.options.batch:
            keep = self._begin_step()
            self._add_batch(keep, 1.0 / (lambda_ * self.t) / self.options.batch)
            self.end_step(radius2)
            self.forget_batch()

    def _begin_step(self) -> float:
        """2a. w <- (1 - alpha_t lambda) w; the factor is exactly 0 at t = 1."""
        self.t += 1
        keep = 1.0 - 1.0 / self.t
        self.shrink(keep)
        return keep

    def _hold(self, i: int, weight: float, z: float) -> None:
        rows, signed_weight = self.problem.rows, weight * self.problem.y[i]
        columns = [rows.n_features, *rows.entries(i)[0].tolist()]  # the constant feature, whether there is one or not
        self.g_columns += [j for j in dict.fromkeys(columns) if j not in self.g_columns]
        rows.add(i, signed_weight, self.g)
        self.w_g += signed_weight * z
        self.g_b += signed_weight
        if self.c.size:
            self.violators.append(i)
            self.violator_weights.append(weight)

    def _add_batch(self, keep: float, step: float) -> None:
        """2b. w <- w + step g"""
        norm2_g = 0.0
        for j in self.g_columns:
            norm2_g += float(self.g[j]) * float(self.g[j])
        self.norm2 += 2.0 * step * (keep * self.w_g) + step * step * norm2_g
        change = step / self.scale
        self.v[self.g_columns] += change * self.g[self.g_columns]
        if self.options.average:
            self.u[self.g_columns] += change * self.scale_sum * self.g[self.g_columns]
        if self.options.free_intercept:
            self.b += step * self.g_b
        for i, weight in zip(self.violators, self.violator_weights, strict=True):
            self.c[i] += change * weight
            if self.options.average:
                self.e[i] += change * weight * self.scale_sum

    def end_step(self, radius2: float) -> None:
        """3. Back into the ball, b to where the best b of any w lies; keep what the average needs."""
        if self.options.projection:
            self.project(radius2)
            most = 1.0 + math.sqrt(max(self.norm2, 0.0) * self.longest2)
            self.b = min(max(self.b, -most), most)
        self.record()
        self.b_sum += self.b

    @property
    def intercept(self) -> float:
        """b of the iterate asked for."""
        return self.b_sum / max(self.t, 1) if self.options.average else self.b


class Online(OnlineSteps):
    """On a data set: every epoch visits all rows in an order. A batch may span two epochs."""

    def __init__(self, problem: Problem, options: OnlineOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem, problem.m, options)
        self.order = order
        self.rng = rng

    def run_epoch(self) -> None:
        problem = self.problem
        for i in self.order.of_all(problem.m, self.rng):
            self.present(i, problem.relative_weight(i), problem.lambda_, problem.total_cost)

    def rebuild(self) -> None:
        """The batch of another problem is forgotten."""
        if not self.problem.free_intercept:
            self.b = self.b_sum = 0.0
        self.longest2 = 0.0
        self.forget_batch()
        super().rebuild()


class OnlineStream:
    """On a stream: rows come in chunks and are not kept. One model per class, or one for two classes."""

    def __init__(self, n_models: int, n_features: int, lambda_: float, rho: float, options: OnlineOptions) -> None:
        self.lambda_ = lambda_
        self.rho = rho
        self.seen = 0
        self.weight_sum = 0.0
        nothing = Problem(DenseRows(np.zeros((1, n_features))), [1], [1.0])  # every chunk is a problem of its own
        self.models = [OnlineSteps(nothing, 0, options) for _ in range(n_models)]

    def present(
        self,
        plain: Rows,
        factors: Sequence[float] | None,
        visit: Sequence[int],
        classes: Sequence[int],
        weights: Sequence[float],
    ) -> None:
        """The rows of a chunk, those in `visit` in that order."""
        rows = ScaledRows(plain, factors, self.rho)
        for k, model in enumerate(self.models):
            positive = 1 if len(self.models) == 1 else k
            model.problem = Problem(rows, [1 if c == positive else -1 for c in classes], weights)
        for i in visit:
            self.seen += 1
            self.weight_sum += float(weights[i])
            for model in self.models:
                model.present(i, float(weights[i]), self.lambda_, self.weight_sum / self.seen / self.lambda_)

    def model(self, k: int) -> tuple[Floats, float]:
        """(w, b) of model k."""
        return self.models[k].weights(), self.models[k].intercept
