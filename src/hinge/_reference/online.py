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

import numpy as np

from hinge._reference.order import Order
from hinge._reference.problem import Problem, squared_norm
from hinge._reference.rng import Rng
from hinge._reference.rows import Floats, Rows


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

    def dot(self, i: int, w: Floats) -> float:
        return self.factors[i] * self.plain.dot(i, w) + self.rho * float(w[-1])

    def add(self, i: int, scale: float, v: Floats) -> None:
        self.plain.add(i, scale * self.factors[i], v)
        v[-1] += scale * self.rho


class OnlineSteps:
    """The steps, wherever the rows come from. Multipliers follow the weights if there is room for them (m > 0)."""

    def __init__(self, m: int, n_features: int, options: OnlineOptions) -> None:
        self.options = options
        self.v: Floats = np.zeros(n_features + 1)  # w = scale * v = scale * sum_i c_i y_i x_i
        self.c: Floats = np.zeros(m)
        self.scale = 1.0
        self.norm2 = 0.0  # |w|^2, tracked
        self.b = 0.0
        self.t = 0
        # The sum of all iterates is scale_sum * v - u, and of the multipliers scale_sum * c - e.
        self.u: Floats = np.zeros(self.v.size if options.average else 0)
        self.e: Floats = np.zeros(m if options.average else 0)
        self.scale_sum = 0.0
        self.b_sum = 0.0
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

    def present(self, rows: Rows, i: int, label: int, weight: float, lambda_: float, radius2: float) -> None:
        """The next row: number i of `rows`."""
        if self.options.free_intercept:
            self.longest2 = max(self.longest2, rows.squared_norm(i))
        z = self.scale * rows.dot(i, self.v)
        loss = label * (z + self.b) < 1.0
        if self.options.batch == 1:
            keep = self._begin_step()
            if loss:
                self._add(rows, i, label, weight * (1.0 / (lambda_ * self.t)), keep * z)
            self._end_step(radius2)
            return
        if loss:
            self._hold(rows, i, label, weight, z)
        self.waiting += 1
        if self.waiting == self.options.batch:
            keep = self._begin_step()
            self._add_batch(keep, 1.0 / (lambda_ * self.t) / self.options.batch)
            self._end_step(radius2)
            self.forget_batch()

    def _begin_step(self) -> float:
        """2a. w <- (1 - alpha_t lambda) w; the factor is exactly 0 at t = 1, and v begins anew."""
        self.t += 1
        keep = 1.0 - 1.0 / self.t
        if keep == 0.0:
            self.v[:] = 0.0
            self.c[:] = 0.0
            self.scale = 1.0
            self.norm2 = 0.0
        else:
            self.scale *= keep
            self.norm2 *= keep * keep
            self._fold_tiny_scale()
        return keep

    def _add(self, rows: Rows, i: int, label: int, step: float, before: float) -> None:
        """2b. w <- w + step y_i x_i, where w.x_i is `before`."""
        self.norm2 += 2.0 * step * label * before + step * step * rows.squared_norm(i)
        change = step / self.scale
        rows.add(i, change * label, self.v)
        if self.options.average:
            rows.add(i, change * label * self.scale_sum, self.u)
        if self.options.free_intercept:
            self.b += step * label
        if self.c.size:
            self.c[i] += change
            if self.options.average:
                self.e[i] += change * self.scale_sum

    def _hold(self, rows: Rows, i: int, label: int, weight: float, z: float) -> None:
        columns = [self.v.size - 1, *_stored_columns(rows, i)]
        self.g_columns += [j for j in dict.fromkeys(columns) if j not in self.g_columns]
        rows.add(i, weight * label, self.g)
        self.w_g += weight * label * z
        self.g_b += weight * label
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

    def _end_step(self, radius2: float) -> None:
        """3. Back into the ball, b to where the best b of any w lies; keep what the average needs."""
        if self.options.projection:
            if self.norm2 > radius2:
                self.scale *= math.sqrt(radius2 / self.norm2)
                self.norm2 = radius2
                self._fold_tiny_scale()
            most = 1.0 + math.sqrt(max(self.norm2, 0.0) * self.longest2)
            self.b = min(max(self.b, -most), most)
        if self.options.average:
            self.scale_sum += self.scale
        self.b_sum += self.b

    def _fold_tiny_scale(self) -> None:
        if self.scale >= (1e-6 if self.options.average else 1e-100):
            return
        if self.options.average:
            self.u -= self.scale_sum * self.v
            self.e -= self.scale_sum * self.c
            self.scale_sum = 0.0
        self.v *= self.scale
        self.c *= self.scale
        self.scale = 1.0

    def point(self) -> tuple[Floats, Floats]:
        """The iterate asked for, and its multipliers (not yet clipped to the box)."""
        return self._output(self.v, self.u), self._output(self.c, self.e)

    def _output(self, now: Floats, kept: Floats) -> Floats:
        return (self.scale_sum * now - kept) / max(self.t, 1) if self.options.average else self.scale * now

    @property
    def intercept(self) -> float:
        """b of the iterate asked for."""
        return self.b_sum / max(self.t, 1) if self.options.average else self.b


