"""Kernel values between rows, and rows of the kernel matrix.

A value is computed in float64, in the order of native code: with x_h held, row x_j is read. |x - z|^2 comes from norms
and a product. Dense rows are seen from the first one, so that nothing is lost where all are far from 0, and with a
large gamma it comes from differences. ``math.tanh`` is that of the C library, as in native code, so that the bits are
the same on one machine; exp is a polynomial.

Solvers use kernel rows in single precision (`KernelRows`), as native code keeps them. `kernel_sums` is for what must be
exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
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
        if self.function == "rbf":
            return self.constant + exponential(-self.gamma * _squared_distance(rows, self.gamma, held, j))
        if self.function == "laplacian":
            return self.constant + exponential(-self.gamma * _distance(rows, held, j))
        return self._of_product(_product(rows, held, j), _norm2(rows, held), _norm2(rows, j))

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


def exponential(x: float) -> float:
    """exp(x) for x <= 0: 2^n exp(r) with x = n ln 2 + r, and the series of exp(r). Below -708 it is 0."""
    if x < _LEAST:
        return 0.0
    n = (x * _LOG2E + _WHOLE) - _WHOLE
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    value = 0.0
    for k in range(_TERMS, -1, -1):
        value = value * r + 1.0 / math.factorial(k)
    return math.ldexp(value, int(n))


_LARGEST_EXPONENT = 100.0  # with larger ones |x - z|^2 comes from differences: the rounding of norms would count
_TERMS = 13
_LEAST = -708.0
_LOG2E = float.fromhex("0x1.71547652b82fep+0")
_WHOLE = float.fromhex("0x1.8p52")  # numbers of this size have no fraction
_LN2_HIGH = float.fromhex("0x1.62e42fefa38p-1")  # with zeros at its end: n times it is exact
_LN2_LOW = float.fromhex("0x1.ef35793c7673p-45")


def _lanes(rows: Rows) -> int:
    """Accumulators of a sum over the features."""
    return 1 if rows.layout == "dense" else rows.lanes


def _spread(rows: Rows, i: int) -> Floats:
    """Row i with all its zeros."""
    columns, x = rows.entries(i)
    full = np.zeros(rows.n_features)
    full[columns] = x
    return full


def _norm2(rows: Rows, i: int) -> float:
    return _product(rows, i, i) if rows.layout == "dense" else rows.squared_norm(i)


def _product(rows: Rows, held: int, j: int) -> float:
    columns, z = rows.entries(j)
    return interleaved_sum(z * _spread(rows, held)[columns], _lanes(rows))


def _squared_distance(rows: Rows, gamma: float, held: int, j: int) -> float:
    if held == j:
        return 0.0
    if rows.layout == "dense":
        if gamma * _reach(rows) > _LARGEST_EXPONENT:
            difference = rows.entries(held)[1] - rows.entries(j)[1]
            return interleaved_sum(difference * difference, _lanes(rows))
        x, z = _from_first(rows, held), _from_first(rows, j)
        norm2, other, product = (interleaved_sum(terms, _lanes(rows)) for terms in (x * x, z * z, x * z))
    else:
        norm2, other, product = rows.squared_norm(held), rows.squared_norm(j), _product(rows, held, j)
    return max(0.0, (norm2 + other) - 2.0 * product)


def _from_first(rows: Rows, i: int) -> Floats:
    return np.asarray(rows.entries(i)[1] - rows.entries(0)[1])


@lru_cache(maxsize=4)
def _reach(rows: Rows) -> float:
    """The largest |x_i - x_0|^2."""
    squares = (_from_first(rows, i) ** 2 for i in range(len(rows)))
    return max(interleaved_sum(terms, _lanes(rows)) for terms in squares)


def _distance(rows: Rows, held: int, j: int) -> float:
    columns, z = rows.entries(j)
    x = _spread(rows, held)[columns]
    if rows.layout == "dense":
        return interleaved_sum(np.abs(x - z), _lanes(rows))
    length = 0.0
    for value in rows.entries(held)[1].tolist():
        length += abs(value)
    return max(0.0, length + interleaved_sum(np.abs(x - z) - np.abs(x), _lanes(rows)))


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
