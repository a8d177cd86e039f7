"""A free intercept in a method that moves one multiplier a_i at a time: the method of multipliers.

Single coordinates cannot move along sum a_i t_i = 0. b is the multiplier of that constraint; the penalty
kappa/2 (sum a_i t_i)^2 acts like a constant feature sqrt(kappa): |x_i|^2 grows by kappa, and b moves by
kappa (change of a_i) t_i at each step. After each epoch it moves by rate kappa sum a_i t_i. The rate is 1 at first; it
halves when the sum has changed its sign, which tells of a multiplier that overshoots, and grows by half, up to 1, when
it has not. Where no row wants to move at this b, nothing would change until b has come to where one does: it goes there
first.
"""

from __future__ import annotations

import math

from hinge.reference.algorithm import Algorithm
from hinge.reference.problem import Problem


class Jump:
    """How far b would have to go up, or down, until the first row that rests wants to move."""

    def __init__(self) -> None:
        self.way = {-1.0: math.inf, 1.0: math.inf}

    def add(self, sign: float, distance: float) -> None:
        """A row that wants to move when b has gone so far in the direction of `sign`."""
        self.way[sign] = min(self.way[sign], distance)

    def merge(self, other: Jump) -> None:
        """That, and what others have found."""
        for sign, distance in other.way.items():
            self.add(sign, distance)


class FreeIntercept(Algorithm):
    """kappa = 0 without a free intercept; then b stays 0."""

    def __init__(self, problem: Problem, kappa: float) -> None:
        super().__init__(problem)
        self.kappa = kappa  # penalty of the residue
        self.b = 0.0
        self.residue = 0.0  # sum a_i t_i
        self.last_residue = 0.0  # after the epoch before
        self.rate = 1.0  # of b, relative to kappa

    def moved(self, change: float) -> None:
        """a_i t_i has changed."""
        self.b += self.kappa * change
        self.residue += change

    def follow(self, jump: Jump | None) -> None:
        """After an epoch b follows the residue; None: some row has moved."""
        if self.kappa == 0.0:
            return
        self.rate = 0.5 * self.rate if self.residue * self.last_residue < 0.0 else min(1.0, 1.5 * self.rate)
        sign = math.copysign(1.0, self.residue)
        if jump is not None and self.residue != 0.0 and math.isfinite(jump.way[sign]):
            self.b += sign * jump.way[sign]
        self.b += self.rate * self.kappa * self.residue
        self.last_residue = self.residue

    def cost_of_residue(self) -> float:
        """Roughly what repairing sum_i a_i t_i = 0 will cost."""
        return (1.0 + abs(self.b)) * abs(self.residue) if self.kappa > 0.0 else 0.0
