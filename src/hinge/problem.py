"""The optimisation problem: rows, labels, costs and the treatment of the intercept."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hinge import _core

Floats: TypeAlias = npt.NDArray[np.float64]
Signs: TypeAlias = npt.NDArray[np.int8]
Integers: TypeAlias = npt.NDArray[np.int64]
InterceptKind: TypeAlias = Literal["none", "free", "penalized"]

# |w(a)| is at most sum_i C_i |x_i|; beyond this its square, and with it the objective, could overflow.
_LARGEST_NORM = 1e150


@dataclass(frozen=True)
class Intercept:
    """How the decision function x -> w.x + b treats b.

    ``none``: b = 0. ``free``: b is not penalised, the classic SVM. ``penalized``: every row gets the constant feature
    `scale`, and b = scale * (its weight) is penalised as that weight is: P contains 1/2 (b / scale)^2.
    """

    kind: InterceptKind = "free"
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in ("none", "free", "penalized"):
            raise ValueError(f"intercept must be 'none', 'free' or 'penalized', got {self.kind!r}.")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"The scale of a penalised intercept must be positive and finite, got {self.scale!r}.")

    @property
    def rho(self) -> float:
        """The constant feature appended to each row."""
        return self.scale if self.kind == "penalized" else 0.0


def as_rows(X: Any) -> _core.Rows:
    """Native rows over a C-contiguous array or a CSR matrix, in place: one pass checks every value and index.

    Raises ValueError with row and column for NaN, infinity, indices out of range, duplicates and a corrupt indptr.
    """
    if not sp.issparse(X):
        return _core.Rows.dense(_in_place(X))
    if X.format != "csr":
        raise TypeError(f"expected a CSR matrix, got {X.format}")
    if X.indptr.size != X.shape[0] + 1:
        raise ValueError(f"Corrupt CSR matrix: indptr has {X.indptr.size} entries for {X.shape[0]} rows.")
    return _core.Rows.csr(_in_place(X.data), _indices(X.indices), _indices(X.indptr), X.shape[1])


def _indices(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """32- and 64-bit integers as they are; other kinds, which scipy does not make itself, as 64-bit ones."""
    return _in_place(array if array.dtype.newbyteorder("=") in (np.int32, np.int64) else array.astype(np.int64))


def _in_place(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself, unless its memory is laid out as native code cannot read it."""
    return np.require(array, dtype=array.dtype.newbyteorder("="), requirements=["C_CONTIGUOUS", "ALIGNED"])


@dataclass(frozen=True)
class Selection:
    """The rows that count: those of positive cost. Shared by all problems of a one-vs-rest fit."""

    rows: _core.Rows
    cost: Floats
    kept: Integers | None
    n_samples: int
    intercept: Intercept

    @classmethod
    def make(cls, rows: _core.Rows, cost: Floats, intercept: Intercept) -> Selection:
        """Drop the rows of zero cost and refuse what could overflow."""
        kept = None if np.all(cost > 0) else np.flatnonzero(cost > 0)
        selected = rows.select(kept, intercept.rho)
        cost = np.ascontiguousarray(cost if kept is None else cost[kept])
        with np.errstate(over="ignore"):
            # Not a BLAS product: its threads would go on spinning beside the training.
            bound = float(np.sum(cost * np.sqrt(selected.squared_norms)))
        if not max(bound, float(cost.sum())) < _LARGEST_NORM:
            raise ValueError(
                f"X and C are so large that squares overflow (sum of C_i |x_i| is {bound:.1e}). "
                "Lower C or scale the features, for example with sklearn.preprocessing.MaxAbsScaler."
            )
        return cls(selected, cost, kept, len(rows), intercept)

    def of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The entries of `values` that belong to the rows kept."""
        return values if self.kept is None else values[self.kept]


class Problem:
    """One binary problem, as a solver sees it.

    Rows x_i (positions 0 .. m-1, the rows of zero weight left out), labels y_i in {-1, +1}, costs C_i > 0::

        primal   P(w, b) = 1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b))
        dual     D(a)    = sum_i a_i - 1/2 |sum_i a_i y_i x_i|^2,  0 <= a_i <= C_i,  sum_i a_i y_i = 0 if b is free

    Weight vectors have ``n_features + 1`` entries; the last belongs to the constant feature and is 0 without one.

    Attributes
    ----------
    rows : native rows with ``dot(i, w)``, ``add(i, scale, w)`` and ``squared_norms``
    y : int8 array of shape (m,)
    cost : float64 array of shape (m,)
    """

    def __init__(self, selection: Selection, y: Signs) -> None:
        self.selection = selection
        self.y = np.ascontiguousarray(selection.of(y), dtype=np.int8)
        self.native = _core.Problem(selection.rows, self.y, selection.cost, self.intercept.kind == "free")

    @property
    def rows(self) -> _core.Rows:
        return self.selection.rows

    @property
    def cost(self) -> Floats:
        return self.selection.cost

    @property
    def intercept(self) -> Intercept:
        return self.selection.intercept

    @property
    def m(self) -> int:
        """Number of rows that count."""
        return len(self.rows)

    @property
    def n_features(self) -> int:
        return self.rows.n_features

    @property
    def lambda_(self) -> float:
        """The papers' lambda = 1 / sum_i C_i."""
        return 1.0 / self.native.total_cost

    def fingerprint(self) -> int:
        """Tells problems with other labels, costs or intercepts apart."""
        return zlib.crc32(self.cost.tobytes(), zlib.crc32(self.y.tobytes(), zlib.crc32(repr(self.intercept).encode())))

    def spread(self, a: Floats) -> Floats:
        """Multipliers of all samples: zero for those left out."""
        if self.selection.kept is None:
            return a
        full = np.zeros(self.selection.n_samples)
        full[self.selection.kept] = a
        return full
