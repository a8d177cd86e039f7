"""Rows: dot, add and squared norm of row i, in the augmented space [x, rho].

The values are those of the data, exact in float64 whatever their type. A row is what it stores: all of its values, or
those that a CSR matrix lists, in that order. Weight vectors are float64, or float32: then each entry is added to in
double and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from hinge import _core
from hinge.reference.sums import LANES, Floats, interleaved_sum

Columns: TypeAlias = npt.NDArray[np.int64]


class Rows:
    """A weight vector has n_features + 1 entries, the last one belongs to the constant feature rho (0: none)."""

    def __init__(
        self, stored: Sequence[tuple[Columns, Floats]], n_features: int, rho: float = 0.0, layout: str = "dense"
    ) -> None:
        self._stored = stored
        self.n_features = n_features
        self.rho = rho
        self.layout = layout
        self.lanes = LANES[layout]
        self._norms = [interleaved_sum(x * x, self.lanes) + rho * rho for _, x in stored]

    @classmethod
    def dense(cls, X: npt.ArrayLike, rho: float = 0.0) -> Rows:
        """The rows of an array."""
        values = np.asarray(X, dtype=np.float64)
        columns = np.arange(values.shape[1])
        return cls([(columns, x) for x in values], values.shape[1], rho, "dense")

    @classmethod
    def csr(cls, X: Any, rho: float = 0.0) -> Rows:
        """The rows of a SciPy CSR matrix without duplicates."""
        values, columns = np.asarray(X.data, dtype=np.float64), np.asarray(X.indices, dtype=np.int64)
        pieces = [slice(begin, end) for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
        return cls([(columns[piece], values[piece]) for piece in pieces], X.shape[1], rho, "csr")

    @classmethod
    def read(cls, rows: _core.Rows, rho: float) -> Rows:
        """What native rows store; `rho` is the constant feature that they have."""
        return cls([rows.entries(i) for i in range(len(rows))], rows.n_features, rho, rows.layout)

    def __len__(self) -> int:
        return len(self._stored)

    def stored(self, i: int) -> int:
        """How many values row i stores."""
        return self._stored[i][1].size

    def squared_norm(self, i: int) -> float:
        """|[x_i, rho]|^2"""
        return self._norms[i]

    def product(self, i: int, w: npt.NDArray[Any]) -> float:
        """w.[x_i, 0]"""
        columns, x = self._stored[i]
        return interleaved_sum(x * w[columns], self.lanes)

    def with_constant(self, product: float, w: npt.NDArray[Any]) -> float:
        """w.[x_i, rho] from w.[x_i, 0]"""
        return product + self.rho * float(w[-1])

    def dot(self, i: int, w: npt.NDArray[Any]) -> float:
        """w.[x_i, rho]"""
        return self.with_constant(self.product(i, w), w)

    def add(self, i: int, scale: float, v: npt.NDArray[Any]) -> None:
        """v += scale * [x_i, rho], in place."""
        columns, x = self._stored[i]
        v[columns] += scale * x
        v[-1] = float(v[-1]) + scale * self.rho

    def entries(self, i: int) -> tuple[Columns, Floats]:
        """Columns and values of what row i stores, with rho unless it is 0."""
        columns, x = self._stored[i]
        if self.rho == 0.0:
            return columns, x
        return np.append(columns, self.n_features), np.append(x, self.rho)

    def copies(self, chosen: Sequence[int]) -> Rows:
        """The chosen rows in single precision."""
        stored = [
            (columns, x.astype(np.float32).astype(np.float64)) for columns, x in map(self._stored.__getitem__, chosen)
        ]
        return Rows(stored, self.n_features, self.rho, self.layout)

    def augmented(self, chosen: Sequence[int] | None = None) -> Floats:
        """The rows [x_i, rho], all or the chosen ones, as a dense array."""
        chosen = range(len(self)) if chosen is None else chosen
        X = np.zeros((len(chosen), self.n_features + 1))
        for x, i in zip(X, chosen, strict=True):
            self.add(i, 1.0, x)
        return X


class ScaledRows(Rows):
    """Rows seen as [f_i x_i, rho]; the rows below have no constant feature of their own. No factors: all are 1."""

    def __init__(self, plain: Rows, factors: Sequence[float] | None, rho: float) -> None:
        super().__init__([plain.entries(i) for i in range(len(plain))], plain.n_features, rho, plain.layout)
        self.plain = plain
        self.factors = [1.0] * len(plain) if factors is None else [float(f) for f in factors]

    def squared_norm(self, i: int) -> float:
        """In this order f_i^2 alone, which may overflow for a tiny row, never appears."""
        return self.factors[i] * (self.factors[i] * self.plain.squared_norm(i)) + self.rho * self.rho

    def product(self, i: int, w: npt.NDArray[Any]) -> float:
        return self.factors[i] * self.plain.product(i, w)

    def add(self, i: int, scale: float, v: npt.NDArray[Any]) -> None:
        self.plain.add(i, scale * self.factors[i], v)
        v[-1] += scale * self.rho

    def entries(self, i: int) -> tuple[Columns, Floats]:
        columns, x = super().entries(i)
        return columns, np.where(columns < self.n_features, self.factors[i] * x, x)
