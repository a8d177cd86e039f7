"""Metric: how long rows and steps are, so that the two together bound what a step does to a row.

For any scales s_j > 0, ``|x.p| <= |x|' |p|`` with ``|p|^2 = sum_j s_j p_j^2`` and ``|x|'^2 = sum_j x_j^2 / s_j`` (by
Cauchy and Schwarz). At first all features are alike, s_j = 1. But steps may be long in features that few rows have, and
they concern these rows only. With ``s_j = (mean |x_j|) / (mean |p_j|)`` the bound of an ordinary row is about
``sum_j (mean |x_j|) (mean |p_j|)``: each feature by itself.
"""

from __future__ import annotations

import math

import numpy as np

from hinge.reference.sums import Floats

MEMORY = 0.9  # what a step counts for when the next one has been made
LEAST = 0.01  # a feature counts as if its steps were so long, as a share of what all do to an ordinary row on average
TRIED = 512  # rows that new scales are tried on
SMALLEST = 1e-200
ROUNDING = 1e-6  # of lengths in single precision


class Metric:
    """For `width` weights, the last of them that of the constant feature or b."""

    fields = ("scales", "mean_row", "mean_step")

    def __init__(self, width: int) -> None:
        self.scales: Floats = np.ones(width)
        self.mean_row: Floats = np.zeros(width)
        self.mean_step: Floats = np.zeros(width)  # but for a factor

    def make_plain(self, last: float) -> None:
        """All features are alike, but for the last, whose scale is given."""
        self.scales[:] = 1.0
        self.scales[-1] = min(max(last, SMALLEST), 1.0 / SMALLEST)
        self.mean_step[:] = 0.0

    def average(self, X: Floats) -> None:
        """Of these rows. Features that none of them has: one row more has the mean of all."""
        sums = np.abs(X[:, :-1]).sum(axis=0)
        unseen = sums.sum() / (len(X) * max(sums.size, 1))
        self.mean_row = np.append((sums + unseen) / len(X), abs(X[0, -1]))

    def note(self, step: Floats) -> None:
        """A step was made."""
        self.mean_step = MEMORY * self.mean_step + np.abs(step)

    def adapt(self, X: Floats) -> None:
        """Scales for rows and steps like those seen, if they lower the bound of the median row of X.

        To a half at least where all scales are 1: native code knows the lengths of rows then. Steps are noted anew from
        here on.
        """
        moves = self.mean_row * self.mean_step
        with np.errstate(all="ignore"):
            scales = self.mean_row * (self.mean_row / (moves + LEAST * moves.mean()))
        scales[self.mean_row == 0.0] = 1.0
        usable = np.all((scales >= SMALLEST) & (scales <= 1.0 / SMALLEST))
        other = Metric(scales.size)
        other.scales = scales
        tried = X[:: 1 + len(X) // TRIED]
        wanted = 4.0 if np.all(self.scales[:-1] == 1.0) else 1.0  # squared
        if usable and wanted * self._median_bound(other, tried) <= self._median_bound(self, tried):
            self.scales = scales
        self.mean_step = np.zeros_like(self.mean_step)

    def _median_bound(self, metric: Metric, X: Floats) -> float:
        squares = np.sort(metric.squares_of(X))
        return float(squares[squares.size // 2]) * metric.length(self.mean_step) ** 2

    def length(self, p: Floats) -> float:
        """|p|."""
        return math.sqrt(float(np.sum(self.scales * p * p)))

    def squares_of(self, X: Floats) -> Floats:
        """|x|'^2 of each row; not less, whatever the rounding."""
        return np.maximum((X * X) @ (1.0 / self.scales) * (1.0 + ROUNDING), float(np.finfo(np.float32).tiny))
