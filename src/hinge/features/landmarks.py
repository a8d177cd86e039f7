"""Which rows become landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge import checks
from hinge.features.kernel import Kernel

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# The rules that look at kernel values choose among so many candidates for each landmark, drawn uniformly: their matrix
# of kernel values then has 16 times the entries of the landmarks' own.
_CANDIDATES = 4


def uniform(kernel: Kernel, X: Any, rows: Integers, n: int, rng: np.random.RandomState) -> Integers:
    """n different rows, all equally likely."""
    return rows[rng.permutation(rows.size)[:n]]


def k_means_plus_plus(kernel: Kernel, X: Any, rows: Integers, n: int, rng: np.random.RandomState) -> Integers:
    """Each next row with a probability proportional to its squared distance from those chosen, in the kernel's space.

    ``|phi(x) - phi(z)|^2 = k(x, x) - 2 k(x, z) + k(z, z)``. Arthur and Vassilvitskii: k-means++. SODA 2007.
    """
    pool = uniform(kernel, X, rows, _CANDIDATES * n, rng)
    values = kernel.block(X[pool], X[pool])
    diagonal = np.diagonal(values).astype(np.float64)
    chosen = [int(rng.randint(pool.size))]
    distances = np.full(pool.size, np.inf)
    while len(chosen) < n:
        last = chosen[-1]
        distances = np.minimum(distances, np.maximum(diagonal - 2.0 * values[:, last] + diagonal[last], 0.0))
        distances[chosen] = 0.0
        if not distances.any():  # only copies of chosen rows are left
            break
        chosen.append(_drawn(distances, 1, rng)[0])
    return pool[chosen]


def leverage(kernel: Kernel, X: Any, rows: Integers, n: int, rng: np.random.RandomState) -> Integers:
    """Rows with a probability proportional to their ridge leverage score, estimated from n uniform rows J.

    With features b_i of the Nystroem approximation by J, the score is ``b_i' (B'B + ridge I)^(-1) b_i``, the weight of
    row i in its own fit; the ridge is such that the scores add up to n / 2. Alaoui and Mahoney: Fast randomized kernel
    ridge regression with statistical guarantees. NIPS 2015.
    """
    pool = uniform(kernel, X, rows, _CANDIDATES * n, rng)
    sketch = pool[:n]
    values, vectors = np.linalg.eigh(kernel.block(X[sketch], X[sketch]).astype(np.float64))
    kept = values > values.size * np.finfo(np.float64).eps * max(values[-1], 0.0)
    if not kept.any():  # a kernel that is 0, or negative: no row is better than another
        return sketch
    B = kernel.block(X[pool], X[sketch]).astype(np.float64) @ (vectors[:, kept] / np.sqrt(values[kept]))
    spectrum, rotation = np.linalg.eigh(B.T @ B)
    spectrum = np.maximum(spectrum, 0.0)
    ridge = _ridge_of(spectrum, 0.5 * float(np.count_nonzero(spectrum > 0)))
    scores = np.square(B @ rotation) @ (1.0 / (spectrum + ridge))
    return pool[_drawn(scores, min(n, int(np.count_nonzero(scores))), rng)]


def extended(first: Integers, weights: Floats, rows: Integers, n: int, rng: np.random.RandomState) -> Integers:
    """The rows `first` and others up to n, drawn in proportion to their weights; where these are zero, uniformly."""
    weights = weights.copy()
    weights[first] = 0.0
    wanted = n - first.size
    drawn = _drawn(weights, min(wanted, int(np.count_nonzero(weights))), rng)
    rest = np.setdiff1d(rows, np.concatenate([first, drawn]))
    return np.concatenate([first, drawn, rng.permutation(rest)[: wanted - len(drawn)]]).astype(np.int64)


def _ridge_of(spectrum: Floats, dimension: float) -> float:
    """The ridge at which sum_j spectrum_j / (spectrum_j + ridge) is `dimension`, by bisection of its logarithm."""
    top = float(spectrum.max())
    low, high = top * 1e-16, top * spectrum.size
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if float(np.sum(spectrum / (spectrum + middle))) > dimension else (low, middle)
    return high


def _drawn(weights: Floats, n: int, rng: np.random.RandomState) -> list[int]:
    """n different numbers with probabilities proportional to their weights."""
    if n == 0:
        return []
    chosen = rng.choice(weights.size, n, replace=False, p=weights / weights.sum())
    return [int(i) for i in chosen]


Rule = Callable[[Kernel, Any, Integers, int, np.random.RandomState], Integers]

#: The rules by name.
RULES: dict[str, Rule] = {"uniform": uniform, "k-means++": k_means_plus_plus, "leverage": leverage}


#: The rule that needs a model: KernelSVC has one.
SUPPORT = "support"


def as_rule(name: Any) -> Rule:
    """The rule of this name."""
    if name == SUPPORT:
        raise ValueError(
            "landmarks='support' needs labels and a model: use hinge.KernelSVC, or fit one and take its feature_map_."
        )
    checks.choice("landmarks", name, tuple(RULES))
    return RULES[name]
