"""Losses: what a row costs that is not classified with a margin of 1.

With the slack s = 1 - t (w.x + b), t the target -1 or +1::

    primal   C loss(s)                              hinge: max(0, s)          squared hinge: max(0, s)^2
    dual     a - dual_penalty(a, C)                 a                         a - a^2 / (4 C)
             0 <= a <= box(C)                       box C                     no upper bound

At the optimum a = C slope(s), slope the derivative of the loss. Along one multiplier the dual has the derivative -g and
the curvature -q::

    g = t (w.x + b) - 1 + diagonal(C) a,    q = |x|^2 + diagonal(C),    diagonal: 0, and 1 / (2 C) for the square
"""

from __future__ import annotations

from typing import Protocol


def slack(target: float, decision: float) -> float:
    """s = 1 - t (w.x + b)"""
    return 1.0 - target * decision


class Loss(Protocol):
    """A new loss has these."""

    name: str

    def value(self, s: float) -> float: ...

    def slope(self, s: float) -> float:
        """The derivative of the loss; at the kink, s = 0, the smaller one: no loss."""
        ...

    def box(self, cost: float) -> float:
        """The largest multiplier."""
        ...

    def dual_penalty(self, a: float, cost: float) -> float:
        """a is the linear part of the dual term, this is what is taken off."""
        ...

    def diagonal(self, cost: float) -> float:
        """What the dual term adds to the curvature along its multiplier."""
        ...

    def gap_share(self, a: float, g: float, cost: float) -> float:
        """C loss(s) + a g - diagonal a^2 / 2: a row's share of the gap P - D; never negative but for rounding."""
        ...


class Hinge:
    name = "hinge"

    def value(self, s: float) -> float:
        return 0.0 if s <= 0.0 else s  # noqa: FURB136 (NaN stays NaN)

    def slope(self, s: float) -> float:
        return 1.0 if s > 0.0 else 0.0

    def box(self, cost: float) -> float:
        return cost

    def dual_penalty(self, a: float, cost: float) -> float:
        return 0.0

    def diagonal(self, cost: float) -> float:
        return 0.0

    def gap_share(self, a: float, g: float, cost: float) -> float:
        return max(0.0, -cost * g) + a * g


class SquaredHinge:
    name = "squared_hinge"

    def value(self, s: float) -> float:
        return 0.0 if s <= 0.0 else s * s

    def slope(self, s: float) -> float:
        return 2.0 * s if s > 0.0 else 0.0

    def box(self, cost: float) -> float:
        """None; a finite number stands for it, whose square does not overflow."""
        return 1e150

    def dual_penalty(self, a: float, cost: float) -> float:
        return a * (0.25 * a / cost)

    def diagonal(self, cost: float) -> float:
        return 0.5 / cost

    def gap_share(self, a: float, g: float, cost: float) -> float:
        s = max(0.0, self.diagonal(cost) * a - g)
        distance = a - 2.0 * cost * s  # from the multiplier that would belong to this slack
        return 0.25 * distance * distance / cost if s > 0.0 else a * (g - 0.25 * a / cost)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge())}
