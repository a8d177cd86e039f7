"""Random frequencies whose cosines have a kernel as their mean: three ways to draw them.

For exp(-gamma |x - z|^2) every frequency is N(0, 2 gamma I), for exp(-gamma |x - z|_1) its entries are Cauchy of scale
gamma. Frequencies that are orthogonal to each other are spread more evenly than independent ones, which lowers the
variance of every kernel value. Yu, Suresh, Choromanski, Holtmann-Rice and Kumar: Orthogonal random features. NIPS 2016.
"""

from __future__ import annotations

import math

import numpy as np

from hinge.features.fourier_map import DenseMap, FourierMap, StructuredMap
from hinge.problem import Floats

#: Ways to draw frequencies.
FREQUENCIES = ("auto", "independent", "orthogonal", "structured")
# Angles are counted in turns.
_TURN = 2.0 * math.pi
# H D in a structured product. With two of them the entries are still sums of few distinct numbers; the paper has three.
_FACTORS = 3
# Entries of a structured product, at least. Rows with fewer are filled up with zeros: with 8 entries the mean of the
# features was wrong by up to 0.17, with 16 by 0.02, with 64 by no more than independent ones (kernel values of pairs
# in 1, 2 and 7 dimensions, 150 seeds with 256 features).
_FEWEST_ENTRIES = 64


def independent(kernel: str, n_features: int, d: int, gamma: float, rng: np.random.RandomState) -> FourierMap:
    """Independent of each other, for either kernel."""
    if kernel == "rbf":
        frequencies = math.sqrt(2.0 * gamma) * rng.standard_normal((n_features, d))
    else:
        frequencies = gamma * np.asarray(rng.standard_cauchy((n_features, d)))
    return DenseMap(frequencies / _TURN, rng.uniform(size=d))


def orthogonal(n_features: int, d: int, gamma: float, rng: np.random.RandomState) -> FourierMap:
    """For rbf: each as an independent one, but orthogonal within groups of n_features."""
    columns = min(n_features, d)
    groups = [_rotation(n_features, columns, rng) for _ in range(-(-d // columns))]
    frequencies = math.sqrt(2.0 * gamma) * np.hstack(groups)[:, :d]
    return DenseMap(frequencies / _TURN, rng.uniform(size=d))


def _rotation(n_features: int, columns: int, rng: np.random.RandomState) -> Floats:
    """Orthogonal columns in directions that are uniform over the sphere, as long as those of a normal distribution."""
    directions, triangle = np.linalg.qr(rng.standard_normal((n_features, columns)))
    directions *= np.sign(np.diagonal(triangle))  # uniform over all rotations
    lengths = np.sqrt(np.sum(np.square(rng.standard_normal((n_features, columns))), axis=0))
    return np.asarray(directions * lengths)


def structured(n_features: int, d: int, gamma: float, rng: np.random.RandomState) -> FourierMap:
    """For rbf: orthogonal within groups, and never formed: signs and Walsh-Hadamard transforms compute x.f.

    The frequencies of a group are ``sqrt(2 gamma) L H D1 H D2 H D3 / n^(3/2)`` for rows filled up to n entries, n a
    power of 2. The paper has L = sqrt(n). The lengths of normal vectors, chi with n degrees of freedom, cost nothing
    and have no bias where n is small.
    """
    n = max(_FEWEST_ENTRIES, 1 << (n_features - 1).bit_length())
    n_blocks = -(-d // n)
    signs = np.where(rng.randint(2, size=(n_blocks, _FACTORS, n)) == 0, 1.0, -1.0)
    signs[:, 1:] /= math.sqrt(n)
    lengths = math.sqrt(2.0 * gamma) * np.sqrt(rng.chisquare(n, size=d) / n)
    return StructuredMap(signs, lengths / _TURN, rng.uniform(size=d))


def drawn(
    frequencies: str, kernel: str, n_features: int, d: int, gamma: float, rng: np.random.RandomState
) -> FourierMap:
    """The map of `d` features by one of the ways in `FREQUENCIES`."""
    if frequencies == "auto":
        frequencies = "structured" if kernel == "rbf" else "independent"
    if frequencies == "independent":
        return independent(kernel, n_features, d, gamma, rng)
    if kernel != "rbf":
        raise ValueError(
            f"frequencies={frequencies!r} is for kernel='rbf' only, got {kernel!r}: use 'independent' or 'auto'."
        )
    return (orthogonal if frequencies == "orthogonal" else structured)(n_features, d, gamma, rng)
