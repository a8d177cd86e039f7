"""Argument checks: one home for what a user may pass, and for the sentence that says what to pass instead."""

from __future__ import annotations

import math
import numbers
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


def whole(name: str, value: Any, least: int = 1) -> int:
    """An integer of at least `least`, as Python's own: NumPy's would overflow on the way."""
    if isinstance(value, numbers.Integral) and int(value) >= least:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least {least}, got {shown(value)}.")


def choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """One of a few words."""
    if not any(value is one or (type(value) is type(one) and value == one) for one in allowed):
        raise ValueError(f"{name} must be one of {allowed}, got {shown(value)}.")


def shown(value: Any) -> str:
    """A value in a message: as typed, but never a screenful."""
    try:
        text = repr(value)
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


def threads(n_jobs: Any) -> int:
    """The number of threads that `n_jobs` means, as in scikit-learn."""
    if n_jobs is not None and not isinstance(n_jobs, numbers.Integral):
        raise ValueError(f"n_jobs must be an integer or None, got {shown(n_jobs)}.")
    return int(effective_n_jobs(n_jobs))


def seed(random_state: Any) -> int:
    """An integer seed: given, or drawn from a RandomState."""
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**63:
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def weights(sample_weight: Any, X: Any, *, all_zero: bool = False) -> Floats:
    """Sample weights as an array of float64: finite, not negative, and not all zero unless allowed."""
    if (
        all_zero
        and sample_weight is not None
        and np.shape(sample_weight) == (X.shape[0],)
        and not np.any(sample_weight)
    ):
        return np.zeros(X.shape[0])  # here: scikit-learn refuses them, in some versions
    weight: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(weight < 0):
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight must not be negative: row {row} has {float(weight[row])!r}.")
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for every row: there is nothing to learn from.")
    return weight


def costs(C: float, weight: Floats, factors: Floats | float = 1.0) -> Floats:
    """C_i = C s_i (times the class weight); a positive weight that underflows to a cost of zero is refused."""
    cost: Floats = C * weight * factors
    lost = (weight > 0) & (cost == 0)
    if np.any(lost):
        row = int(np.flatnonzero(lost)[0])
        raise ValueError(f"C times the weight of row {row} underflows to zero: raise C or the weights.")
    return cost


def sparse_structure(X: Any, *, read_in_place: bool = True) -> None:
    """Refuse a corrupt CSR or CSC matrix that scipy is about to work on: its own code trusts the indices.

    Matrices of float32 and float64 in CSR form that are to be read in place are checked there.
    """
    if not sp.issparse(X) or X.format not in ("csr", "csc"):
        return
    if read_in_place and X.format == "csr" and X.dtype in DTYPES:
        return
    n_outer, n_inner = X.shape if X.format == "csr" else X.shape[::-1]
    if X.indptr.dtype.kind not in "iu" or X.indices.dtype.kind not in "iu":
        raise ValueError(f"Corrupt {X.format.upper()} matrix: indptr and indices must be integers.")
    indptr, indices = X.indptr.astype(np.int64), X.indices
    if (
        indptr.size != n_outer + 1
        or indptr[0] != 0
        or np.any(np.diff(indptr) < 0)
        or indptr[-1] > min(indices.size, X.data.size)
    ):
        raise ValueError(
            f"Corrupt {X.format.upper()} matrix: indptr does not start at 0, decreases, or points beyond the data."
        )
    used = indices[: int(indptr[-1])]
    if used.size and (used.min() < 0 or used.max() >= n_inner):
        place = int(np.flatnonzero((used < 0) | (used >= n_inner))[0])
        line = int(np.searchsorted(indptr, place, side="right")) - 1
        kind = "row" if X.format == "csr" else "column"
        raise ValueError(f"Corrupt {X.format.upper()} matrix: index {int(used[place])} out of range at {kind} {line}.")
