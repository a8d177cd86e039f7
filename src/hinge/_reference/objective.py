"""Primal, dual and the best intercept, by definition: every sum is correctly rounded (math.fsum), nothing is clever."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from hinge._reference.problem import Problem
from hinge._reference.rows import Floats


def augmented(problem: Problem) -> Floats:
    """All rows [x_i, rho] as a dense array of shape (m, n_features + 1)."""
    X = np.zeros((problem.m, problem.rows.n_features + 1))
    for i in range(problem.m):
        problem.rows.add(i, 1.0, X[i])
    return X


def primal(problem: Problem, w: Floats, b: float = 0.0) -> float:
    """P(w, b) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))"""
    z = [math.fsum(x * w) for x in augmented(problem)]
    hinge = (max(0.0, 1.0 - y_i * (z_i + b)) for y_i, z_i in zip(problem.y, z, strict=True))
    return 0.5 * math.fsum(w * w) + math.fsum(c * h for c, h in zip(problem.cost, hinge, strict=True))


def dual(problem: Problem, a: Floats) -> float:
    """D(a) = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2, the value alone: whether a is feasible is not looked at."""
    terms = augmented(problem) * (a * np.array(problem.y))[:, np.newaxis]
    w = np.array([math.fsum(column) for column in terms.T])
    return math.fsum(a) - 0.5 * math.fsum(w * w)


def best_intercept(z: Sequence[float], y: Sequence[int], cost: Sequence[float]) -> float:
    """The minimiser over b of sum_i c_i max(0, 1 - y_i (z_i + b)): a weighted median of the breakpoints y_i - z_i.

    Left of all breakpoints the slope is minus the cost of the positive rows; each breakpoint raises it by its cost. The
    minimum is where the slope passes through zero; where it is zero on an interval, b is the midpoint.
    """
    points = sorted((y_i - z_i, c_i) for z_i, y_i, c_i in zip(z, y, cost, strict=True))
    rises = [-c_i for y_i, c_i in zip(y, cost, strict=True) if y_i > 0]
    flat = 1e-13 * math.fsum(cost)  # a slope below this is rounding
    for (at, c), following in itertools.zip_longest(points, points[1:]):
        rises.append(c)
        slope = math.fsum(rises)  # between this breakpoint and the following one
        if slope > flat or following is None:
            return at
        if slope >= -flat:
            return at + 0.5 * (following[0] - at)
    raise ValueError("no rows")
