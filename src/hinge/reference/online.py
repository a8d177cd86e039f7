"""The online support vector machine, one row or a small batch at a time.

Bagnell, "Notes on efficient online SVM implementation" (2010).
Minimises lambda/2 |w|^2 + mean loss. Step t = 1, 2, ... takes the next k rows, with alpha_t = 1/(lambda t)::

    1. violators: those of the k rows with t (w.x + b) < 1                  (strict: a margin of exactly 1 is no loss)
    2. w <- (1 - alpha_t lambda) w + alpha_t/k sum over the violators of s_i slope_i t_i x_i     (hinge: slope_i = 1)
    3. w <- min(1, 1/(sqrt(lambda) |w|)) w                                  (optional)

With weights s_i the ball that holds the optimum has the squared radius (mean s_i)/lambda. w stays the same while a
batch is collected: what is kept of its violators is the sum g of s_i slope_i t_i x_i. A batch of one row is added at
once.

A free intercept moves by b += alpha_t/k sum s_i slope_i t_i; with the projection it is held to
|b| <= 1 + |w| max |x_i|, where the best b of any w lies.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hinge.reference.algorithm import Algorithm, Point, inside, saved_fields
from hinge.reference.loss import LOSSES, Loss, slack
from hinge.reference.order import Order
from hinge.reference.primal_iterate import Output, PrimalIterate
from hinge.reference.problem import Problem
from hinge.reference.rng import Rng
from hinge.reference.rows import Rows, ScaledRows
from hinge.reference.sums import Floats, interleaved_sum


@dataclass(frozen=True)
class OnlineOptions:
    """`batch` is k. A `free_intercept` moves by subgradient steps; others are none of the steps' business."""

    batch: int = 1
    projection: bool = True
    free_intercept: bool = False
    average: bool = False


class Objective(NamedTuple):
    """What the rows belong to: lambda, the squared radius of a ball that holds the optimum, and the loss."""

    lambda_: float
    radius2: float
    loss: Loss


class OnlineSteps:
    """The steps, wherever the rows come from. Multipliers follow the weights if there is room for them (m > 0)."""

    fields = (
        *inside("iterate", PrimalIterate.fields),
        *("b", "b_sum", "longest2", "waiting", "g", "g_columns", "w_g", "g_b", "violators", "violator_weights"),
    )

    def __init__(self, m: int, n_features: int, options: OnlineOptions) -> None:
        self.options = options
        self.iterate = PrimalIterate(m, n_features, Output.average if options.average else Output.last)
        self.b = 0.0
        self.b_sum = 0.0  # over all iterates
        self.longest2 = 0.0  # if b is free: the largest |x_i|^2 so far
        self.g: Floats = np.zeros(n_features + 1 if options.batch > 1 else 0)
        self.forget_batch()

    def forget_batch(self) -> None:
        self.waiting = 0  # rows of the batch so far
        self.g[:] = 0.0  # sum of s_i slope_i t_i x_i over its violators
        self.g_columns = array("q")  # where it may differ from zero, in the order in which they came
        self.w_g = 0.0  # w.g
        self.g_b = 0.0  # sum of s_i slope_i t_i over its violators
        self.violators = array("q")  # if multipliers are kept: which rows, and s_i slope_i
        self.violator_weights = array("d")

    def present(self, rows: Rows, i: int, target: float, weight: float, objective: Objective) -> None:
        """The next row: number i of `rows`."""
        if self.options.free_intercept:
            self.longest2 = max(self.longest2, rows.squared_norm(i))
        z = self.iterate.decision(rows, i)
        slope = objective.loss.slope(slack(target, z + self.b))  # 1.
        if self.options.batch == 1:
            keep = self._begin_step()
            if slope != 0.0:
                step = weight * self._alpha(objective) * slope
                self.iterate.add(rows, i, target, step, keep * z)
                if self.options.free_intercept:
                    self.b += step * target
            self.end_step(objective)
            return
        if slope != 0.0:
            self._hold(rows, i, target, weight * slope, z)
        self.waiting += 1
        if self.waiting == self.options.batch:
            keep = self._begin_step()
            self._add_batch(keep, self._alpha(objective) / self.options.batch)
            self.end_step(objective)
            self.forget_batch()

    def _alpha(self, objective: Objective) -> float:
        return 1.0 / (objective.lambda_ * self.iterate.t)

    def _begin_step(self) -> float:
        """2a. w <- (1 - alpha_t lambda) w; the factor is exactly 0 at t = 1."""
        self.iterate.t += 1
        keep = 1.0 - 1.0 / self.iterate.t
        self.iterate.shrink(keep)
        return keep

    def _hold(self, rows: Rows, i: int, target: float, weight: float, z: float) -> None:
        signed_weight = weight * target
        columns = [rows.n_features, *rows.entries(i)[0].tolist()]  # the constant feature, whether there is one or not
        listed = set(self.g_columns)
        self.g_columns.extend(j for j in dict.fromkeys(columns) if j not in listed)
        rows.add(i, signed_weight, self.g)
        self.w_g += signed_weight * z
        self.g_b += signed_weight
        if self.iterate.c.size:
            self.violators.append(i)
            self.violator_weights.append(weight)

    def _add_batch(self, keep: float, step: float) -> None:
        """2b. w <- w + step g"""
        iterate, columns = self.iterate, np.array(self.g_columns)
        g = self.g[columns]
        iterate.norm2 += 2.0 * step * (keep * self.w_g) + step * step * interleaved_sum(g * g, 1)
        change = step / iterate.scale
        iterate.v[columns] += change * g
        if self.options.average:
            iterate.u[columns] += change * iterate.scale_sum * g
        if self.options.free_intercept:
            self.b += step * self.g_b
        for i, weight in zip(self.violators, self.violator_weights, strict=True):
            iterate.c[i] += change * weight
            if self.options.average:
                iterate.e[i] += change * weight * iterate.scale_sum

    def end_step(self, objective: Objective) -> None:
        """3. Back into the ball, b to where the best b of any w lies; keep what the average needs."""
        if self.options.projection:
            self.iterate.project(objective.radius2)
            most = 1.0 + math.sqrt(max(self.iterate.norm2, 0.0) * self.longest2)
            self.b = min(max(self.b, -most), most)
        self.iterate.record()
        self.b_sum += self.b

    @property
    def intercept(self) -> float:
        """b of the iterate asked for."""
        return self.b_sum / max(self.iterate.t, 1) if self.options.average else self.b


