"""Random problems: small and extreme ones for exact arithmetic, larger and tame ones to train on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

INTERCEPTS = ("none", "penalized", "free")


@dataclass(frozen=True)
class Extreme:
    """A small problem that is hard on the arithmetic; `X` is dense, `data` the same as the library gets it."""

    X: Any
    data: Any
    y: Any
    C: float
    weight: Any
    scale: float

    @property
    def cost(self) -> Any:
        """C_i, rounded as the library rounds them."""
        return self.C * self.weight

    def options(self) -> dict[str, Any]:
        """Keyword arguments of :func:`hinge.solve`."""
        return {"C": self.C, "sample_weight": self.weight, "intercept_scaling": self.scale}


def extreme(rng: np.random.Generator) -> Extreme:
    """Up to 30 rows; weights, scales and values from the whole range of floats."""
    m, d = int(rng.integers(2, 31)), int(rng.integers(1, 8))
    if rng.random() < 0.1:
        m = 2  # one row per class
    y = np.where(rng.random(m) < rng.uniform(0.1, 0.9), 1, -1)
    y[:2] = (1, -1)
    X = rng.standard_normal((m, d)) + rng.normal() * y[:, None] + 3 * rng.normal() * (rng.random() < 0.3)
    if rng.random() < 0.2:
        X = np.round(X)  # ties and exact cancellation
    X *= rng.random((m, d)) < rng.uniform(0.2, 1.0)
    X = X * _scales(rng, m, d)
    X[rng.random(m) < 0.1] = 0.0
    X[rng.random(m) < 0.15] = X[0]
    single = rng.random() < 0.5
    if rng.random() < 0.1:  # subnormal numbers
        X = X / max(np.abs(X).max(), 1e-300) * (1e-40 if single else 1e-310)
    limit = 1e38 if single else 1e145
    X = np.ascontiguousarray(np.clip(X, -limit, limit), dtype=np.float32 if single else np.float64)
    weight = 10.0 ** rng.uniform(-12, 12, m) if rng.random() < 0.3 else np.ones(m)
    if rng.random() < 0.2:
        weight = rng.choice([1e-5, 0.5, 1.0, 3.0, 1e5], m)
    C = 10.0 ** (rng.uniform(-12, 12) if rng.random() < 0.3 else rng.uniform(-3, 3))
    scale = float(rng.choice([1.0, 0.1, 10.0, 1e-6, 1e6]))
    return Extreme(X, sp.csr_array(X) if rng.random() < 0.3 else X, y, C, weight, scale)


def _scales(rng: np.random.Generator, m: int, d: int) -> Any:
    """Factors of the entries: the same for all, by column, by row, or in places."""
    kind = rng.choice(["one", "columns", "rows", "places", "none"])
    if kind == "one":
        return 10.0 ** rng.uniform(-20, 20)
    if kind == "columns":
        return 10.0 ** rng.uniform(-10, 10, d)
    if kind == "rows":
        return 10.0 ** rng.uniform(-10, 10, (m, 1))
    if kind == "places":
        return 10.0 ** np.where(rng.random((m, d)) < 0.1, rng.uniform(-150, 140, (m, d)), 0.0)
    return 1.0


@lru_cache(maxsize=4)
def noisy(m: int, d: int, classes: int = 2, *, single: bool = False, sparse: bool = False) -> tuple[Any, Any]:
    """Rows that no hyperplane separates, every class with its direction."""
    rng = np.random.default_rng([m, d, classes])
    X = rng.standard_normal((m, d), dtype=np.float32 if single else np.float64)
    score = X[:, 0] + 0.5 * X[:, -1] + 0.7 * rng.standard_normal(m)
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    y[:classes] = np.arange(classes)
    if sparse:
        X[rng.random((m, d)) < 0.7] = 0.0
    X.setflags(write=False)
    return sp.csr_array(X) if sparse else X, y
