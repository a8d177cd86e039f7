"""Argument checks: one home for what a user may pass, and for the sentence that says what to pass instead."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from contextlib import suppress
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

Floats: TypeAlias = npt.NDArray[np.float64]

#: What native code reads in place; anything else is converted.
DTYPES = [np.float64, np.float32]


def positive(name: str, value: Any) -> float:
    """A positive, finite number."""
    try:
        if isinstance(value, numbers.Real) and 0 < float(value) < math.inf:
            return float(value)
    except OverflowError:  # an integer beyond float64
        pass
    raise ValueError(f"{name} must be positive and finite, got {shown(value)}.")


def whole(name: str, value: Any, least: int = 1, most: float = math.inf) -> int:
    """An integer from `least` to `most`, as Python's own: NumPy's would overflow on the way."""
    if isinstance(value, numbers.Integral) and least <= int(value) <= most:
        return int(value)
    at_most = f" and at most {most}" if most < math.inf else ""
    raise ValueError(f"{name} must be an integer of at least {least}{at_most}, got {shown(value)}.")


def costs_to_try(Cs: Any) -> list[float]:
    """Values of C in ascending order: those given, or so many of scikit-learn's grid."""
    if isinstance(Cs, numbers.Integral) and not isinstance(Cs, bool):
        values = np.logspace(-4, 4, whole("Cs", Cs)).tolist()
    elif np.ndim(Cs) == 1 and len(Cs) > 0:
        values = [positive("every value of Cs", C) for C in Cs]
    else:
        raise ValueError(f"Cs must be a number of values or a list of them, got {shown(Cs)}.")
    return sorted(set(values))


def choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """One of a few words."""
    if not any(value is one or (type(value) is type(one) and value == one) for one in allowed):
        raise ValueError(f"{name} must be one of {allowed}, got {shown(value)}.{did_you_mean(value, allowed)}")


def did_you_mean(value: Any, names: Iterable[Any]) -> str:
    """A sentence with the name that looks like `value`, to be put after an error; empty if none does.

    Case does not count, and ``_``, ``-`` and spaces are the same.
    """
    known = {_plain(name): name for name in names if isinstance(name, str)}
    close = get_close_matches(_plain(value), known, n=1) if isinstance(value, str) else []
    return f" Did you mean {known[close[0]]!r}?" if close else ""


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def shown(value: Any) -> str:
    """A value in a message: as typed, but never a screenful, and 0 rather than np.int64(0)."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # an integer with more digits than Python prints
        text = f"an integer of {value.bit_length()} bits"
    return text if len(text) <= 200 else text[:200] + "..."


def time_limit(seconds: Any) -> float | None:
    """Seconds, or None for no limit."""
    if seconds is None:
        return None
    try:
        if isinstance(seconds, numbers.Real) and float(seconds) > 0:
            return float(seconds)
    except OverflowError:  # an integer beyond float64
        return math.inf
    raise ValueError(f"time_limit must be positive (seconds) or None, got {shown(seconds)}.")


def memory(name: str, value: Any) -> int | None:
    """Bytes: a number of them, or a text such as "500MB" (10^6) or "2GiB" (2^30); None for no limit."""
    if value is None:
        return None
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)B\s*", value, flags=re.IGNORECASE)
        with suppress(ValueError):  # of two points
            if found is not None and float(found[1]) > 0:
                return int(float(found[1]) * (1024 if found[3] else 1000) ** (" KMGT".index(found[2].upper() or " ")))
    elif isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) > 0:
        return int(value)
    raise ValueError(f"{name} must be a number of bytes or a text such as '500MB' or '2GiB', got {shown(value)}.")


def threads(n_jobs: Any) -> int:
    """The number of threads that `n_jobs` means, as in scikit-learn."""
    if n_jobs is not None and not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs must be an integer or None, got {shown(n_jobs)}.")
    return int(effective_n_jobs(n_jobs))


def seed(random_state: Any) -> int:
    """An integer seed: given, or drawn from a RandomState or a Generator."""
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**63:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(check_random_state(random_state).randint(2**31))


def weights(sample_weight: Any, X: Any, *, all_zero: bool = False) -> Floats:
    """Sample weights as an array of float64: finite, not negative, and not all zero unless allowed."""
    if sample_weight is None:
        return np.broadcast_to(1.0, X.shape[0])  # one number in memory
    unmasked("sample_weight", sample_weight)
    if all_zero and np.shape(sample_weight) == (X.shape[0],) and not np.any(sample_weight):
        return np.zeros(X.shape[0])  # here: scikit-learn refuses them, in some versions
    weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(weight < 0):
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight must not be negative: row {row} has {float(weight[row])!r}.")
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row: there is nothing to learn from.")
    return weight


def unmasked(name: str, values: Any) -> None:
    """Refuse a masked array: conversion would drop the mask, and what it hides would count."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(
            f"{name} is a masked array, and its mask would be lost. Impute what is missing ({name}.filled(...), "
            f"sklearn.impute), or leave those rows out; without missing values pass {name}.data."
        )


def kept_once(values: Floats) -> bool:
    """Whether one number in memory stands for those of all rows (``numpy.broadcast_to``)."""
    return values.strides == (0,) and values.size > 0


