"""Primal, dual and the best intercept, by definition: every sum is correctly rounded (math.fsum), nothing is clever."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from hinge.reference.loss import LOSSES, Loss, slack
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats

ROUNDOFF = 2.0**-53


def primal(problem: Problem, w: Floats, b: float = 0.0) -> float:
    """P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - t_i (w.x_i + b))"""
    z = [math.fsum(x * w) for x in problem.rows.augmented()]
    losses = [problem.loss.value(slack(t, z_i + b)) for t, z_i in zip(problem.target, z, strict=True)]
    return 0.5 * math.fsum(w * w) + math.fsum(c * loss for c, loss in zip(problem.cost, losses, strict=True))


def dual(problem: Problem, a: Floats) -> float:
    """D(a) = sum_i dual_term(a_i) - 1/2 |sum_i a_i t_i x_i|^2, the value alone: a need not be feasible."""
    terms = problem.rows.augmented() * (a * np.array(problem.target))[:, np.newaxis]
    w = np.array([math.fsum(column) for column in terms.T])
    penalties = [problem.loss.dual_penalty(a_i, c) for a_i, c in zip(a.tolist(), problem.cost, strict=True)]
    return math.fsum([*a.tolist(), *(-p for p in penalties)]) - 0.5 * math.fsum(w * w)


def best_intercept(
    z: Sequence[float], target: Sequence[float], cost: Sequence[float], loss: Loss = LOSSES["hinge"]
) -> float:
    """The minimiser over b of sum_i C_i loss(1 - t_i (z_i + b)).

    Row i has one breakpoint, t_i - z_i: it has loss left of it if t_i = +1, right of it if t_i = -1. The derivative
    increases; the minimum is where it passes through zero. NaN if a breakpoint is no number.
    """
    if not np.all(np.isfinite(z)):
        return math.nan
    points = sorted((t - z_i, c, t > 0.0) for z_i, t, c in zip(z, target, cost, strict=True))
    return _at_a_step(points) if loss.name == "hinge" else _on_a_line(points)


def _at_a_step(points: Sequence[tuple[float, float, bool]]) -> float:
    """Hinge: left of all breakpoints the derivative is minus the cost of the rows with t = +1; each breakpoint raises
    it by its cost. Where it is zero on an interval, or so small that the middle costs no more than a few roundings of
    the loss, b is the midpoint."""
    rises = [-c for _, c, left in points if left]
    total = math.fsum(c for _, c, _ in points)
    flat = 2.0 * (2.0 * len(points) * ROUNDOFF) ** 2 * total  # what rounding may make of zero
    for (at, c, _), following in zip(points, [*points[1:], None], strict=True):
        rises.append(c)
        slope = math.fsum(rises)  # between this breakpoint and the following one
        if following is None:
            return at
        half = 0.5 * (following[0] - at)
        loss = math.fsum(c * max(0.0, p - at if left else at - p) for p, c, left in points)
        small = abs(slope) <= 8.0 * ROUNDOFF * total and abs(slope) * half <= 8.0 * ROUNDOFF * loss
        if half > 0.0 and (abs(slope) <= flat or small):
            return at + half
        if slope > 0.0:
            return at
    raise ValueError("no rows")


def _on_a_line(points: Sequence[tuple[float, float, bool]]) -> float:
    """Squared hinge: row i adds 2 C_i (b - breakpoint_i) where it has loss. Between breakpoints that is a straight
    line; b is the root of the first that has its root before the next breakpoint. Where no row has loss, b is in the
    middle."""
    last_left = max((at for at, _, left in points if left), default=-math.inf)
    first_right = min((at for at, _, left in points if not left), default=math.inf)
    if last_left <= first_right:
        ends = [end for end in (last_left, first_right) if math.isfinite(end)]
        return ends[0] + 0.5 * (ends[-1] - ends[0])
    for j, (begin, end) in enumerate(itertools.pairwise([at for at, _, _ in points]), start=1):
        with_loss = [(at, c) for k, (at, c, left) in enumerate(points) if left == (k >= j)]  # between begin and end
        root = math.fsum(c * at for at, c in with_loss) / math.fsum(c for _, c in with_loss)
        if root <= end:
            return max(root, begin)
    raise ValueError("no rows")
