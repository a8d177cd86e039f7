"""Random Fourier features in plain NumPy: sqrt(2/d) cos(2 pi (x.f_j + p_j)), with the bits of native code.

Rahimi and Recht: Random features for large-scale kernel machines. NIPS 2007.
Yu, Suresh, Choromanski, Holtmann-Rice and Kumar: Orthogonal random features. NIPS 2016.

All arithmetic is in one type, float32 or float64, and every sum has one order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hinge.features.fourier_map import DenseMap, FourierMap, StructuredMap

Numbers = npt.NDArray[Any]

# sin(2 pi z) = sum of these times z, z^3, z^5, ...; up to |z| = 1/4 the first so many are exact to the last place.
_SINE = (
    6.283185307179586232,
    -41.341702240399762047,
    81.605249276075056741,
    -76.705859753061389483,
    42.058693944897655115,
    -15.09464257682298971,
    3.81995258484828204,
    -0.71812230177850056023,
    0.1042291622081398389,
    -0.012031585942120627195,
    0.0011309237482517962847,
)
_TERMS = {"float32": 7, "float64": 11}


def features(chosen: FourierMap, X: npt.ArrayLike, dtype: Any) -> Numbers:
    """phi(x) of every row of X."""
    rows = np.asarray(X).astype(dtype)
    assert isinstance(chosen, DenseMap | StructuredMap)
    turns = dense_turns(chosen, rows) if isinstance(chosen, DenseMap) else structured_turns(chosen, rows)
    return cosines(turns, rows.dtype.type(chosen.scale))


def dense_turns(chosen: DenseMap, rows: Numbers) -> Numbers:
    """p_j + x.f_j, entry by entry of x."""
    turns = np.tile(chosen.phases.astype(rows.dtype), (len(rows), 1))
    for x, frequency in zip(rows.T, chosen.frequencies.astype(rows.dtype), strict=True):
        turns += np.outer(x, frequency)
    return turns


def structured_turns(chosen: StructuredMap, rows: Numbers) -> Numbers:
    """l_j (H D1 H D2 H D3 x)_j + p_j, block by block of n features."""
    n = chosen.signs.shape[2]
    x = np.zeros((len(rows), n), dtype=rows.dtype)
    x[:, : rows.shape[1]] = rows
    blocks = []
    for third, second, first in chosen.signs.astype(rows.dtype):
        blocks.append(walsh(first * walsh(second * walsh(third * x))))
    products = np.hstack(blocks)[:, : chosen.n_out]
    return np.asarray(products * chosen.lengths.astype(rows.dtype) + chosen.phases.astype(rows.dtype))


def walsh(x: Numbers) -> Numbers:
    """H x for every row x of an array with a power of 2 of columns: H_ij = (-1)^(number of ones that i and j share)."""
    n = h = x.shape[1]
    while h > 1:
        h //= 2
        pairs = x.reshape(len(x), -1, 2, h)  # entries j and j + h
        left, right = pairs[:, :, 0], pairs[:, :, 1]
        x = np.stack([left + right, left - right], axis=2).reshape(len(x), n)
    return x


def cosines(turns: Numbers, scale: Any) -> Numbers:
    """scale cos(2 pi t): whole turns are taken off, and the sine of the distance to a quarter turn is a polynomial."""
    number = turns.dtype.type
    z = number(0.25) - np.minimum(np.abs(turns - np.rint(turns)), number(0.5))
    sine = np.full_like(z, _SINE[_TERMS[turns.dtype.name] - 1])
    for term in reversed(_SINE[: _TERMS[turns.dtype.name] - 1]):
        sine = sine * (z * z) + number(term)
    return np.asarray(scale * (sine * z))
