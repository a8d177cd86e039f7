"""Dense symmetric positive definite systems, summed in the order of the native ones."""

from __future__ import annotations

import math

import numpy as np

from hinge._reference.rows import Floats


class Cholesky:
    """L L^T = matrix, row by row; `ok` is false where the matrix is not positive definite."""

    def __init__(self, matrix: Floats) -> None:
        self.L = matrix.copy()  # the lower triangle counts
        self.ok = True
        for i in range(len(matrix)):
            for j in range(i):
                self.L[i, j] = (self.L[i, j] - _dot(self.L[i, :j], self.L[j, :j])) / self.L[j, j]
            pivot = float(self.L[i, i]) - _dot(self.L[i, :i], self.L[i, :i])
            if not pivot > 0.0:
                self.ok = False
                return
            self.L[i, i] = math.sqrt(pivot)

    def solve(self, right: Floats) -> Floats:
        """Forward with L by rows, backward with L^T by columns."""
        x = right.copy()
        for i in range(x.size):
            x[i] = (x[i] - _dot(self.L[i, :i], x[:i])) / self.L[i, i]
        for i in reversed(range(x.size)):
            x[i] /= self.L[i, i]
            x[:i] -= self.L[i, :i] * x[i]
        return x


def _dot(x: Floats, y: Floats) -> float:
    """Four accumulators; what is left over goes to the first."""
    terms = x * y
    whole = terms.size // 4 * 4
    sums = np.zeros(4)
    for chunk in terms[:whole].reshape(-1, 4):
        sums += chunk
    for term in terms[whole:]:
        sums[0] += term
    return float((sums[0] + sums[1]) + (sums[2] + sums[3]))
