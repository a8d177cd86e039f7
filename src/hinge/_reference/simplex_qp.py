"""The small problem of the cutting-plane methods: a concave quadratic over the simplex.

::

    maximise  f(beta) = b.beta - 1/2 beta' G beta    over  beta >= 0,  sum_j beta_j = 1

An active-set method (after Wolfe, "Finding the Nearest Point in a Polytope", 1976). The face holds all j with
beta_j > 0; once its top is reached, also the j with the largest g_j, g = b - G beta. The Newton step on the face solves
K delta = g - level with sum delta = 0, where K = G + c: the constant changes nothing where sum delta = 0, and makes K
regular where the planes are only affinely independent. The step ends at the maximum along delta or at the border, where
a variable leaves the face. Where rounding makes it useless, weight moves from the worst variable of the face to the
best of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hinge._reference.face import Cholesky
from hinge._reference.rows import Floats

NOTHING = 1e-16


@dataclass
class _Climb:
    """A point of the simplex and what follows from it. Sums run from left to right."""

    G: Floats
    b: Floats
    beta: Floats
    gain: float = 0.0  # of the last move

    def __post_init__(self) -> None:
        self.beta[int(np.argmax(self.beta))] += 1.0 - _sum(self.beta)  # what rounding has lost
        self.g = self.b.copy()
        for j in np.flatnonzero(self.beta):
            self.g += -self.beta[j] * self.G[j]
        self._look()

    def _look(self) -> None:
        self.level = _sum(self.beta * self.g)
        self.best = int(np.argmax(self.g))
        self.gap = float(self.g[self.best]) - self.level
        self.value = 0.5 * (_sum(self.beta * self.b) + self.level)

    def face(self, with_best: bool) -> list[int]:
        return [k for k, x in enumerate(self.beta.tolist()) if x > 0.0 or (with_best and k == self.best)]

    def newton(self, face: list[int]) -> Floats | None:
        diagonal = self.G[face, face]
        if not (diagonal > 0.0).any():
            return None
        K = self.G[np.ix_(face, face)] + diagonal[diagonal > 0.0].min()
        K[np.diag_indices_from(K)] *= 1.0 + 4e-16 * len(face)
        factor = Cholesky(K)
        if not factor.ok:
            return None
        delta = factor.solve(self.g[face] - self.level)
        along = factor.solve(np.ones(len(face)))
        for _ in range(2):  # the second round takes out what rounding has left of the sum
            delta = delta - _sum(delta) / _sum(along) * along
        return delta

    def climbs(self, face: list[int], delta: Floats | None) -> bool:
        if delta is None or not np.isfinite(delta).all() or (delta[self.beta[face] == 0.0] <= 0.0).any():
            return False
        return _sum(delta * (self.g[face] - self.level)) > 0.0

    def pair(self, face: list[int]) -> tuple[list[int], Floats]:
        worst = self.best
        for k in face:
            if self.beta[k] > 0.0 and self.g[k] < self.g[worst]:
                worst = k
        return [worst, self.best], np.array([-1.0, 1.0])

    def move(self, face: list[int], delta: Floats) -> bool:
        """True when the maximum along delta lies inside the simplex."""
        change = np.zeros_like(self.b)  # of -g
        for k, step in zip(face, delta.tolist(), strict=True):
            change += step * self.G[k]
        slope, curvature = _sum(delta * (self.g[face] - self.level)), _sum(delta * change[face])
        rooms = [float(self.beta[k]) / -step for k, step in zip(face, delta.tolist(), strict=True) if step < 0.0]
        room = min(rooms, default=math.inf)
        inside = curvature > 0.0 and slope / curvature < room
        length = slope / curvature if inside else room
        if not math.isfinite(length):
            self.gain = 0.0
            return True
        for k, step in zip(face, delta.tolist(), strict=True):
            x = float(self.beta[k])
            leaves = step < 0.0 and x / -step <= length
            self.beta[k] = 0.0 if leaves else max(x + length * step, 0.0)
        self.g -= length * change
        self.gain = length * (slope - 0.5 * length * curvature)
        self._look()
        return inside


def _sum(terms: Floats) -> float:
    total = 0.0
    for term in terms.tolist():
        total += term
    return total


def climb(G: Floats, b: Floats, beta: Floats, target: float) -> tuple[float, float]:
    """Climb from `beta`, in place, until the gap is at most `target`: f and the gap there."""
    qp = _Climb(G, b, beta)
    at_top = True  # of the face
    for _ in range(10 * b.size + 100):
        if not qp.gap > target:
            break
        face = qp.face(at_top)
        delta = qp.newton(face)
        if delta is None or not qp.climbs(face, delta):
            face, delta = qp.pair(face)
        at_top = qp.move(face, delta)
        if at_top and not qp.gain > NOTHING * abs(qp.value):
            break
    return qp.value, qp.gap
