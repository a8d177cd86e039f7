"""Kernel values between rows, and rows of the kernel matrix.

A value is computed in float64, in the order of native code: with x_h held, row x_j is read. Dense rows have |x - z|^2
from the differences; sparse ones from norms and a product, as their values at other columns are not read. ``math.exp``
and ``math.tanh`` are those of the C library, as in native code, so that the bits are the same on one machine.

Solvers use kernel rows in single precision (`KernelRows`), as native code keeps them. `kernel_sums` is for what must be
exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge.reference.rows import Rows
from hinge.reference.sums import Floats, Sum, interleaved_sum


@dataclass(frozen=True)
class Kernel:
    """The kernels of :class:`hinge.features.Kernel` by name; `constant` is added to every value."""

    function: str
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    constant: float = 0.0

    @classmethod
    def read(cls, problem: Any) -> Kernel:
        """That of a `hinge.features.KernelProblem`, with the constant feature of a penalised intercept."""
        k, rho = problem.kernel, problem.intercept.rho
        return cls(k.function, k.gamma, int(k.degree), k.coef0, rho * rho)

    def value(self, rows: Rows, held: int, j: int) -> float:
        """k(x_held, x_j)"""
        norm2, other = rows.squared_norm(held), rows.squared_norm(j)
        if self.function == "rbf":
            return self.constant + math.exp(-self.gamma * _squared_distance(rows, held, j))
        if self.function == "laplacian":
            return self.constant + math.exp(-self.gamma * _distance(rows, held, j))
        return self._of_product(_product(rows, held, j), norm2, other)

    def diagonal(self, rows: Rows, i: int) -> float:
        """k(x_i, x_i)"""
        norm2 = rows.squared_norm(i)
        if self.function in ("rbf", "laplacian"):
            return self.constant + 1.0
        return self._of_product(norm2, norm2, norm2)

    def _of_product(self, product: float, norm2: float, other: float) -> float:
        if self.function == "polynomial":
            base = self.gamma * product + self.coef0
            value = base
            for _ in range(1, self.degree):
                value *= base
        elif self.function == "sigmoid":
            value = math.tanh(self.gamma * product + self.coef0)
        elif self.function == "cosine":
            lengths = math.sqrt(norm2) * math.sqrt(other)
            value = product / lengths if lengths > 0.0 else 0.0
        else:
            value = product
        return self.constant + value


def _spread(rows: Rows, i: int) -> Floats:
    """Row i with all its zeros."""
    columns, x = rows.entries(i)
    full = np.zeros(rows.n_features)
    full[columns] = x
    return full


def _product(rows: Rows, held: int, j: int) -> float:
    columns, z = rows.entries(j)
    return interleaved_sum(z * _spread(rows, held)[columns], rows.lanes)


def _squared_distance(rows: Rows, held: int, j: int) -> float:
    if rows.layout == "dense":
        difference = rows.entries(held)[1] - rows.entries(j)[1]
        return interleaved_sum(difference * difference, rows.lanes)
    if held == j:
        return 0.0
    return max(0.0, (rows.squared_norm(held) + rows.squared_norm(j)) - 2.0 * _product(rows, held, j))


def _distance(rows: Rows, held: int, j: int) -> float:
    columns, z = rows.entries(j)
    x = _spread(rows, held)[columns]
    if rows.layout == "dense":
        return interleaved_sum(np.abs(x - z), rows.lanes)
    length = 0.0
    for value in rows.entries(held)[1].tolist():
        length += abs(value)
    return max(0.0, length + interleaved_sum(np.abs(x - z) - np.abs(x), rows.lanes))


class KernelRows:
    """Rows of the kernel matrix in single precision, an entry when it is asked for."""

    def __init__(self, kernel: Kernel, rows: Rows) -> None:
        self.kernel = kernel
        self.rows = rows
        self._known: dict[int, npt.NDArray[np.float32]] = {}

    def on(self, i: int, columns: Iterable[int]) -> Floats:
        """Row i in float64, with the entries of these columns at least; others may be NaN."""
        row = self._known.setdefault(i, np.full(len(self.rows), np.nan, dtype=np.float32))
        for j in columns:
            if np.isnan(row[j]):
                row[j] = self.kernel.value(self.rows, i, j)
        return row.astype(np.float64)

    def row(self, i: int) -> Floats:
        """All of row i."""
        return self.on(i, range(len(self.rows)))


def kernel_sums(kernel: Kernel, rows: Rows, beta: Floats) -> Floats:
    """sum_h beta_h k(x_h, x_j) for every row j, compensated."""
    sums = np.zeros(len(rows))
    for j in range(len(rows)):
        total = Sum()
        for h in np.flatnonzero(beta).tolist():
            total.add(float(beta[h]) * kernel.value(rows, h, j))
        sums[j] = total.value
    return sums
