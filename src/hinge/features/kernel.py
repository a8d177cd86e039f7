"""Kernels: blocks of values k(x, z) between rows x of X and rows z of Z."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hinge import checks
from hinge.features.blocks import for_each, row_blocks

Block: TypeAlias = npt.NDArray[Any]
KernelFunction: TypeAlias = Callable[[Any, Any], Any]

#: The kernels that have a name.
KERNELS = ("rbf", "laplacian", "polynomial", "sigmoid", "linear", "cosine")
_ALIASES = {"poly": "polynomial"}  # scikit-learn's SVC calls it so

# |x - z|^2 is computed as |x|^2 - 2 x.z + |z|^2, by one matrix product. Rounding may change an exponent by this much,
# and a kernel value by as much of itself. Where it could be more, a wider type takes over, and last the differences
# themselves.
_EXPONENT_ERROR = 1e-5
# Multiplications of a sparse row with dense columns that take as long as one of a dense row: at this density, and above
# it, blocks of sparse rows are made dense.
_DENSE_ENOUGH = 0.05
# Rows whose values a callable is asked for at once where only the diagonal is wanted.
_DIAGONAL_ROWS = 64
# A variance that is the difference of two mean squares, and no larger than this share of them, is rounding.
_ROUNDING_OF_SQUARES = 1e-14


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters.

    ==============  =============================================
    rbf             ``exp(-gamma |x - z|^2)``
    laplacian       ``exp(-gamma |x - z|_1)``
    polynomial      ``(gamma x.z + coef0)^degree``
    sigmoid         ``tanh(gamma x.z + coef0)``, not positive definite
    linear          ``x.z``
    cosine          ``x.z / (|x| |z|)``, and 0 for rows of zeros
    a callable      ``f(X, Z)``: all values between two blocks of rows, of shape (len(X), len(Z))
    ==============  =============================================

    Examples
    --------
    >>> import numpy as np
    >>> from hinge.features import Kernel
    >>> kernel = Kernel("rbf", gamma=0.5)
    >>> kernel.block(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353],
           [0.6065, 0.6065]])
    """

    function: str | KernelFunction
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.function, str):
            object.__setattr__(self, "function", _ALIASES.get(self.function, self.function))
        if not callable(self.function):
            checks.choice("kernel", self.function, KERNELS)
        object.__setattr__(self, "gamma", checks.positive("gamma", self.gamma))
        for name in ("degree", "coef0"):
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(float(value)):
                raise ValueError(f"{name} must be a finite number, got {checks.shown(value)}.")
            object.__setattr__(self, name, float(value))
        if self.function == "polynomial" and not (self.degree >= 1 and self.degree.is_integer()):
            raise ValueError(f"degree must be an integer of at least 1, got {self.degree!r}.")

    @classmethod
    def chosen(
        cls, function: Any, X: Any, *, gamma: Any, degree: Any, coef0: Any, weight: npt.NDArray[Any] | None = None
    ) -> Kernel:
        """The kernel for the rows X: gamma "scale" is 1 / (n_features times the variance of X), "auto" 1 / n_features.

        The variance is that of all entries, row i counted `weight[i]` times; constant features have "scale" 1.
        """
        return cls(function, gamma=resolved_gamma(gamma, X, weight), degree=degree, coef0=coef0)

    @property
    def positive_definite(self) -> bool:
        """Whether every matrix of its values is known to be positive semi-definite. Of a callable nothing is known."""
        if self.function == "polynomial":
            return self.coef0 >= 0
        return isinstance(self.function, str) and self.function != "sigmoid"

    def block(self, X: Any, Z: Any) -> Block:
        """k(x, z) for all rows of X and Z, dense; in float32 if both are, otherwise in float64."""
        return Columns(self, Z).block(X)

    def diagonal(self, X: Any) -> npt.NDArray[np.float64]:
        """k(x, x) for all rows."""
        n = X.shape[0]
        if not isinstance(self.function, str):
            starts = range(0, n, _DIAGONAL_ROWS)
            parts = [np.diagonal(self.block(rows, rows)) for rows in (X[at : at + _DIAGONAL_ROWS] for at in starts)]
            return np.concatenate([np.zeros(0), *parts]).astype(np.float64)
        if self.function in ("rbf", "laplacian"):
            return np.ones(n)
        squares = squared_norms(X)
        if self.function == "cosine":
            return (squares > 0).astype(np.float64)
        return _finite(self._of_products(squares), self)

    def _of_products(self, products: Block) -> Block:
        """Values from products x.z, in place."""
        if self.function == "linear":
            return products
        products *= self.gamma
        products += self.coef0
        with np.errstate(over="ignore", invalid="ignore"):
            if self.function == "sigmoid":
                return np.tanh(products, out=products)
            return np.power(products, self.degree, out=products)


