"""Cutting planes of the risk R(w) = sum_i C_i max(0, 1 - t_i w.x_i), and the bundle of them.

Any set S of rows gives a plane below the risk: R(w) >= b - w.a with a = sum_{i in S} C_i t_i x_i, b = sum_{i in S} C_i.
It touches the risk at every w whose rows with t_i w.x_i < 1 are S. The reduced problem is::

    min_w  1/2 |w|^2 + max_j (b_j - w.a_j)    with the dual    max_beta  b.beta - 1/2 |sum_j beta_j a_j|^2

over the simplex, w = sum_j beta_j a_j. Its value is D at the multipliers a_i = C_i sum_{j: i in S_j} beta_j.

The small problem is linear algebra, so that these methods agree with native code to rounding, not to the bit.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hinge.reference import simplex_qp
from hinge.reference.algorithm import Algorithm, Point
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats

Flags = npt.NDArray[np.bool_]

PART = 0.01  # of the gap that the reduced problem may leave


class Cut:
    """The plane of a set of rows that changes: only rows that come or go are read."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.clear()

    def clear(self) -> None:
        self.a: Floats = np.zeros(self.problem.n_features + 1)
        self.members: Flags = np.zeros(self.problem.m, dtype=bool)

    def flip(self, i: int) -> None:
        step = self.problem.cost[i] * self.problem.target[i]
        self.problem.rows.add(i, -step if self.members[i] else step, self.a)
        self.members[i] = not self.members[i]

    def changes_to(self, members: Flags) -> list[int]:
        """The rows to flip; from nothing if that is less work."""
        if np.count_nonzero(self.members != members) > np.count_nonzero(members):
            self.clear()
        return list(np.flatnonzero(self.members != members).tolist())


class Bundle:
    """All planes so far. Plane 0 is that of no rows: R >= 0."""

    def __init__(self, problem: Problem) -> None:
        self.cost = np.array(problem.cost)
        self.planes: Floats = np.zeros((1, problem.n_features + 1))
        self.offsets: Floats = np.zeros(1)
        self.beta: Floats = np.ones(1)
        self.unused: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)  # solutions in a row with beta_j = 0
        self.members: Flags = np.zeros((1, problem.m), dtype=bool)

    @property
    def gram(self) -> Floats:
        return self.planes @ self.planes.T

    def has(self, members: Flags) -> bool:
        return bool(np.any(np.all(self.members == members, axis=1)))

    def add(self, cut: Cut) -> None:
        self.planes = np.vstack([self.planes, cut.a])
        self.members = np.vstack([self.members, cut.members])
        self.offsets = np.append(self.offsets, np.sum(self.cost[cut.members]))
        self.beta = np.append(self.beta, 0.0)
        self.unused = np.append(self.unused, 0)

    def solve(self, target: float) -> tuple[Floats, float]:
        """The reduced problem, to within `target`: w, and the lower bound of P that it gives."""
        floor = 1e-15 * float(self.offsets.max())
        self.beta, value, _ = simplex_qp.climb(self.gram, self.offsets, self.beta, max(target, floor))
        return self.beta @ self.planes, value

    def drop_unused(self, patience: int) -> None:
        """Drop the planes that `patience` solutions in a row have not used; not plane 0."""
        self.unused = np.where(self.beta > 0.0, 0, self.unused + 1)
        stay = self.unused < patience
        stay[0] = True
        self.planes, self.members, self.offsets = self.planes[stay], self.members[stay], self.offsets[stay]
        self.beta, self.unused = self.beta[stay], self.unused[stay]

    def multipliers(self) -> Floats:
        """C_i sum_{j: i in S_j} beta_j"""
        return self.cost * (self.beta @ self.members)


