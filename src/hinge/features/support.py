"""Functions of the exact kernel: combinations of k(x_s, .) over some rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from hinge.features.kernel import Columns, Kernel
from hinge.problem import Floats, Integers


class SupportVectors:
    """Where the functions sum_s c_s k(x_s, .) of an exact kernel machine come from: its kernel and its rows.

    It stands where models on features have their map: weights are the coefficients c_s themselves.

    Attributes
    ----------
    kernel_ : Kernel
        With gamma as a number.
    landmarks_ : array or CSR matrix of shape (n_support, n_features)
    """

    indefinite_ = False  # a problem with such a kernel is refused

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self.kernel_ = kernel
        self.landmarks_ = rows

    def only(self, support: Integers) -> SupportVectors:
        """With these rows alone, in float64: coefficients may be so large that the rounding of float32 would show."""
        return SupportVectors(self.kernel_, self.landmarks_[support].astype(np.float64))

    @property
    def map_(self) -> Self:
        """What computes decisions."""
        return self

    def decision(self, X: Any, weights: Floats, n_threads: int) -> Floats:
        """sum_s c_s k(x_s, x) for the columns c of `weights` and every row x of X."""
        return Columns(self.kernel_, self.landmarks_).combinations(X, weights, n_threads)

    def function(self, weights: Floats) -> tuple[Any, Floats]:
        """(rows, coefficients) of the functions of the columns of `weights`."""
        return self.landmarks_, weights