class Columns:
    """The functions k(., z) for fixed rows z: what depends on them alone is computed once.

    Values have the type `dtype`; None: float32 if both X and Z have it, otherwise float64.
    """

    def __init__(self, kernel: Kernel, Z: Any, dtype: npt.DTypeLike | None = None) -> None:
        self.kernel = kernel
        self.Z = _unit_rows(Z) if kernel.function == "cosine" else Z
        self.dtype = None if dtype is None else np.dtype(dtype)

    def __len__(self) -> int:
        return int(self.Z.shape[0])

    @property
    def rounding(self) -> float:
        """About the root mean square of the relative rounding errors of values, for rows as long as those of Z.

        Half a unit in the last place, and of the rbf kernel as much for the square root of the exponent: on Adult,
        IJCNN1, MNIST and Covertype in float32 this is 0.9 to 1.8 times what was measured.
        """
        dtype = self._type_for(self.Z)
        half = 0.5 * float(np.finfo(dtype).eps)
        if self.kernel.function != "rbf":
            return half
        exponent = 2.0 * self.kernel.gamma * _largest(self._centred.squares)
        return half * math.sqrt(1.0 + exponent) if _rounding(dtype, exponent) <= _EXPONENT_ERROR else half

    def block(self, X: Any) -> Block:
        """k(x, z) for all rows x of X."""
        return self._values(X).astype(self._type_for(X), copy=False)

    def _type_for(self, X: Any) -> np.dtype[Any]:
        return self.dtype or np.dtype(np.float32 if X.dtype == self.Z.dtype == np.float32 else np.float64)

    def combinations(self, X: Any, coefficients: npt.NDArray[np.float64], n_threads: int) -> npt.NDArray[np.float64]:
        """sum_s c_s k(x, z_s) for the columns c of `coefficients` and all rows x of X, in blocks of rows."""
        if len(self) == 0:  # the model of rows that are all the same has no support vectors
            return np.zeros((X.shape[0], coefficients.shape[1]))

        def work(rows: slice) -> npt.NDArray[np.float64]:
            return np.asarray(self.block(X[rows]).astype(np.float64, copy=False) @ coefficients)

        blocks = row_blocks(X.shape[0], int(max(len(self), X.shape[1]) * X.dtype.itemsize))
        parts = list(for_each(work, blocks, n_threads))
        return np.concatenate(parts) if parts else np.zeros((0, coefficients.shape[1]))

    def _values(self, X: Any) -> Block:
        function = self.kernel.function
        if not isinstance(function, str):
            return self._called(function, X)
        if function == "rbf":
            return self._gaussian(X)
        if function == "laplacian":
            return _exponential(_cityblock(X, self.Z), self.kernel.gamma)
        if function == "cosine":
            return _finite(_product(_unit_rows(X), self.Z), self.kernel)
        return _finite(self.kernel._of_products(_product(X, self.Z)), self.kernel)

    def _called(self, function: KernelFunction, X: Any) -> Block:
        values = np.asarray(function(X, self.Z))
        if values.shape != (X.shape[0], len(self)):
            raise ValueError(
                f"The kernel function returned an array of shape {values.shape} for {X.shape[0]} and {len(self)} rows: "
                f"it must return the values of all pairs, of shape {(X.shape[0], len(self))}."
            )
        if values.dtype.kind not in "fiub":
            raise ValueError(f"The kernel function returned values of type {values.dtype}, not real numbers.")
        return _finite(values.astype(np.float64), self.kernel)

    def _gaussian(self, X: Any) -> Block:
        """exp(-gamma |x - z|^2) with one matrix product, in the narrowest type that is good enough."""
        gamma = self.kernel.gamma
        X = _dense_if_worth_it(X)
        Z = self._as_they_are if sp.issparse(X) else self._centred
        with np.errstate(over="ignore", invalid="ignore"):
            shifted = Z.moved(X)
            squares_x = squared_norms(shifted)
            largest = gamma * (_largest(squares_x) + _largest(Z.squares))
        fitting = [t for t in (self._type_for(X), np.float64) if _rounding(t, largest) <= _EXPONENT_ERROR]
        if not fitting:
            return _exponential(_squared_distances(X, self.Z), gamma)
        dtype = fitting[0]
        exponents = _product(shifted.astype(dtype, copy=False), Z.rows(dtype))
        exponents *= 2.0 * gamma
        exponents -= (gamma * Z.squares).astype(dtype)
        exponents -= (gamma * squares_x).astype(dtype)[:, np.newaxis]
        np.minimum(exponents, 0.0, out=exponents)
        return np.exp(exponents, out=exponents)

    @cached_property
    def _as_they_are(self) -> _Shifted:
        return _Shifted(self.Z)

    @cached_property
    def _centred(self) -> _Shifted:
        dense = self.Z.toarray() if sp.issparse(self.Z) else self.Z
        return _Shifted(dense, dense.mean(axis=0, dtype=np.float64).astype(dense.dtype))


