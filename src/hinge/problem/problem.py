"""The optimisation problem: rows, targets, costs, loss and the treatment of the intercept."""

from __future__ import annotations

import zlib
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from hinge import _core, checks
from hinge.problem.intercept import Intercept
from hinge.problem.loss import LOSSES, Loss

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
#: Where w lives: among the features of the rows, or among the functions of a kernel.
Space: TypeAlias = Literal["linear", "kernel"]

# |w(a)| is at most sum_i C_i |x_i|; beyond this its square, and with it the objective, could overflow.
_LARGEST_NORM = 1e150
_FREE = Intercept()


class Problem:
    """One binary problem, as a solver sees it.

    Rows x_i (positions 0 .. m-1, the rows of zero cost left out), targets t_i in {-1, +1}, costs C_i > 0::

        primal   P(w, b) = 1/2 |w|^2 + sum_i C_i loss(1 - t_i (w.x_i + b))
        dual     D(a)    = sum_i dual_term(a_i) - 1/2 |sum_i a_i t_i x_i|^2,   0 <= a_i <= box_i,
                           and sum_i a_i t_i = 0 if b is free

    For the hinge loss the dual term is a_i and the box C_i (:mod:`hinge.problem.loss`). Weight vectors have
    ``n_features + 1`` entries; the last belongs to the constant feature and is 0 without one.

    Attributes
    ----------
    rows : native rows with ``dot(i, w)``, ``add(i, scale, w)`` and ``squared_norms``
    target : float64 array of shape (m,), read-only
    cost : float64 array of shape (m,), read-only
        Where all rows have the same, it is in memory once (``numpy.broadcast_to``).
    loss : Loss
    intercept : Intercept
    positions : int64 array of shape (m,) or None
        Where the rows stand among all samples; None: they are all of them.
    """

    space: ClassVar[Space] = "linear"

    def __init__(
        self,
        rows: _core.Rows,
        target: npt.NDArray[Any],
        cost: Floats,
        *,
        loss: Loss = LOSSES["hinge"],
        intercept: Intercept = _FREE,
        positions: Integers | None = None,
        n_samples: int | None = None,
    ) -> None:
        self.rows = rows
        self.target = _read_only(target)
        self.cost = _shared(cost)
        self.loss = loss
        self.intercept = intercept
        self.positions = positions
        self.n_samples = len(rows) if n_samples is None else n_samples
        self.native = _core.Problem(rows, self.target, self.cost, loss.native, intercept.kind == "free")

    @classmethod
    def make(
        cls, rows: _core.Rows, target: npt.NDArray[Any], cost: Floats, *, loss: Loss, intercept: Intercept
    ) -> Problem:
        """Drop the rows of zero cost, append the constant feature, and refuse what could overflow."""
        n_samples = len(rows)
        positions, rows, target, cost = counting(rows, target, cost)
        rows = rows.with_constant(intercept.rho)
        problem = cls(rows, target, cost, loss=loss, intercept=intercept, positions=positions, n_samples=n_samples)
        problem.refuse_overflow()
        return problem

    def refuse_overflow(self) -> None:
        """ValueError if |w(a)|^2 could be infinite for some multipliers."""
        with np.errstate(over="ignore"):
            norms, total = self.squared_norms, self.native.total_cost
            if max(1.0, float(norms.max())) * total < _LARGEST_NORM:  # as a rule: |x| <= max(1, |x|^2)
                return
            # Not a BLAS product: its threads would go on spinning beside the training.
            bound = float(np.sum(self.cost * np.sqrt(norms)))
        if not (bound < _LARGEST_NORM and total < _LARGEST_NORM):  # nor a sum of costs that is no number any more
            raise ValueError(
                f"X and C are so large that squares overflow (sum of C_i |x_i| is {bound:.1e}). "
                "Lower C or scale the features, for example with sklearn.preprocessing.MaxAbsScaler."
            )

    def with_target(self, target: npt.NDArray[Any]) -> Self:
        """Another problem on the same rows: `target` is that of all samples."""
        kept = target if self.positions is None else target[self.positions]
        return self._changed(self.rows, kept, self.cost, self.positions)

    def with_cost(self, cost: Floats) -> Self:
        """The same rows and targets at other costs: `cost` is that of all samples, zero for those that are left out."""
        kept = cost if self.positions is None else cost[self.positions]
        return self._changed(self.rows, self.target, kept, self.positions)

    def part(self, indices: npt.ArrayLike) -> Self:
        """The problem of these rows (positions 0 .. m-1) alone; nothing is copied but their targets and costs."""
        chosen = np.ascontiguousarray(indices, dtype=np.int64)
        positions = chosen if self.positions is None else self.positions[chosen]
        return self._changed(self.rows.part(chosen), self.target[chosen], self.cost[chosen], positions)

    def _changed(
        self, rows: _core.Rows, target: npt.NDArray[Any], cost: Floats, positions: Integers | None, **more: Any
    ) -> Self:
        return type(self)(
            rows,
            target,
            cost,
            loss=self.loss,
            intercept=self.intercept,
            positions=positions,
            n_samples=self.n_samples,
            **more,
        )

    @property
    def m(self) -> int:
        """Number of rows that count."""
        return len(self.rows)

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def n_weights(self) -> int:
        """Entries of a weight vector."""
        return self.n_features + 1

    @property
    def squared_norms(self) -> Floats:
        """|x_i|^2, the constant feature included."""
        return self.rows.squared_norms

    def squared_length(self, w: Floats) -> float:
        """|w|^2, or a number above it."""
        return float(np.sum(w * w))

    def shift(self, w: Floats) -> float:
        """What the constant feature adds to every decision."""
        return self.intercept.rho * float(w[-1])

    @property
    def box(self) -> Floats:
        """The largest multiplier of each row; infinite where the loss sets no bound."""
        return self.loss.box(self.cost)

    @property
    def lambda_(self) -> float:
        """The papers' lambda = 1 / sum_i C_i."""
        return 1.0 / self.native.total_cost

    @cached_property
    def fingerprint(self) -> int:
        """Tells problems apart whose rows, targets, costs, loss or intercept differ."""
        words = zlib.crc32(f"{self.loss.name} {self.intercept!r}".encode())
        cost = _core.checksum(np.ascontiguousarray(checks.in_memory(self.cost)))
        return self.rows.fingerprint() ^ words ^ _core.checksum(self.target) ^ (cost >> 1)

    def spread(self, a: Floats) -> Floats:
        """Multipliers of all samples, in an array that can be written to: zero for those left out."""
        if self.positions is None:
            return np.require(a, requirements=["C_CONTIGUOUS", "WRITEABLE"])
        full = np.zeros(self.n_samples)
        full[self.positions] = a
        return full


def counting(
    rows: _core.Rows, target: npt.NDArray[Any], cost: Floats
) -> tuple[Integers | None, _core.Rows, npt.NDArray[Any], Floats]:
    """(positions, rows, target, cost) of the rows of positive cost; positions are None if these are all."""
    if np.all(checks.in_memory(cost) > 0):
        return None, rows, target, cost
    positions = np.flatnonzero(cost > 0)
    return positions, rows.part(positions), target[positions], cost[positions]


def _shared(cost: Floats) -> Floats:
    """The costs, read-only; in memory once if all are the same."""
    if checks.kept_once(cost):
        return cost
    each = _read_only(cost)
    return each if each.size == 0 or each.min() != each.max() else np.broadcast_to(each[0], each.shape)


def _read_only(array: npt.NDArray[Any]) -> Floats:
    """A view of float64 that nobody can write through."""
    view = np.ascontiguousarray(array, dtype=np.float64).view()
    view.setflags(write=False)
    return view