class PlaneMethod(Algorithm):
    """What the cutting-plane methods share."""

    fields: ClassVar[tuple[str, ...]] = ("w", "v", "primal", "dual", "settled")

    def __init__(self, problem: Problem, patience: int) -> None:
        super().__init__(problem)
        self.patience = patience
        self.cost = np.array(problem.cost)
        self.bundle = Bundle(problem)
        self.cut = Cut(problem)  # the last plane
        self.w: Floats = np.zeros(problem.n_features + 1)  # the best so far
        self.v = self.w.copy()  # solution of the reduced problem
        self.primal = math.inf  # P(w)
        self.dual = 0.0  # value of the reduced problem, a lower bound
        self.settled = False  # the last epoch could do no more

    def estimate(self) -> tuple[float, float]:
        """(P, D) at hand; a run that can do no more says so by a gap of nothing."""
        return self.dual if self.settled else self.primal, self.dual

    def point(self) -> Point:
        return self.w.copy(), 0.0, self.bundle.multipliers()

    def solve_with_cut(self) -> None:
        """The cut joins the bundle, unless its rows are there already; the next v and the lower bound."""
        is_new = not self.bundle.has(self.cut.members)
        if is_new:
            self.bundle.add(self.cut)
        before = self.dual
        self.v, self.dual = self.bundle.solve(PART * (self.primal - self.dual) if is_new else 0.0)
        self.settled = not is_new and not self.dual > before
        self.bundle.drop_unused(self.patience)

    def rebuild_planes(self) -> None:
        """The planes of the same sets of rows, computed anew."""
        before, self.bundle = self.bundle, Bundle(self.problem)
        self.cut.clear()
        for members in before.members[1:]:
            for i in self.cut.changes_to(members):
                self.cut.flip(i)
                self.ask_poll(i)
            self.bundle.add(self.cut)
        self.bundle.beta, self.bundle.unused = before.beta.copy(), before.unused.copy()
        self.bundle.beta[0] = max(0.0, 1.0 - before.beta[1:].sum())
        self.bundle.unused[0] = 0
        self.cut.clear()
        self.v, self.dual = self.bundle.solve(0.0)
        self.settled = False

    # Saved runs: the bundle as the native core keeps it, in flat arrays, a set of rows as bits.

    def state(self) -> dict[str, Any]:
        bundle = self.bundle
        return {
            "planes": bundle.planes.ravel(),
            "offsets": bundle.offsets.copy(),
            "gram": bundle.gram.ravel(),
            "beta": bundle.beta.copy(),
            "unused": bundle.unused.copy(),
            "members": np.concatenate([packed(members) for members in bundle.members]),
            "cut": self.cut.a.copy(),
            "cut_members": packed(self.cut.members),
            **super().state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        bundle, m = Bundle(self.problem), self.problem.m
        try:
            bundle.offsets = np.array(state["offsets"], dtype=np.float64)
            n = bundle.offsets.size
            bundle.planes = np.array(state["planes"], dtype=np.float64).reshape(n, self.w.size)
            bundle.beta = np.array(state["beta"], dtype=np.float64).reshape(n)
            bundle.unused = np.array(state["unused"], dtype=np.int64).reshape(n)
            bundle.members = unpacked(np.array(state["members"], dtype=np.uint64).reshape(n, -1), m)
            cut = Cut(self.problem)
            cut.a = np.array(state["cut"], dtype=np.float64).reshape(self.w.size)
            cut.members = unpacked(np.array(state["cut_members"], dtype=np.uint64), m)
        except (KeyError, ValueError) as error:
            raise ValueError(f"saved state: {error} does not fit") from error
        super().restore(state)
        self.bundle, self.cut = bundle, cut


def packed(members: Flags) -> npt.NDArray[np.uint64]:
    """Bit i % 64 of word i / 64."""
    padded = np.zeros(-(-members.size // 64) * 64, dtype=bool)
    padded[: members.size] = members
    return np.packbits(padded, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


def unpacked(words: npt.NDArray[np.uint64], m: int) -> Flags:
    """The reverse; along the last axis."""
    bits = np.unpackbits(np.ascontiguousarray(words, dtype="<u8").view(np.uint8), axis=-1, bitorder="little")
    if bits.shape[-1] != -(-m // 64) * 64 or np.any(bits[..., m:]):
        raise ValueError("a set of rows")
    return np.array(bits[..., :m], dtype=bool)
