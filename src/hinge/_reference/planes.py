"""Cutting planes of the risk R(w) = sum_i C_i max(0, 1 - y_i w.x_i), and the bundle of them.

Any set S of rows gives a plane below the risk: R(w) >= b - w.a with a = sum_{i in S} C_i y_i x_i, b = sum_{i in S} C_i.
It touches the risk at every w whose rows with y_i w.x_i < 1 are S. The reduced problem is::

    min_w  1/2 |w|^2 + max_j (b_j - w.a_j)    with the dual    max_beta  b.beta - 1/2 |sum_j beta_j a_j|^2

over the simplex, w = sum_j beta_j a_j. Its value is D at the multipliers a_i = C_i sum_{j: i in S_j} beta_j.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hinge._reference import simplex_qp
from hinge._reference.problem import Problem
from hinge._reference.rows import Floats, interleaved_sum

Flags = npt.NDArray[np.bool_]

PART = 0.01  # of the gap that the reduced problem may leave


def dot(x: Floats, y: Floats) -> float:
    return interleaved_sum(x * y, 8)


def packed(flags: Flags) -> npt.NDArray[np.uint64]:
    """A set of rows as the native core keeps it: bit i % 64 of word i / 64."""
    padded = np.zeros(-(-flags.size // 64) * 64, dtype=bool)
    padded[: flags.size] = flags
    return np.packbits(padded, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


class Cut:
    """The plane of a set of rows that changes: only rows that come or go are read."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.clear()

    def clear(self) -> None:
        self.a = np.zeros(self.problem.rows.n_features + 1)
        self.members: Flags = np.zeros(self.problem.m, dtype=bool)

    def flip(self, i: int) -> None:
        step = self.problem.cost[i] * self.problem.y[i]
        self.problem.rows.add(i, -step if self.members[i] else step, self.a)
        self.members[i] = not self.members[i]

    def move(self, target: Flags) -> None:
        """The set becomes `target`, row by row; from nothing if that is less work."""
        if (self.members != target).sum() > target.sum():
            self.clear()
        for i in np.flatnonzero(self.members != target):
            self.flip(int(i))


class PlaneMethod:
    """What the cutting-plane methods share. Plane 0 of the bundle is that of no rows: R >= 0."""

    def __init__(self, problem: Problem, patience: int) -> None:
        self.problem = problem
        self.patience = patience
        self.cost = np.array(problem.cost)
        self._start_bundle()
        self._cut = Cut(problem)
        self.w: Floats = np.zeros(problem.rows.n_features + 1)  # the best so far
        self.v = self.w.copy()  # solution of the reduced problem
        self.primal = math.inf  # P(w)
        self.dual = 0.0  # value of the reduced problem, a lower bound
        self.settled = False  # the last epoch could do no more

    def _start_bundle(self) -> None:
        self.vectors = [np.zeros(self.problem.rows.n_features + 1)]
        self.offsets = np.zeros(1)
        self.G = np.zeros((1, 1))
        self.beta = np.ones(1)
        self.unused = [0]  # solutions in a row with beta_j = 0
        self.sets: list[Flags] = [np.zeros(self.problem.m, dtype=bool)]

    # The fields of the native state.

    @property
    def planes(self) -> Floats:
        return np.concatenate(self.vectors)

    @property
    def gram(self) -> Floats:
        return self.G.ravel()

    @property
    def members(self) -> npt.NDArray[np.uint64]:
        return np.concatenate([packed(rows) for rows in self.sets])

    @property
    def cut(self) -> Floats:
        return self._cut.a

    @property
    def cut_members(self) -> npt.NDArray[np.uint64]:
        return packed(self._cut.members)

    def estimate(self) -> tuple[float, float]:
        """(P, D) at hand; a run that can do no more says so by a gap of nothing."""
        return self.dual if self.settled else self.primal, self.dual

    def point(self) -> tuple[Floats, Floats]:
        multipliers = np.zeros(self.problem.m)
        for beta, rows in zip(self.beta.tolist(), self.sets, strict=True):
            if beta != 0.0:
                multipliers[rows] += beta
        return self.w, multipliers * self.cost

    def _solve_with_cut(self, offset: float) -> None:
        """The cut joins the bundle, unless its rows are there already; the next v and the lower bound."""
        is_new = not any(np.array_equal(rows, self._cut.members) for rows in self.sets)
        if is_new:
            self._add(offset)
        before = self.dual
        self._solve(PART * (self.primal - self.dual) if is_new else 0.0)
        self.settled = not is_new and not self.dual > before
        self._drop_unused()

    def _add(self, offset: float) -> None:
        n = len(self.vectors)
        self.vectors.append(self._cut.a.copy())
        self.sets.append(self._cut.members.copy())
        self.offsets = np.append(self.offsets, offset)
        self.beta = np.append(self.beta, 0.0)
        self.unused.append(0)
        G = np.zeros((n + 1, n + 1))
        G[:n, :n] = self.G
        for j, a in enumerate(self.vectors):
            G[n, j] = G[j, n] = dot(self._cut.a, a)
        self.G = G

    def _solve(self, target: float) -> None:
        floor = 1e-15 * float(self.offsets.max())
        self.dual, _ = simplex_qp.climb(self.G, self.offsets, self.beta, max(target, floor))
        self.v = np.zeros_like(self.w)
        for beta, a in zip(self.beta.tolist(), self.vectors, strict=True):
            if beta != 0.0:
                self.v += beta * a

    def _drop_unused(self) -> None:
        self.unused = [0 if beta > 0.0 else count + 1 for beta, count in zip(self.beta, self.unused, strict=True)]
        stay = [j for j, count in enumerate(self.unused) if j == 0 or count < self.patience]
        self.vectors = [self.vectors[j] for j in stay]
        self.sets = [self.sets[j] for j in stay]
        self.unused = [self.unused[j] for j in stay]
        self.offsets, self.beta = self.offsets[stay], self.beta[stay]
        self.G = self.G[np.ix_(stay, stay)]

    def _rebuild_planes(self) -> None:
        """The planes of the same sets of rows, computed anew."""
        sets, beta, unused = self.sets, self.beta, self.unused
        self._start_bundle()
        self._cut.clear()
        for rows in sets[1:]:
            self._cut.move(rows)
            self._add(interleaved_sum(self.cost[rows], 1))
        self.unused[1:] = unused[1:]
        self.beta[1:] = beta[1:]
        self.beta[0] = max(0.0, 1.0 - interleaved_sum(beta[1:], 1))
        self._cut.clear()
        self._solve(0.0)
