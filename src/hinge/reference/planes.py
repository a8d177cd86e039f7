"""Cutting planes of the risk R(w) = sum_i C_i max(0, 1 - t_i w.x_i), and the bundle of them.

Any set S of rows gives a plane below the risk: R(w) >= b - w.a with a = sum_{i in S} C_i t_i x_i, b = sum_{i in S} C_i.
It touches the risk at every w whose rows with t_i w.x_i < 1 are S. A row may belong to S in part. With a free intercept
S must be balanced, `hinge.reference.contact`. The reduced problem is::

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
from hinge.reference.contact import Contact, Flags, Part, again
from hinge.reference.problem import Problem
from hinge.reference.sums import Floats

PART = 0.01  # of the gap that the reduced problem may leave


class Cut:
    """The plane of a set of rows that changes: only rows that come or go are read."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.clear()

    def clear(self) -> None:
        self.a: Floats = np.zeros(self.problem.n_features + 1)
        self.members: Flags = np.zeros(self.problem.m, dtype=bool)
        self.part = Part()

    def flip(self, i: int) -> None:
        step = self.problem.cost[i] * self.problem.target[i]
        self.problem.rows.add(i, -step if self.members[i] else step, self.a)
        self.members[i] = not self.members[i]

    def take(self, part: Part) -> None:
        """Another row in part, or none."""
        for sign, (i, share) in ((-1.0, self.part), (1.0, part)):
            if share > 0.0:
                self.problem.rows.add(i, sign * share * self.problem.cost[i] * self.problem.target[i], self.a)
        self.part = part

    def changes_to(self, members: Flags) -> list[int]:
        """The rows to flip, none being in part any more; from nothing if that is less work."""
        self.take(Part())
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
        self.part_rows: npt.NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self.part_shares: Floats = np.zeros(1)

    @property
    def gram(self) -> Floats:
        return self.planes @ self.planes.T

    @property
    def parts(self) -> list[Part]:
        return list(map(Part, self.part_rows.tolist(), self.part_shares.tolist()))

    def has(self, cut: Cut) -> bool:
        """Whether the plane of these rows is there. The share of the row in part follows from the others."""
        return bool(np.any(np.all(self.members == cut.members, axis=1) & (self.part_rows == cut.part.row)))

    def add(self, cut: Cut) -> None:
        self.planes = np.vstack([self.planes, cut.a])
        self.members = np.vstack([self.members, cut.members])
        self.part_rows = np.append(self.part_rows, cut.part.row)
        self.part_shares = np.append(self.part_shares, cut.part.share)
        in_part = cut.part.share * self.cost[cut.part.row]
        self.offsets = np.append(self.offsets, np.sum(self.cost[cut.members]) + in_part)
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
        self.part_rows, self.part_shares = self.part_rows[stay], self.part_shares[stay]

    def multipliers(self) -> Floats:
        """C_i sum_{j: i in S_j} beta_j"""
        shares = self.beta @ self.members
        np.add.at(shares, self.part_rows, self.beta * self.part_shares)
        return np.asarray(self.cost * shares)


class PlaneMethod(Algorithm):
    """What the cutting-plane methods share."""

    fields: ClassVar[tuple[str, ...]] = ("w", "b", "v", "primal", "dual", "settled")

    def __init__(self, problem: Problem, patience: int, n_threads: int) -> None:
        super().__init__(problem)
        self.patience = patience
        self.cost = np.array(problem.cost)
        self.bundle = Bundle(problem)
        self.cut = Cut(problem)  # the last plane
        self.w: Floats = np.zeros(problem.n_features + 1)  # the best so far
        self.b = 0.0  # the best for w if it is free, else 0
        self.v = self.w.copy()  # solution of the reduced problem
        self.primal = math.inf  # P(w, b)
        self.dual = 0.0  # value of the reduced problem, a lower bound
        self.settled = False  # the last epoch could do no more

    def estimate(self) -> tuple[float, float]:
        """(P, D) at hand; a run that can do no more says so by a gap of nothing."""
        return self.dual if self.settled else self.primal, self.dual

    def point(self) -> Point:
        return self.w.copy(), self.b, self.bundle.multipliers()

    def margins_at(self, at: Floats) -> Floats:
        """t_i at.x_i"""
        rows, target = self.problem.rows, self.problem.target
        return np.array([target[i] * rows.dot(i, at) for i in self.each(range(self.problem.m))])

    def solve_with(self, contact: Contact) -> None:
        """The plane joins the bundle, unless its rows are there already; the next v and the lower bound."""
        for i in self.each(self.cut.changes_to(contact.rows)):
            self.cut.flip(i)
        self.cut.take(contact.part)
        is_new = not self.bundle.has(self.cut)
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
        for members, part in zip(before.members[1:], before.parts[1:], strict=True):
            contact = again(self.problem, members, part)
            for i in self.cut.changes_to(contact.rows):
                self.cut.flip(i)
                self.ask_poll(i)
            self.cut.take(contact.part)
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
            "part_rows": bundle.part_rows.copy(),
            "part_shares": bundle.part_shares.copy(),
            "cut": self.cut.a.copy(),
            "cut_members": packed(self.cut.members),
            "cut_part_row": self.cut.part.row,
            "cut_part_share": self.cut.part.share,
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
            bundle.part_rows = np.array(state["part_rows"], dtype=np.int64).reshape(n)
            bundle.part_shares = np.array(state["part_shares"], dtype=np.float64).reshape(n)
            cut = Cut(self.problem)
            cut.a = np.array(state["cut"], dtype=np.float64).reshape(self.w.size)
            cut.members = unpacked(np.array(state["cut_members"], dtype=np.uint64), m)
            cut.part = Part(int(state["cut_part_row"]), float(state["cut_part_share"]))
            for part in (cut.part, *bundle.parts):
                if not (0 <= part.row < m and 0.0 <= part.share <= 1.0):
                    raise ValueError("a row in part")
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
