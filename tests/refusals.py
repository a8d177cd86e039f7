"""A small problem to spoil, the two ways to train on it, and the error that is expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import LinearSVC, solve

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1, -1)

LAYOUTS = {"dense": np.ascontiguousarray, "csr": sp.csr_array, "csr_matrix": sp.csr_matrix}
DTYPES = [np.float32, np.float64]


def refused(*parts: str) -> Any:
    """A ValueError whose message contains all parts, in this order."""
    return pytest.raises(ValueError, match=r"(?s)" + ".*".join(map(re.escape, parts)))


def fit(X: Any, y: Any, **params: Any) -> LinearSVC:
    return LinearSVC(**params).fit(X, y)


BOTH: list[Callable[..., Any]] = [solve, fit]


def csr(kind: type = sp.csr_array) -> Any:
    """A CSR matrix of its own, int32 indices, every row with 5 entries."""
    return kind(X.copy())
