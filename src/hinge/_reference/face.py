"""A Newton step on the face of the box: all free multipliers (0 < a_i < C_i) at once, the others fixed.

Coordinate steps find out quickly which multipliers are free, but crawl when the free rows are nearly dependent. On the
face D is quadratic, and its maximum solves a linear system in the free multipliers F and, if free, in b::

    K delta + y b = r,   y . delta = -sum_i a_i y_i,      K_ij = y_i y_j x_i.x_j,   r_i = 1 - y_i w.x_i   (i, j in F)

The step goes as far along delta as the box allows; a multiplier that meets its bound leaves F, and the rest is solved
again. D never falls. A ridge of rounding size makes the Cholesky factor exist where rows are dependent: delta is then
huge along the dependent directions and ends at a bound, where the maximum is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hinge._reference.problem import Problem
from hinge._reference.rows import Floats

LARGEST = 400  # larger faces are left to coordinate steps


@dataclass
class DualIterate:
    """Where a dual method is: multipliers inside the box, and what follows from them."""

    a: Floats
    w: Floats  # sum a_i y_i x_i
    b: float = 0.0
    residue: float = 0.0  # sum a_i y_i
    dual: float = 0.0  # D(a)


class Cholesky:
    """L L^T = matrix, row by row; `ok` is false where the matrix is not positive definite."""

    def __init__(self, matrix: Floats) -> None:
        self.L = matrix.copy()  # the lower triangle counts
        self.ok = True
        for i in range(len(matrix)):
            for j in range(i):
                self.L[i, j] = (self.L[i, j] - _dot(self.L[i, :j], self.L[j, :j])) / self.L[j, j]
            pivot = float(self.L[i, i]) - _dot(self.L[i, :i], self.L[i, :i])
            if not pivot > 0.0:
                self.ok = False
                return
            self.L[i, i] = math.sqrt(pivot)

    def solve(self, right: Floats) -> Floats:
        """Forward with L by rows, backward with L^T by columns."""
        x = right.copy()
        for i in range(x.size):
            x[i] = (x[i] - _dot(self.L[i, :i], x[:i])) / self.L[i, i]
        for i in reversed(range(x.size)):
            x[i] /= self.L[i, i]
            x[:i] -= self.L[i, :i] * x[i]
        return x


def _dot(x: Floats, y: Floats) -> float:
    """Four accumulators; what is left over goes to the first."""
    terms = x * y
    whole = terms.size // 4 * 4
    sums = np.zeros(4)
    for chunk in terms[:whole].reshape(-1, 4):
        sums += chunk
    for term in terms[whole:]:
        sums[0] += term
    return float((sums[0] + sums[1]) + (sums[2] + sums[3]))


def climb(problem: Problem, run: DualIterate, most_steps: int) -> None:
    """Climb to the maximum of the face, or to where the box ends it for the last of `most_steps` times."""
    free = [i for i in range(problem.m) if 0.0 < run.a[i] < problem.cost[i]]
    if not free or len(free) > LARGEST:
        return
    K = _products(problem, free)
    for _ in range(most_steps):
        if not free or _climb_once(problem, run, free, K):
            return
        stay = [position for position, i in enumerate(free) if 0.0 < run.a[i] < problem.cost[i]]
        free, K = [free[position] for position in stay], K[np.ix_(stay, stay)]


def _products(problem: Problem, free: list[int]) -> Floats:
    """K, from its lower triangle."""
    K = np.zeros((len(free), len(free)))
    for p, i in enumerate(free):
        x = np.zeros(problem.rows.n_features + 1)
        problem.rows.add(i, problem.y[i], x)
        for q, j in enumerate(free[: p + 1]):
            K[p, q] = K[q, p] = problem.y[j] * problem.rows.dot(j, x)
    return K


def _climb_once(problem: Problem, run: DualIterate, free: list[int], K: Floats) -> bool:
    """One step. True when there is nothing more to climb; otherwise at least one multiplier has met its bound."""
    y = np.array([float(problem.y[i]) for i in free])
    r = np.array([1.0 - problem.y[i] * problem.rows.dot(i, run.w) for i in free])
    found = _direction(problem, run, K, y, r)
    if found is None:
        return True
    delta, b = found
    length = 1.0  # the longest step inside the box
    for i, delta_i in zip(free, delta.tolist(), strict=True):
        room = problem.cost[i] - float(run.a[i]) if delta_i > 0.0 else float(run.a[i])
        if abs(delta_i) * length > room:
            length = room / abs(delta_i)
    if not length > 0.0:
        return True
    _move(problem, run, free, K, r, length * delta, length < 1.0)
    if problem.free_intercept:
        run.b += length * (b - run.b)
    return length == 1.0


def _direction(problem: Problem, run: DualIterate, K: Floats, y: Floats, r: Floats) -> tuple[Floats, float] | None:
    """delta and b; None where the system is of no use."""
    n = len(y)
    largest = float(K.diagonal().max())
    if not largest > 0.0:
        return None
    ridged = K + np.diag(np.full(n, 1e-13 * n * largest))
    b = run.b
    if problem.free_intercept:
        # A multiple of the constraint: full rank where the rows [x, 1] are independent and the rows x are not.
        ridged += largest * y[:, None] * y[None, :]
        r = r - largest * run.residue * y
    factor = Cholesky(ridged)
    if not factor.ok:
        return None
    if problem.free_intercept:
        # Eliminate delta: (y . K^-1 y) b = y . K^-1 r + sum_i a_i y_i.
        numerator, denominator = run.residue, 0.0
        for y_i, along_r, along_y in zip(y.tolist(), factor.solve(r).tolist(), factor.solve(y).tolist(), strict=True):
            numerator += y_i * along_r
            denominator += y_i * along_y
        if not denominator > 0.0:
            return None
        b = numerator / denominator
        r = r - y * b
    delta = factor.solve(r)
    return (delta, b) if np.isfinite(delta).all() else None


def _move(
    problem: Problem, run: DualIterate, free: list[int], K: Floats, r: Floats, step: Floats, cut_short: bool
) -> None:
    change = np.zeros(len(free))
    for position, i in enumerate(free):
        a, cost, label = float(run.a[i]), problem.cost[i], problem.y[i]
        following = min(max(a + float(step[position]), 0.0), cost)
        # What rounding leaves of a multiplier that met its bound is no free multiplier.
        if cut_short and following < 1e-14 * cost:
            following = 0.0
        if cut_short and following > (1.0 - 1e-14) * cost:
            following = cost
        change[position] = following - a
        run.a[i] = following
        run.residue += (following - a) * label
        problem.rows.add(i, (following - a) * label, run.w)
    curvature = np.zeros(len(free))  # K change, column by column
    for position in range(len(free)):
        curvature += K[:, position] * change[position]
    for gain in change * (r - 0.5 * curvature):
        run.dual += float(gain)
