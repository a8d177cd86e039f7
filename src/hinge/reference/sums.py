"""Sums. Floating-point addition is not associative, so the order of every sum is part of the contract with native code.

There are two. `interleaved_sum` is the fast one, for dot products: several accumulators ("lanes") at a time. `Sum` is
compensated, for norms that must not lose digits. LANES says how many lanes each layout of rows uses.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


#: Accumulators of the sums over a row, by the layout of the rows. Vectors are summed as dense rows are.
LANES = {"dense": 8, "csr": 4}


def interleaved_sum(terms: Floats, lanes: int) -> float:
    """Term j goes to accumulator j mod `lanes`; the accumulators are added up as a balanced tree.

    One lane is the plain sum from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> from hinge.reference.sums import interleaved_sum
    >>> interleaved_sum(np.array([1.0, 1e100, 1.0, -1e100]), 2)
    2.0
    """
    laid_out = np.zeros((2 + terms.size // lanes) * lanes)  # the first row is where the accumulators begin: at +0
    laid_out[lanes : lanes + terms.size] = terms
    sums = np.add.accumulate(laid_out.reshape(-1, lanes), axis=0)[-1].tolist()  # in order; np.sum promises none
    while len(sums) > 1:
        sums = [x + y for x, y in zip(sums[0::2], sums[1::2], strict=True)]
    return float(sums[0])


def dot(x: Floats, y: Floats) -> float:
    """x.y of two vectors."""
    return interleaved_sum(x * y, LANES["dense"])


class Sum:
    """Compensated sum (Neumaier): the error is about one rounding of the result."""

    def __init__(self) -> None:
        self.high = 0.0
        self.low = 0.0

    def add(self, x: float) -> None:
        total = self.high + x
        self.low += (self.high - total) + x if abs(self.high) >= abs(x) else (x - total) + self.high
        self.high = total

    def merge(self, other: Sum) -> None:
        self.add(other.high)
        self.low += other.low

    @property
    def value(self) -> float:
        return self.high + self.low


def total(terms: Any) -> float:
    """The compensated sum of some numbers."""
    compensated = Sum()
    for x in terms:
        compensated.add(x)
    return compensated.value


def squared_norm(w: npt.NDArray[Any]) -> float:
    """|w|^2: square j goes to the compensated sum j mod 8, and these sums are merged in their order."""
    squares = (in_double(w) ** 2).tolist()
    compensated = Sum()
    for k in range(LANES["dense"]):
        lane = Sum()
        for x in squares[k :: LANES["dense"]]:
            lane.add(x)
        compensated.merge(lane)
    return compensated.value


def in_double(values: npt.NDArray[Any]) -> Floats:
    """The same values as float64: NumPy would multiply float32 by a Python number in single precision."""
    return np.asarray(values, dtype=np.float64)
