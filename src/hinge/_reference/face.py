"""A Newton step on the face of the box: all free multipliers (0 < a_i < C_i) at once, the others fixed.

Coordinate steps find out quickly which multipliers are free, but crawl when the free rows are nearly dependent. On the
face D - b s - kappa/2 s^2 with s = sum_i a_i y_i is quadratic. With K_ij = y_i y_j x_i.x_j and r_i = 1 - y_i w.x_i
(i, j in F, the free multipliers) its maximum is at::

    (K + kappa y y') delta = r - b y

The step goes as far along delta as the box allows; a multiplier that meets its bound leaves F, and the rest is solved
again. A ridge of rounding size makes the Cholesky factor exist where rows are dependent: delta is then huge along the
dependent directions and ends at a bound, where the maximum is.

With a free intercept the maximum of D on s = 0 is tried first::

    K delta + y b = r,   y . delta = -s

and taken if it lies inside the box and above all such points before (`summit`), which rules out going in circles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hinge._reference.cholesky import Cholesky
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
    kappa: float = 0.0  # penalty of the residue; 0 without a free intercept
    summit: float = 0.0  # the largest D reached at the maximum of a face with residue 0


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
    largest = max(0.0, float(K.diagonal().max()))
    factor = Cholesky(K + run.kappa * y[:, None] * y[None, :] + np.diag(np.full(len(y), 1e-13 * len(y) * largest)))
    if not factor.ok:
        return True
    if problem.free_intercept:
        delta, b = _balanced(factor, run, y, r)
        inside = _longest_step(problem, run, free, delta) == 1.0
        if inside and run.dual + _gain(K, r, delta) > run.summit:
            _move(problem, run, free, K, r, delta, False)
            run.b = b
            run.summit = run.dual
            return True
    delta = factor.solve(r - y * run.b)
    length = _longest_step(problem, run, free, delta)
    if not length > 0.0:
        return True
    _move(problem, run, free, K, r, length * delta, length < 1.0)
    return length == 1.0


def _balanced(factor: Cholesky, run: DualIterate, y: Floats, r: Floats) -> tuple[Floats, float]:
    """The maximum of the face on s = 0, delta eliminated: (y . A^-1 y) b = y . A^-1 r + s with A = K + kappa y y'."""
    r = r - run.kappa * run.residue * y
    numerator, denominator = run.residue, 0.0
    for y_i, along_r, along_y in zip(y.tolist(), factor.solve(r).tolist(), factor.solve(y).tolist(), strict=True):
        numerator += y_i * along_r
        denominator += y_i * along_y
    b = numerator / denominator
    return factor.solve(r - y * b), b


def _longest_step(problem: Problem, run: DualIterate, free: list[int], delta: Floats) -> float:
    """How far along delta the box reaches, at most 1; 0 where delta is of no use."""
    if not np.all(np.isfinite(delta)):
        return 0.0
    length = 1.0
    for i, delta_i in zip(free, delta.tolist(), strict=True):
        room = problem.cost[i] - float(run.a[i]) if delta_i > 0.0 else float(run.a[i])
        if abs(delta_i) * length > room:
            length = room / abs(delta_i)
    return length


def _gain(K: Floats, r: Floats, change: Floats) -> float:
    """What a change of the free multipliers adds to D."""
    total = 0.0
    for K_i, change_i, r_i in zip(K, change.tolist(), r.tolist(), strict=True):
        curvature = 0.0
        for K_ij, change_j in zip(K_i.tolist(), change.tolist(), strict=True):
            curvature += K_ij * change_j
        total += change_i * (r_i - 0.5 * curvature)
    return total


def _move(problem: Problem, run: DualIterate, free: list[int], K: Floats, r: Floats, step: Floats, snap: bool) -> None:
    """Add `step` to the free multipliers; `snap`: those within rounding of a bound are put on it."""
    change = np.zeros(len(free))
    for position, i in enumerate(free):
        a, cost = float(run.a[i]), problem.cost[i]
        following = min(max(a + float(step[position]), 0.0), cost)
        if snap and following < 1e-14 * cost:
            following = 0.0
        if snap and following > (1.0 - 1e-14) * cost:
            following = cost
        change[position] = following - a
        run.a[i] = following
        run.residue += float(change[position]) * problem.y[i]
        run.b += run.kappa * float(change[position]) * problem.y[i]
        problem.rows.add(i, float(change[position]) * problem.y[i], run.w)
    run.dual += _gain(K, r, change)
