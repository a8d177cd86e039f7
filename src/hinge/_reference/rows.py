"""Rows: dot, add and squared norm of row i, in the augmented space [x, rho].

The values are those of the data, exact in float64 whatever their type. Floating-point addition is not associative, so
the order of each sum is part of the contract: interleaved accumulators, added up as a balanced tree. Weight vectors are
float64, or float32: then each entry is added to in double and rounded once.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def in_double(values: npt.NDArray[Any]) -> Floats:
    """The same values as float64: NumPy would multiply float32 by a Python number in single precision."""
    return np.asarray(values, dtype=np.float64)


def interleaved_sum(terms: Floats, lanes: int) -> float:
    """Sum with `lanes` accumulators: term j goes to accumulator j mod lanes. One lane: from left to right."""
    padded = np.zeros(-(-terms.size // lanes) * lanes)
    padded[: terms.size] = terms
    sums = np.zeros(lanes)
    for chunk in padded.reshape(-1, lanes):
        sums += chunk
    while sums.size > 1:
        sums = sums[0::2] + sums[1::2]
    return float(sums[0])


class Rows(Protocol):
    """What a linear solver needs. A weight vector has n_features + 1 entries, the last one belongs to rho."""

    n_features: int
    rho: float

    def __len__(self) -> int: ...

    def stored(self, i: int) -> int:
        """How many values row i stores."""
        ...

    def squared_norm(self, i: int) -> float:
        """|[x_i, rho]|^2"""
        ...

    def dot(self, i: int, w: npt.NDArray[Any]) -> float:
        """w.[x_i, rho]"""
        ...

    def add(self, i: int, scale: float, v: npt.NDArray[Any]) -> None:
        """v += scale * [x_i, rho], in place."""
        ...

    def entries(self, i: int) -> tuple[npt.NDArray[np.int64], Floats]:
        """Columns and values of what row i stores, with rho unless it is 0."""
        ...


class DenseRows:
    """Rows of an array of shape (m, n_features): eight accumulators for dot, four for the squared norm."""

    def __init__(self, X: npt.NDArray[Any], rho: float = 0.0) -> None:
        self.X: Floats = np.asarray(X, dtype=np.float64)
        self.n_features = int(self.X.shape[1])
        self.rho = rho

    def __len__(self) -> int:
        return len(self.X)

    def stored(self, i: int) -> int:
        return self.n_features

    def squared_norm(self, i: int) -> float:
        return interleaved_sum(self.X[i] * self.X[i], 4) + self.rho * self.rho

    def dot(self, i: int, w: npt.NDArray[Any]) -> float:
        return interleaved_sum(self.X[i] * w[:-1], 8) + self.rho * float(w[-1])

    def add(self, i: int, scale: float, v: npt.NDArray[Any]) -> None:
        v[:-1] += scale * self.X[i]
        v[-1] = float(v[-1]) + scale * self.rho

    def entries(self, i: int) -> tuple[npt.NDArray[np.int64], Floats]:
        return _with_constant(np.arange(self.n_features), self.X[i], self.n_features, self.rho)


class CsrRows:
    """Rows of a SciPy CSR matrix without duplicates: four accumulators for dot, one for the squared norm."""

    def __init__(self, X: Any, rho: float = 0.0) -> None:
        self.values: Floats = np.asarray(X.data, dtype=np.float64)
        self.indices: npt.NDArray[Any] = X.indices
        self.indptr: list[int] = X.indptr.tolist()
        self.n_features = int(X.shape[1])
        self.rho = rho

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def stored(self, i: int) -> int:
        return self.indptr[i + 1] - self.indptr[i]

    def squared_norm(self, i: int) -> float:
        _, x = self._row(i)
        return interleaved_sum(x * x, 1) + self.rho * self.rho

    def dot(self, i: int, w: npt.NDArray[Any]) -> float:
        columns, x = self._row(i)
        return interleaved_sum(x * w[columns], 4) + self.rho * float(w[-1])

    def add(self, i: int, scale: float, v: npt.NDArray[Any]) -> None:
        columns, x = self._row(i)
        v[columns] += scale * x
        v[-1] = float(v[-1]) + scale * self.rho

    def entries(self, i: int) -> tuple[npt.NDArray[np.int64], Floats]:
        return _with_constant(*self._row(i), self.n_features, self.rho)

    def _row(self, i: int) -> tuple[npt.NDArray[Any], Floats]:
        stored = slice(self.indptr[i], self.indptr[i + 1])
        return self.indices[stored], self.values[stored]


def _with_constant(columns: npt.NDArray[Any], x: Floats, last: int, rho: float) -> tuple[npt.NDArray[np.int64], Floats]:
    extra = [] if rho == 0.0 else [last]
    return np.append(columns, extra).astype(np.int64), np.append(x, [rho] * len(extra))