class _Shifted:
    """Rows minus a centre: distances do not notice the shift, and there is less to cancel."""

    def __init__(self, Z: Any, centre: Block | None = None) -> None:
        self.centre = centre
        self._rows = self.moved(Z)

    def moved(self, X: Any) -> Any:
        return X if self.centre is None else X - self.centre

    @cached_property
    def squares(self) -> npt.NDArray[np.float64]:
        return squared_norms(self._rows)

    @cached_property
    def _narrow(self) -> Any:
        return self._rows.astype(np.float32, copy=False)

    @cached_property
    def _wide(self) -> Any:
        return self._rows.astype(np.float64, copy=False)

    def rows(self, dtype: Any) -> Any:
        return self._narrow if dtype == np.float32 else self._wide


def resolved_gamma(gamma: Any, X: Any, weight: npt.NDArray[Any] | None = None) -> float:
    """A number: as given, or by the rule of this name."""
    if not isinstance(gamma, str):
        return checks.positive("gamma", gamma)
    checks.choice("gamma", gamma, ("scale", "auto"))
    n_features = int(X.shape[1])
    if gamma == "auto":
        return 1.0 / n_features
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X, np.ones(X.shape[0]) if weight is None else weight)
        scale = 1.0 / (n_features * variance) if variance > 0 else 1.0
    if not 0 < scale < np.inf:
        raise ValueError(
            f"gamma='scale' overflows: the variance of X is {variance:.3g}. Scale the features first, for example with "
            "sklearn.preprocessing.StandardScaler, or give gamma as a number."
        )
    return float(scale)


def squared_norms(X: Any) -> npt.NDArray[np.float64]:
    """|x|^2 of every row, in float64; infinite where it overflows."""
    with np.errstate(over="ignore"):
        if sp.issparse(X):
            wide = X.astype(np.float64)
            return np.asarray(wide.multiply(wide).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64, casting="same_kind"), dtype=np.float64)


