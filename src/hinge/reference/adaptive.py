"""A linear classifier on a stream, with steps that need no tuning, whatever the scales of the features.

Ross, Mineiro, Langford, "Normalized online learning" (UAI 2013), the adaptive variant (NAG), for the hinge loss.
The steps stop where the loss ends: Karampatziakis, Langford, "Online importance weight aware updates" (UAI 2011).
The average forgets: Shamir, Zhang, "Stochastic gradient descent for non-smooth optimization" (ICML 2013), section 4.

s_j is the largest |x_j| so far, and everything is kept in units of it: u_j = x_j / s_j lies in [-1, 1], v_j = w_j s_j.
When s_j grows, v_j stays: w_j was learned for a feature that seemed smaller, and shrinks. Row t of weight h::

    1. s_j <- max(s_j, |x_j|), the squares q_j in the new units;  N <- N + |u|^2
    2. slack = 1 - y v.u; nothing to learn unless it is positive
    3. q_j <- q_j + u_j^2,   r_j = u_j / sqrt(q_j)
    4. v <- v + min(h eta sqrt(t / N), slack / r.u) y r                     (never further than to a margin of 1)
    5. average <- (1 - g) average + g v,   g = max((p + 1) / (t + p), 1 / window)

Instead of the average its distance from v is kept, d <- (1 - g) (d + change of v), as lag_scale * lag.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hinge.reference.algorithm import saved_fields
from hinge.reference.rows import Columns, Rows, ScaledRows
from hinge.reference.sums import LANES, Floats, dot, interleaved_sum

RATE = 3.0  # eta
FORGET = 4.0  # p
SMALLEST = 1e-150
TINY_LAG = 1e-100


class AdaptiveModel:
    """What belongs to one class against the rest, in units of the scales."""

    fields = ("v", "squares", "lag")

    def __init__(self, n_features: int, average: bool) -> None:
        self.v: Floats = np.zeros(n_features + 1)
        self.squares: Floats = np.zeros(n_features + 1)
        self.lag: Floats = np.zeros(n_features + 1 if average else 0)


class AdaptiveStream:
    """On a stream: rows come in chunks and are not kept. One model per class, or one for two classes."""

    shared = ("active", "lag_scale", "scales")

    def __init__(self, n_models: int, n_features: int, rho: float, average: bool, window: int) -> None:
        self.rho, self.average, self.window = rho, average, window
        self.seen = 0
        self.active = 0.0  # N
        self.lag_scale = 1.0
        self.scales: Floats = np.zeros(n_features + 1)
        self.each = [AdaptiveModel(n_features, average) for _ in range(n_models)]

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
            columns, u = self._take(*rows.entries(i))
            for k, model in enumerate(self.each):
                positive = 1 if len(self.each) == 1 else k
                self._learn(model, columns, u, 1.0 if classes[i] == positive else -1.0, float(weights[i]))
            if self.average:
                self._follow()

    def _take(self, columns: Columns, x: Floats) -> tuple[Columns, Floats]:
        """1. The scales grow, and the row is put in their units, without zeros."""
        size = np.abs(x)
        grown = (size > self.scales[columns]) & (size > SMALLEST)
        ratio = self.scales[columns[grown]] / size[grown]
        for model in self.each:
            model.squares[columns[grown]] *= ratio * ratio
        self.scales[columns[grown]] = size[grown]
        counts = (size > 0.0) & (self.scales[columns] > 0.0)
        columns, u = columns[counts], x[counts] / self.scales[columns[counts]]
        self.active += dot(u, u)
        return columns, u

    def _learn(self, model: AdaptiveModel, columns: Columns, u: Floats, y: float, weight: float) -> None:
        """2. to 4."""
        slack = 1.0 - y * interleaved_sum(model.v[columns] * u, LANES["dense"])
        if not slack > 0.0 or u.size == 0:
            return
        model.squares[columns] += u * u
        squares = model.squares[columns]
        r = np.divide(u, np.sqrt(squares), out=np.zeros(u.size), where=squares > 0.0)
        reach = dot(r, u)
        if not reach > 0.0:
            return
        rate = weight * RATE * math.sqrt(self.seen / self.active)
        change = y * min(rate, slack / reach) * r
        model.v[columns] += change
        if self.average:
            model.lag[columns] += change / self.lag_scale

    def _follow(self) -> None:
        """5. The average takes its step: its distance from v shrinks."""
        window = 1.0 / self.window if self.window > 0 else 0.0
        keep = 1.0 - max((FORGET + 1.0) / (self.seen + FORGET), window)
        if keep > 0.0:
            self.lag_scale *= keep
        if keep > 0.0 and self.lag_scale >= TINY_LAG:
            return
        for model in self.each:
            model.lag[:] = model.lag * self.lag_scale if keep > 0.0 else 0.0
        self.lag_scale = 1.0

    def fields(self, k: int) -> dict[str, Any]:
        """Everything that model k consists of."""
        return {**saved_fields(self, self.shared), **saved_fields(self.each[k], AdaptiveModel.fields)}

    def models(self) -> tuple[int, int, list[tuple[Floats, float]]]:
        """Rows taken so far, steps, and (w, b) of every model; b is the weight of the constant feature."""
        known = self.scales > 0.0
        found = []
        for model in self.each:
            v = model.v - self.lag_scale * model.lag if self.average else model.v
            found.append((np.divide(v, self.scales, out=np.zeros(v.size), where=known), 0.0))
        return self.seen, self.seen, found
