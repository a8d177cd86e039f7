"""Exact kernel machines: problems in the space of functions that a kernel spans."""

from __future__ import annotations

import zlib
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hinge import _core
from hinge.features.kernel import Kernel
from hinge.problem import Floats, Intercept, Loss, Problem
from hinge.problem.problem import Space, counting

# Of a kernel that may have negative eigenvalues the whole matrix is looked at, if it has no more rows than this.
_MOST_ROWS_LOOKED_AT = 2000
# Eigenvalues of a positive semi-definite matrix as computed: not below minus this share of the largest.
_ROUNDING = 1e-10
# Kernel rows are kept in single precision while training, whose largest number is 3e38.
_LARGEST_VALUE = 1e30
# |x - z|^2 is at most four times the largest |x|^2.
_LARGEST_SQUARE = 1e300


class KernelProblem(Problem):
    """A binary problem whose rows are seen through a kernel alone, k(x, z) = <phi(x), phi(z)>.

    Functions of the form ``f(x) = sum_i v_i k(x_i, x) + b`` take the place of weights: a weight vector is v, with one
    entry for each row, and w = sum_i v_i phi(x_i). With the matrix K of all k(x_i, x_j)::

        primal   P(v, b) = 1/2 v'K v + sum_i C_i loss(1 - t_i ((K v)_i + b))
        dual     D(a)    = sum_i dual_term(a_i) - 1/2 (a t)'K (a t),    w(a) is v_i = a_i t_i

    A penalised intercept is a constant feature, so that every kernel value grows by its square.

    Attributes
    ----------
    kernel : Kernel
    native_kernel : the same for native code, with the constant feature
    deficit : float
        No eigenvalue of K is below minus this: 0 for kernels that are positive semi-definite by nature.
    """

    space: ClassVar[Space] = "kernel"

    def __init__(self, *arrays: Any, kernel: Kernel, deficit: float = 0.0, **options: Any) -> None:
        super().__init__(*arrays, **options)
        self.kernel = kernel
        self.deficit = deficit
        kind = getattr(_core.KernelKind, str(kernel.function))
        self.native_kernel = _core.Kernel(
            kind, kernel.gamma, int(kernel.degree), kernel.coef0, self.intercept.rho * self.intercept.rho
        )

    @classmethod
    def of(
        cls,
        rows: _core.Rows,
        target: npt.NDArray[Any],
        cost: Floats,
        *,
        kernel: Kernel,
        loss: Loss,
        intercept: Intercept,
    ) -> Self:
        """Drop the rows of zero cost; refuse a callable, what could overflow, and negative eigenvalues."""
        if not isinstance(kernel.function, str):
            raise ValueError(
                "An exact kernel machine needs a kernel that has a name, got a callable: nothing is known of its "
                "rounding errors and eigenvalues, without which there is no certificate. "
                "Use Nystroem features (KernelSVC: approximation='nystroem'), which take any callable."
            )
        n_samples = len(rows)
        positions, rows, target, cost = counting(rows, target, cost)
        problem = cls(
            rows,
            target,
            cost,
            kernel=kernel,
            loss=loss,
            intercept=intercept,
            positions=positions,
            n_samples=n_samples,
        )
        problem._refuse_infinite_values()
        problem.deficit = problem._looked_at()
        problem.refuse_overflow()
        return problem

    def _refuse_infinite_values(self) -> None:
        largest = self.largest_value
        if not float(self.rows.squared_norms.max()) < _LARGEST_SQUARE:
            raise ValueError(
                "X is so large that squares overflow. Scale the features, for example with "
                "sklearn.preprocessing.MaxAbsScaler."
            )
        if not largest < _LARGEST_VALUE:
            raise ValueError(
                f"Values of the {self.kernel.function} kernel may be as large as {largest:.1e}. Scale the features "
                "first, for example with sklearn.preprocessing.StandardScaler, or lower gamma or degree."
            )

    def _looked_at(self) -> float:
        """The deficit: 0, or found out from all eigenvalues. ValueError if some are negative, or too many."""
        if self.kernel.positive_definite:
            return 0.0
        advice = (
            "the dual of such a problem is no bound. Use Nystroem features (KernelSVC: approximation='nystroem'), "
            "which leave the negative part out, or another kernel."
        )
        if self.m > _MOST_ROWS_LOOKED_AT:
            raise ValueError(
                f"The {self.kernel.function} kernel with these parameters may have negative eigenvalues; with {self.m} "
                f"rows, more than {_MOST_ROWS_LOOKED_AT}, that is not looked up, and {advice}"
            )
        eigenvalues = np.linalg.eigvalsh(self.matrix())
        deficit = _ROUNDING * float(np.abs(eigenvalues).max())
        if eigenvalues[0] < -deficit:
            raise ValueError(
                f"The {self.kernel.function} kernel is not positive semi-definite on these rows (its eigenvalues reach "
                f"from {eigenvalues[0]:.2g} to {eigenvalues[-1]:.2g}), and {advice}"
            )
        return deficit

    def matrix(self) -> Floats:
        """K, all of it: for small problems."""
        K = np.array([_core.kernel_row(self.rows, self.native_kernel, i) for i in range(self.m)])
        return np.asarray(0.5 * (K + K.T))

    @property
    def largest_value(self) -> float:
        """A bound of all |k(x_i, x_j)|: by Cauchy and Schwarz the largest on the diagonal; the sigmoid is at most 1."""
        if self.kernel.function == "sigmoid":
            return 1.0 + self.intercept.rho**2
        if self.kernel.function == "polynomial":  # also where coef0 < 0
            norm2 = float(self.rows.squared_norms.max())
            with np.errstate(over="ignore"):
                base = np.float64(self.kernel.gamma * norm2 + abs(self.kernel.coef0))
                return float(base**self.kernel.degree) + self.intercept.rho**2
        return float(self.squared_norms.max())

    @property
    def n_weights(self) -> int:
        """Entries of a weight vector: one for each row."""
        return self.m

    @property
    def squared_norms(self) -> Floats:
        """k(x_i, x_i), the constant feature included."""
        return _core.kernel_diagonal(self.rows, self.native_kernel)

    def squared_length(self, w: Floats) -> float:
        """A bound of |w|^2 that takes no kernel values."""
        return float(np.sum(np.abs(w))) ** 2 * self.largest_value

    def shift(self, w: Floats) -> float:
        """What the constant feature adds to every decision."""
        return self.intercept.rho**2 * float(np.sum(w))

    @property
    def fingerprint(self) -> int:
        """Tells problems apart whose rows, targets, costs, loss, intercept or kernel differ."""
        return super().fingerprint ^ zlib.crc32(repr(self.kernel).encode())

    def _changed(self, *arrays: Any, **more: Any) -> Self:
        return super()._changed(*arrays, kernel=self.kernel, deficit=self.deficit, **more)
