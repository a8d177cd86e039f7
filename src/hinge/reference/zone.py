"""Zones: the smooth losses of some rows, and the minimum of their sum on a ray; for `hinge.reference.newton`.

::

    u = a + weight z,   a+ = clip(u, 0, top)     hinge: weight s C, top C     squared hinge: a = 0, weight 2 C, no top
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hinge.reference.loss import Loss
from hinge.reference.sums import Floats

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Zones:
    """Those of several rows at once."""

    weight: Floats
    top: Floats

    @classmethod
    def of(cls, loss: Loss, cost: Floats, rate: float) -> Zones:
        if loss.name == "hinge":
            return cls(rate * cost, cost)
        return cls(2.0 * cost, np.full_like(cost, np.inf))

    def part(self, chosen: Numbers) -> Zones:
        return Zones(self.weight[chosen], self.top[chosen])

    def next(self, a: Floats, z: Floats) -> Floats:
        """a+"""
        return np.minimum(np.maximum(a + self.weight * z, 0.0), self.top)

    def contain(self, a: Floats, z: Floats) -> Flags:
        u = a + self.weight * z
        return (u > 0.0) & (u < self.top)

    def outside(self, a: Floats, z: Floats) -> Floats:
        """How far u is outside of its zone; negative inside."""
        u = a + self.weight * z
        return np.maximum(-u, u - self.top)

    def gap(self, following: Floats, z: Floats) -> Floats:
        """C max(0, z) - a+ z for the hinge: what the smooth loss hides. Nothing for the squared hinge."""
        hidden = self.top * np.maximum(z, 0.0) - following * z
        return np.where(np.isfinite(self.top), hidden, 0.0)

    def minimum(self, a: Floats, z: Floats, change: Floats, slope: float, curvature: float, longest: float) -> float:
        """The minimum over 0 <= t <= longest of F(w + t p), from its slope at 0, |p|^2, and the changes of z along p.

        The derivative is piecewise linear and increasing; its pieces end where a row comes to a bound of its zone::

            slope + t |p|^2 + sum_i (a+_i(t) - a+_i(0)) change_i
        """
        u, rise, before = a + self.weight * z, self.weight * change, self.next(a, z)

        def derivative(t: float) -> float:
            following = np.minimum(np.maximum(u + t * rise, 0.0), self.top)
            return slope + t * curvature + float((following - before) @ change)

        if not slope < 0.0:
            return 0.0
        if derivative(longest) <= 0.0:
            return longest
        bounds = np.concatenate([-u / rise, (self.top - u) / rise])
        ends = [0.0, *np.sort(bounds[(bounds > 0.0) & (bounds < longest)]).tolist(), longest]
        piece = bisect_left(ends, 0.0, key=derivative)
        low, high = ends[piece - 1], ends[piece]
        at_low, at_high = derivative(low), derivative(high)
        return float(min(max(low - at_low * (high - low) / (at_high - at_low), low), high))