class Online(OnlineSteps):
    """On a data set: every epoch visits all rows in an order. A batch may span two epochs."""

    def __init__(self, problem: Problem, options: OnlineOptions, order: Order, rng: Rng) -> None:
        super().__init__(problem.m, problem.rows.n_features, options)
        self.problem = problem
        self.order = order
        self.rng = rng

    def run_epoch(self) -> None:
        problem = self.problem
        for i in self.order.of_all(problem.m, self.rng):
            weight = problem.relative_weight(i)
            self.present(problem.rows, i, problem.y[i], weight, problem.lambda_, problem.total_cost)

    def rebuild(self) -> None:
        """For a state saved on another problem: what follows from the multipliers, computed anew."""
        if not self.problem.free_intercept:
            self.b = self.b_sum = 0.0
        self.longest2 = 0.0
        self.forget_batch()
        for total, coefficients in ((self.v, self.c), (self.u, self.e)):
            total[:] = 0.0
            for i, coefficient in enumerate(coefficients.tolist()):
                if coefficient != 0.0:
                    self.problem.rows.add(i, coefficient * self.problem.y[i], total)
        self.norm2 = self.scale * self.scale * squared_norm(self.v)


class OnlineStream:
    """On a stream: rows come in chunks and are not kept. One model per class, or one for two classes."""

    def __init__(self, n_models: int, n_features: int, lambda_: float, rho: float, options: OnlineOptions) -> None:
        self.lambda_ = lambda_
        self.rho = rho
        self.seen = 0
        self.weight_sum = 0.0
        self.models = [OnlineSteps(0, n_features, options) for _ in range(n_models)]

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
            weight = float(weights[i])
            self.seen += 1
            self.weight_sum += weight
            radius2 = self.weight_sum / self.seen / self.lambda_
            for k, model in enumerate(self.models):
                positive = 1 if len(self.models) == 1 else k
                model.present(rows, i, 1 if classes[i] == positive else -1, weight, self.lambda_, radius2)

    def model(self, k: int) -> tuple[Floats, float]:
        """(w, b) of model k."""
        return self.models[k].point()[0], self.models[k].intercept


def _stored_columns(rows: Rows, i: int) -> list[int]:
    """The columns that row i stores, in its order."""
    if isinstance(rows, ScaledRows):
        return _stored_columns(rows.plain, i)
    indices = getattr(rows, "indices", None)
    if indices is None:
        return list(range(rows.n_features))
    begin, end = rows.indptr[i], rows.indptr[i + 1]  # type: ignore[attr-defined]
    return [int(j) for j in indices[begin:end]]
