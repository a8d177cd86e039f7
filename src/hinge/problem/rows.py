"""Training rows, read in place."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import _get_feature_names

from hinge import _core

# Bytes of a line of the cache.
_LINE = 64


def as_rows(X: Any, names: npt.NDArray[Any] | None = None, n_threads: int = 1, fingerprint: bool = False) -> _core.Rows:
    """Native rows over a C-contiguous array or a CSR matrix, in place: one pass by `n_threads` checks them.

    Values and column indices are not copied; `indptr` is, unless it is of 64 bits. Where a state will be saved, the
    `fingerprint` is best taken in this pass; otherwise it is when somebody asks for it.

    Raises ValueError with row and column for NaN, infinity, indices out of range, duplicates and a corrupt indptr; with
    the `names` of the columns it tells that of the column, too.
    """
    with _naming(names):
        make: Callable[..., _core.Rows] = _core.Rows.csr if sp.issparse(X) else _core.Rows.dense
        return make(*_native_arrays(X), n_threads=n_threads, fingerprint=fingerprint)


def decision(
    X: Any,
    weights: npt.NDArray[np.float64],
    intercept: npt.NDArray[np.float64],
    names: npt.NDArray[Any] | None = None,
    n_threads: int = 1,
) -> npt.NDArray[np.float64]:
    """``w.x_i + b`` of each row of X for every column of `weights`; shape (n_samples, number of columns).

    Has the bits of ``as_rows(X).decision(...)`` and raises as :func:`as_rows` does, but reads X only once.
    """
    with _naming(names):
        native: Callable[..., npt.NDArray[np.float64]] = _core.decision
        return native(*_native_arrays(X), weights=weights, intercept=intercept, n_threads=n_threads)


@contextmanager
def _naming(names: npt.NDArray[Any] | None) -> Iterator[None]:
    """Errors about a column tell its name, too."""
    try:
        yield
    except ValueError as error:
        if names is None:
            raise
        named = re.sub(r"column (\d+)", lambda found: f"{found[0]} ({str(names[int(found[1])])!r})", str(error))
        raise ValueError(named) from None


def column_names(X: Any) -> npt.NDArray[Any] | None:
    """The names of a data frame's columns; None where there are none."""
    if isinstance(X, np.ndarray) or sp.issparse(X):
        return None  # what follows takes a tenth of a millisecond to find that out
    names: npt.NDArray[Any] | None = _get_feature_names(X)
    return names


def _native_arrays(X: Any) -> tuple[Any, ...]:
    """What native code reads of X: (values,) or, of a CSR matrix, (values, indices, indptr, number of columns)."""
    if not sp.issparse(X):
        return (_in_place(X),)
    if X.format != "csr":
        raise TypeError(f"expected a CSR matrix, got {X.format}")
    if X.indptr.size != X.shape[0] + 1:
        raise ValueError(f"Corrupt CSR matrix: indptr has {X.indptr.size} entries for {X.shape[0]} rows.")
    indptr = _in_place(X.indptr.astype(np.int64, copy=False))
    return _in_place(X.data), _indices(X.indices), indptr, X.shape[1]


def _indices(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """32- and 64-bit integers as they are; other kinds, which scipy does not make itself, as 64-bit ones."""
    return _in_place(array if array.dtype.newbyteorder("=") in (np.int32, np.int64) else array.astype(np.int64))


def _in_place(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array itself, unless its memory is laid out as native code cannot read it."""
    return np.require(array, dtype=array.dtype.newbyteorder("="), requirements=["C_CONTIGUOUS", "ALIGNED"])


def unit_factors(rows: _core.Rows) -> npt.NDArray[np.float64]:
    """1 / |x_i|, and 0 for rows of zeros."""
    norms = np.sqrt(rows.squared_norms)
    return np.divide(1.0, norms, out=np.zeros(norms.size), where=norms > 0)


def scaled(X: Any, factors: npt.NDArray[np.float64]) -> Any:
    """A copy of X with row i times factors[i], in float64."""
    if not sp.issparse(X):
        return X * factors[:, np.newaxis]
    copied = X.astype(np.float64)
    copied.data *= np.repeat(factors, np.diff(X.indptr))
    return copied


def side_by_side(weights: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """A copy of weights, one row for each class, as predictions read them.

    Those of a feature are side by side, and the first of them begin a line of the cache: they then lie on as few lines
    as possible.
    """
    given = np.asarray(weights, dtype=np.float64)
    memory = np.empty(given.size * given.itemsize + _LINE, dtype=np.uint8)
    begin = -memory.ctypes.data % _LINE
    copied = memory[begin : begin + given.nbytes].view(np.float64).reshape(given.shape[::-1]).T
    copied[...] = given
    return copied


@contextmanager
def held_still(X: Any) -> Iterator[None]:
    """Make the indices of a sparse matrix read-only while native code reads them.

    They were checked once; changed later, by a callback or another thread, they would point anywhere. A change is an
    error where it is made instead. Values need no such care: what they become, a certificate never takes NaN for a
    loss of zero. X itself must stay as it is while a model is trained on it: the certificate is of the rows as read.
    """
    arrays = [X.indices, X.indptr] if sp.issparse(X) and X.format == "csr" else []
    _HELD.take(arrays)
    try:
        yield
    finally:
        _HELD.release(arrays)


class _Held:
    """Counts who holds an array, so that fits on the same rows in several threads do not release each other's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[int, int] = {}

    def take(self, arrays: list[npt.NDArray[Any]]) -> None:
        with self._lock:
            for array in arrays:
                if array.flags.writeable or id(array) in self._counts:
                    self._counts[id(array)] = self._counts.get(id(array), 0) + 1
                    array.flags.writeable = False

    def release(self, arrays: list[npt.NDArray[Any]]) -> None:
        with self._lock:
            for array in arrays:
                left = self._counts.pop(id(array), None)
                if left is not None and left > 1:
                    self._counts[id(array)] = left - 1
                elif left is not None:
                    array.flags.writeable = True


_HELD = _Held()