def _variance(X: Any, weight: npt.NDArray[Any]) -> float:
    """Of all entries, row i counted weight[i] times; exactly 0 if they are all the same."""
    share = weight / weight.sum() / X.shape[1]
    if sp.issparse(X):
        mean = float(share @ np.asarray(X.sum(axis=1, dtype=np.float64)).ravel())
        square = float(share @ squared_norms(X))
        if not math.isfinite(square):
            return square
        variance = square - mean**2
        return variance if variance > _ROUNDING_OF_SQUARES * square else 0.0
    rows = max(1, 2**20 // X.shape[1])
    parts = [slice(at, at + rows) for at in range(0, X.shape[0], rows)]
    centre = float(X[0, 0])  # with it, entries that are all the same have no rounding in their mean

    def weighted(function: Callable[[Block], Block]) -> float:
        return math.fsum(float(share[part] @ function(X[part].astype(np.float64)).sum(axis=1)) for part in parts)

    mean = centre + weighted(lambda entries: entries - centre)
    return weighted(lambda entries: np.square(entries - mean))


def _largest(squares: npt.NDArray[np.float64]) -> float:
    return float(squares.max(initial=0.0))


def _rounding(dtype: Any, largest: float) -> float:
    """Bound of the rounding of an exponent; `largest` bounds gamma (|x|^2 + |z|^2), and twice gamma x.z with it."""
    return 4.0 * float(np.finfo(dtype).eps) * largest


def _product(X: Any, Z: Any) -> Block:
    """All x.z, dense."""
    dtype = np.result_type(X.dtype, Z.dtype)
    X = _dense_if_worth_it(X)
    if sp.issparse(X) and sp.issparse(Z):
        return np.ascontiguousarray((X @ Z.T).toarray(), dtype=dtype)
    if sp.issparse(Z):
        return np.ascontiguousarray(np.asarray(Z @ X.T).T, dtype=dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(X @ Z.T, dtype=dtype)


def _dense_if_worth_it(X: Any) -> Any:
    worth_it = sp.issparse(X) and X.nnz >= _DENSE_ENOUGH * X.shape[0] * X.shape[1]
    return X.toarray() if worth_it else X


def _exponential(distances: Block, gamma: float) -> Block:
    """exp(-gamma distance), in place; of an infinite exponent it is zero."""
    with np.errstate(over="ignore"):
        distances *= -gamma
    return np.exp(distances, out=distances)


def _squared_distances(X: Any, Z: Any) -> Block:
    """|x - z|^2 from the differences: slow, and as exact as can be."""
    from scipy.spatial.distance import cdist  # here: rarely needed, and its import takes time

    with np.errstate(over="ignore"):
        return np.asarray(cdist(_dense(X), _dense(Z), "sqeuclidean"))


def _cityblock(X: Any, Z: Any) -> Block:
    """City-block distances |x - z|_1."""
    if sp.issparse(X) and sp.issparse(Z):
        from sklearn.metrics.pairwise import manhattan_distances  # here: its import takes longer than all of hinge

        return np.asarray(manhattan_distances(_small_indices(X), _small_indices(Z)))
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(_dense(X), _dense(Z), "cityblock"))


def _small_indices(X: Any) -> Any:
    """In float64 with indices of 32 bits: scikit-learn's function takes no others."""
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csr_matrix((X.data.astype(np.float64), indices, indptr), shape=X.shape)


def _dense(X: Any) -> npt.NDArray[np.float64]:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def _unit_rows(X: Any) -> Any:
    """Rows over their norms; rows of zeros stay."""
    norms = np.sqrt(squared_norms(X))
    factors = np.divide(1.0, norms, out=np.zeros(norms.size), where=norms > 0).astype(X.dtype)
    if sp.issparse(X):
        return sp.csr_matrix(sp.diags(factors).astype(X.dtype) @ X)
    return X * factors[:, np.newaxis]


def _finite(values: Block, kernel: Kernel) -> Block:
    """Refuse NaN and infinity."""
    bad = ~np.isfinite(values)
    if not bad.any():
        return values
    place = tuple(int(i) for i in np.argwhere(bad)[0])
    if isinstance(kernel.function, str):
        raise ValueError(
            f"The {kernel.function} kernel overflows: its value at {place} is {values[place]!r}. Scale the features "
            "first, for example with sklearn.preprocessing.StandardScaler, or lower gamma or degree."
        )
    raise ValueError(
        f"The kernel function returned {values[place]!r} at {place}: its values must be finite. Check the function at "
        "these rows."
    )