def in_memory(values: Floats) -> Floats:
    """The number of each row, or the one that stands for all."""
    return values[:1] if kept_once(values) else values


def costs(C: float, weight: Floats, factors: Floats | float = 1.0) -> Floats:
    """C_i = C s_i (times the class weight); a positive weight that underflows to a cost of zero is refused."""
    if kept_once(weight) and np.ndim(factors) == 0:
        return np.broadcast_to(costs(C, weight[:1].copy(), factors), weight.shape)
    cost: Floats = C * weight * factors
    lost = (weight > 0) & (np.asarray(factors) > 0) & (cost == 0)
    if np.any(lost):
        row = int(np.flatnonzero(lost)[0])
        raise ValueError(f"C times the weight of row {row} underflows to zero: raise C or the weights.")
    return cost


def sparse_structure(X: Any) -> None:
    """Refuse what conversion would misread: masked arrays, and corrupt sparse matrices, whose indices scipy trusts.

    CSR matrices of float32 and float64 are not converted: who reads them in place checks them there. DOK matrices
    scipy checks itself.
    """
    unmasked("X", X)
    if not sp.issparse(X):
        return
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape}.")
    if X.format == "coo":
        _coordinates(X)
    elif X.format == "dia":
        if X.offsets.dtype.kind not in "iu" or X.data.ndim != 2 or X.offsets.shape != X.data.shape[:1]:
            raise ValueError(f"{_corrupt(X)}: offsets must be integers, one for each row of the data.")
    elif X.format == "lil":
        if not len(X.rows) == len(X.data) == X.shape[0] or list(map(len, X.rows)) != list(map(len, X.data)):
            raise ValueError(f"{_corrupt(X)}: rows and data must have one list for each row, of the same length.")
    elif X.format in ("csr", "csc", "bsr"):
        if X.indptr.dtype.kind not in "iu" or X.indices.dtype.kind not in "iu":
            raise ValueError(f"{_corrupt(X)}: indptr and indices must be integers.")
        if X.format != "csr" or X.dtype not in DTYPES:
            _compressed(X)


def sound_rows(X: Any) -> None:
    """Refuse NaN, infinity and corrupt indices in an array or a CSR matrix that native code does not read.

    In its words. Duplicate entries add up here, as scipy reads them.
    """
    if sp.issparse(X):
        _compressed(X)
    values = X.data[: int(X.indptr[-1])] if sp.issparse(X) else X.ravel()
    bad = ~np.isfinite(values)
    if not np.any(bad):
        return
    place = int(np.argmax(bad))
    row, column = (_line(X, place), int(X.indices[place])) if sp.issparse(X) else divmod(place, X.shape[1])
    at = f"(row {row}, column {column})"
    if np.isnan(values[place]):
        raise ValueError(
            f"Input X contains NaN {at}. Impute or drop missing values first, for example with sklearn.impute."
        )
    raise ValueError(f"Input X contains infinity {at}. Replace or drop it first.")


def _compressed(X: Any) -> None:
    """Refuse a CSR, CSC or BSR matrix whose indices lead out of it."""
    n_outer, n_inner = X.shape[::-1] if X.format == "csc" else X.shape
    if X.format == "bsr":
        n_outer, n_inner = n_outer // X.blocksize[0], n_inner // X.blocksize[1]
    indptr = X.indptr.astype(np.int64)
    if (
        indptr.size != n_outer + 1
        or indptr[0] != 0
        or np.any(indptr[1:] < indptr[:-1])  # not by differences: they can overflow
        or indptr[-1] > min(X.indices.size, len(X.data))
    ):
        raise ValueError(f"{_corrupt(X)}: indptr does not start at 0, decreases, or points beyond the data.")
    place = _outside(X.indices[: int(indptr[-1])], n_inner)
    if place is not None:
        line = {"csr": "row", "csc": "column", "bsr": "row of blocks"}[X.format]
        raise ValueError(f"{_corrupt(X)}: index {int(X.indices[place])} out of range at {line} {_line(X, place)}.")


def _coordinates(X: Any) -> None:
    """Refuse a COO matrix with entries outside of it."""
    for name, indices, n in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
        if indices.dtype.kind not in "iu":
            raise ValueError(f"{_corrupt(X)}: the indices of {name}s must be integers.")
        if indices.size != X.data.size:
            raise ValueError(f"{_corrupt(X)}: {indices.size} indices of {name}s for {X.data.size} values.")
        place = _outside(indices, n)
        if place is not None:
            raise ValueError(f"{_corrupt(X)}: {name} index {int(indices[place])} out of range at entry {place}.")


def _corrupt(X: Any) -> str:
    return f"Corrupt {X.format.upper()} matrix"


def _outside(indices: npt.NDArray[Any], n: int) -> int | None:
    """The first place of an index outside [0, n)."""
    if indices.size == 0 or (indices.min() >= 0 and indices.max() < n):
        return None
    return int(np.argmax((indices < 0) | (indices >= n)))


def _line(X: Any, place: int) -> int:
    """The row (of a CSC matrix: the column) that an entry is in."""
    return int(np.searchsorted(X.indptr, place, side="right")) - 1
