"""A Newton step on the face of the box: all free multipliers (0 < a_i < box_i) at once, the others fixed.

Coordinate steps find out quickly which multipliers are free, but crawl when the free rows are nearly dependent. On the
face D - b s - kappa/2 s^2 with s = sum_i a_i t_i is quadratic. With (i, j in F, the free multipliers)::

    K_ij = t_i t_j x_i.x_j + [i = j] diagonal_i    and    r_i = 1 - t_i w.x_i - diagonal_i a_i

its maximum is at::

    (K + kappa t t') delta = r - b t

The step goes as far along delta as the box allows; a multiplier that meets its bound leaves F, and the rest is solved
again. A ridge of rounding size makes the Cholesky factor exist where rows are dependent: delta is then huge along the
dependent directions and ends at a bound, where the maximum is.

With a free intercept the maximum of D on s = 0 is tried first::

    K delta + t b = r,   t . delta = -s

and taken if it lies inside the box and above all such points before (`summit`), which rules out going in circles.

This is linear algebra: NumPy adds in an order of its own, so that it agrees with native code to rounding, not to the
bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from hinge.reference.free_intercept import FreeIntercept
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats, squared_norm

LARGEST = 400  # larger faces are left to coordinate steps
RIDGE = 1e-13  # for each free row, relative to the largest entry of K
AT_BOUND = 1e-14  # of C: what rounding leaves of a multiplier that met its bound is no free multiplier


class DualIterate(FreeIntercept):
    """Where a dual method is: multipliers inside the box, and what follows from them."""

    def __init__(self, problem: Problem, kappa: float) -> None:
        super().__init__(problem, kappa)
        self.a: Floats = np.zeros(problem.m)
        self.w: Floats = np.zeros(problem.n_features + 1)  # sum a_i t_i x_i
        self.dual = 0.0  # D(a)
        self.summit = 0.0  # the largest D reached at the maximum of a face with residue 0

    def is_free(self, i: int) -> bool:
        return 0.0 < float(self.a[i]) < self.problem.box(i)

    def recompute(self) -> None:
        """Multipliers back into their box, and what follows from them."""
        problem, w = self.problem, np.zeros_like(self.w)
        residue = total = 0.0
        for i, a in enumerate(self.a.tolist()):
            a = min(a, problem.box(i))
            self.a[i] = a
            if a == 0.0:
                continue
            problem.rows.add(i, a * problem.target[i], w)
            residue += a * problem.target[i]
            total += a - problem.loss.dual_penalty(a, problem.cost[i])
            self.ask_poll(i)
        self.w, self.residue = w, residue
        self.dual = total - 0.5 * squared_norm(w)


@dataclass
class Face:
    """The free rows: their numbers, targets, costs, boxes, diagonals, rows t_i x_i, and K."""

    rows: npt.NDArray[np.int64]
    t: Floats
    cost: Floats
    box: Floats
    diagonal: Floats
    signed: Floats
    K: Floats

    @classmethod
    def of(cls, run: DualIterate, free: list[int]) -> Face:
        problem = run.problem
        t = np.array([problem.target[i] for i in free])
        cost = np.array([problem.cost[i] for i in free])
        box = np.array([problem.box(i) for i in free])
        diagonal = np.array([problem.loss.diagonal(problem.cost[i]) for i in free])
        signed = t[:, np.newaxis] * problem.rows.augmented(free)
        return cls(np.array(free), t, cost, box, diagonal, signed, signed @ signed.T + np.diag(diagonal))

    def part(self, stay: npt.NDArray[np.bool_]) -> Face:
        """Only the rows that are still free."""
        t, cost, box, diagonal = self.t[stay], self.cost[stay], self.box[stay], self.diagonal[stay]
        return Face(self.rows[stay], t, cost, box, diagonal, self.signed[stay], self.K[np.ix_(stay, stay)])

    def factor(self, kappa: float) -> Any:
        """Of K + kappa t t', with the ridge."""
        ridge = RIDGE * self.rows.size * max(0.0, float(self.K.diagonal().max()))
        return cho_factor(self.K + kappa * np.outer(self.t, self.t) + ridge * np.eye(self.rows.size))

    def room(self, a: Floats, delta: Floats) -> float:
        """How far along delta the box reaches, at most 1; 0 where delta is of no use."""
        if not np.all(np.isfinite(delta)):
            return 0.0
        bound = np.where(delta > 0.0, self.box - a, a)
        beyond = np.abs(delta) > bound
        return float(np.min(bound[beyond] / np.abs(delta[beyond]), initial=1.0))

    def gain(self, r: Floats, change: Floats) -> float:
        """What a change of the free multipliers adds to D."""
        return float(change @ (r - 0.5 * self.K @ change))


def climb(run: DualIterate, most_steps: int) -> None:
    """Climb to the maximum of the face, or to where the box ends it for the last of `most_steps` times."""
    free = [i for i in range(run.problem.m) if run.is_free(i)]
    if not 0 < len(free) <= LARGEST:
        return
    face = Face.of(run, free)
    for _ in range(most_steps):
        if not face.rows.size or climb_once(run, face):
            return
        a = run.a[face.rows]
        face = face.part((a > 0.0) & (a < face.box))


def climb_once(run: DualIterate, face: Face) -> bool:
    """One step. True when there is nothing more to climb; otherwise at least one multiplier has met its bound."""
    a = run.a[face.rows]
    r = 1.0 - face.signed @ run.w - face.diagonal * a
    try:
        factor = face.factor(run.kappa)
    except (LinAlgError, ValueError):  # not positive definite, or not finite
        return True
    if run.problem.free_intercept:
        delta, b = _balanced(factor, run, face.t, r)
        if face.room(a, delta) == 1.0 and run.dual + face.gain(r, delta) > run.summit:
            _move(run, face, r, delta, 1.0)
            run.b = b
            run.summit = run.dual
            return True
    delta = cho_solve(factor, r - face.t * run.b)
    length = face.room(a, delta)
    if not length > 0.0:
        return True
    _move(run, face, r, delta, length)
    return length == 1.0


def _balanced(factor: Any, run: DualIterate, t: Floats, r: Floats) -> tuple[Floats, float]:
    """The maximum of the face on s = 0, delta eliminated: (t . A^-1 t) b = t . A^-1 r + s with A = K + kappa t t'."""
    r = r - run.kappa * run.residue * t
    b = float((run.residue + t @ cho_solve(factor, r)) / (t @ cho_solve(factor, t)))
    return cho_solve(factor, r - t * b), b


def _move(run: DualIterate, face: Face, r: Floats, delta: Floats, length: float) -> None:
    before = run.a[face.rows]
    a = np.clip(before + length * delta, 0.0, face.box)
    if length < 1.0:
        a[a < AT_BOUND * face.cost] = 0.0
        a = np.where(a > (1.0 - AT_BOUND) * face.box, face.box, a)
    change = a - before
    run.a[face.rows] = a
    run.w += change @ face.signed
    run.residue += float(change @ face.t)
    run.b += run.kappa * float(change @ face.t)
    run.dual += face.gain(r, change)
