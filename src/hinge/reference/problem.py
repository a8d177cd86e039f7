"""Problem: rows, targets, costs and the loss of one binary problem.

::

    primal   P(w, b) = 1/2 |w|^2 + sum_i C_i loss(s_i),    s_i = 1 - t_i (w.x_i + b),   t_i = -1 or +1
    dual     D(a)    = sum_i dual_term(a_i) - 1/2 |sum_i a_i t_i x_i|^2,   0 <= a_i <= box_i,
                       and sum_i a_i t_i = 0 if b is free

``lambda = 1 / sum_i C_i`` links to the papers' ``lambda/2 |w|^2 + mean loss``. `hinge.reference.loss` has the losses.
"""

from __future__ import annotations

from collections.abc import Iterable

from hinge.reference.loss import LOSSES, Loss
from hinge.reference.rows import Rows
from hinge.reference.sums import total


class Problem:
    """Targets t_i in {-1, +1} and costs C_i > 0 of the rows: those of zero cost have been left out."""

    def __init__(
        self,
        rows: Rows,
        target: Iterable[float],
        cost: Iterable[float],
        loss: Loss = LOSSES["hinge"],
        free_intercept: bool = False,
    ) -> None:
        self.rows = rows
        self.target = [float(t) for t in target]
        self.cost = [float(c) for c in cost]
        self.loss = loss
        self.free_intercept = free_intercept
        # Equal costs: the product is the correctly rounded sum, and every relative weight is exactly 1.
        equal = min(self.cost) == max(self.cost)
        self.total_cost = self.m * self.cost[0] if equal else total(self.cost)
        self.lambda_ = 1.0 / self.total_cost

    @property
    def m(self) -> int:
        """Number of rows."""
        return len(self.target)

    @property
    def n_features(self) -> int:
        """Without the constant feature."""
        return self.rows.n_features

    def relative_weight(self, i: int) -> float:
        """s^_i = m s_i / sum s"""
        return self.m * self.cost[i] / self.total_cost

    def box(self, i: int) -> float:
        """The largest multiplier of row i."""
        return self.loss.box(self.cost[i])
