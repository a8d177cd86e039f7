"""Problem: rows, labels and costs of one binary problem.

::

    primal   P(w, b) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))
    dual     D(a)    = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,   0 <= a_i <= C_i,   and sum_i a_i y_i = 0 if b is free

``lambda = 1 / sum_i C_i`` links to the papers' ``lambda/2 |w|^2 + mean hinge``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hinge._reference.rows import Floats, Rows


class Sum:
    """Compensated sum (Neumaier): the error is about one rounding of the result."""

    def __init__(self) -> None:
        self.high = 0.0
        self.low = 0.0

    def add(self, x: float) -> None:
        total = self.high + x
        self.low += (self.high - total) + x if abs(self.high) >= abs(x) else (x - total) + self.high
        self.high = total

    @property
    def value(self) -> float:
        return self.high + self.low


def squared_norm(w: Floats) -> float:
    """|w|^2, a compensated sum."""
    total = Sum()
    for x in w.tolist():
        total.add(x * x)
    return total.value


class Problem:
    """Labels y_i in {-1, +1} and costs C_i > 0 of the rows: those of zero cost have been left out."""

    def __init__(self, rows: Rows, y: Iterable[int], cost: Iterable[float], free_intercept: bool = False) -> None:
        self.rows = rows
        self.y = [int(label) for label in y]
        self.cost = [float(c) for c in cost]
        self.free_intercept = free_intercept
        total = Sum()
        for c in self.cost:
            total.add(c)
        # Equal costs: the product is the correctly rounded sum, and every relative weight is exactly 1.
        equal = min(self.cost) == max(self.cost)
        self.total_cost = self.m * self.cost[0] if equal else total.value
        self.lambda_ = 1.0 / self.total_cost

    @property
    def m(self) -> int:
        """Number of rows."""
        return len(self.y)

    def relative_weight(self, i: int) -> float:
        """s^_i = m s_i / sum s"""
        return self.m * self.cost[i] / self.total_cost