class Online(Algorithm):
    """On a data set: every epoch visits all rows in an order. A batch may span two epochs."""

    fields = (*inside("steps", OnlineSteps.fields), "rng")

    def __init__(self, problem: Problem, options: OnlineOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem)
        self.steps = OnlineSteps(problem.m, problem.n_features, options)
        self.order = order
        self.rng = rng

    def run_epoch(self) -> None:
        problem = self.problem
        objective = Objective(problem.lambda_, problem.total_cost, problem.loss)
        for i in self.each(self.order.of_all(problem.m, self.rng)):
            self.steps.present(problem.rows, i, problem.target[i], problem.relative_weight(i), objective)

    def point(self) -> Point:
        b = self.steps.intercept if self.problem.free_intercept else 0.0
        return self.steps.iterate.weights(), b, self.steps.iterate.multipliers()

    def make_consistent(self) -> None:
        """The batch of another problem is forgotten."""
        if not self.problem.free_intercept:
            self.steps.b = self.steps.b_sum = 0.0
        self.steps.longest2 = 0.0
        self.steps.forget_batch()
        self.steps.iterate.recombine(self.problem)


class OnlineStream:
    """On a stream: rows come in chunks and are not kept. One model per class, or one for two classes."""

    def __init__(self, n_models: int, n_features: int, lambda_: float, rho: float, options: OnlineOptions) -> None:
        self.lambda_ = lambda_
        self.rho = rho
        self.seen = 0
        self.weight_sum = 0.0
        self.loss = LOSSES["hinge"]
        self.steps = [OnlineSteps(0, n_features, options) for _ in range(n_models)]

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
        for i in visit:
            self.seen += 1
            self.weight_sum += float(weights[i])
            objective = Objective(self.lambda_, self.weight_sum / self.seen / self.lambda_, self.loss)
            for k, steps in enumerate(self.steps):
                positive = 1 if len(self.steps) == 1 else k
                steps.present(rows, i, 1.0 if classes[i] == positive else -1.0, float(weights[i]), objective)

    def fields(self, k: int) -> dict[str, Any]:
        """Everything that model k consists of."""
        return saved_fields(self.steps[k], OnlineSteps.fields)

    def models(self) -> tuple[int, int, list[tuple[Floats, float]]]:
        """Rows taken so far, steps, and (w, b) of every model."""
        models = [(steps.iterate.weights(), steps.intercept) for steps in self.steps]
        return self.seen, self.steps[0].iterate.t, models
