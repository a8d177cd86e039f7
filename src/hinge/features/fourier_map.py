"""Maps from rows to random Fourier features, by a matrix of frequencies or by a structured product."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge import _core
from hinge.features.blocks import row_blocks
from hinge.problem import Floats, as_rows, decision

# Bytes of a row of a panel of frequencies, as native code reads them.
_PANEL_BYTES = 128
# Rows whose features are held at once where only their products with weights are wanted: so many bytes.
_BLOCK_BYTES = 2**23
# Angles beyond this share of the largest number of a type could overflow on the way.
_LARGEST = 1e-3
# Angles beyond this share of the number from which on a type has no fractions are not known to an eighth of a turn.
_FRACTION = 1 / 8

Arrays = tuple[npt.NDArray[Any], ...]


class FourierMap(ABC):
    """phi_j(x) = sqrt(2/d) cos(2 pi (x.f_j + p_j)): frequencies f_j and phases p_j, in turns."""

    phases: Floats

    @property
    def n_out(self) -> int:
        """Number of features d."""
        return int(self.phases.size)

    @property
    def scale(self) -> float:
        """Factor of the cosines."""
        return math.sqrt(2.0 / self.n_out)

    def write(self, X: Any, out: npt.NDArray[Any], n_threads: int) -> None:
        """The features of the rows of X, into `out`, in its type. A row's features do not depend on the other rows."""
        self.write_rows(as_rows(X, n_threads=n_threads), out, n_threads)

    def write_rows(self, rows: _core.Rows, out: npt.NDArray[Any], n_threads: int) -> None:
        """The same for native rows."""
        self._refuse_overflow(rows, out.dtype)
        arrays = self._narrow if out.dtype == np.float32 else self._wide
        self._native(rows, *arrays, self.scale, out, n_threads)

    def decision(self, X: Any, weights: Floats, n_threads: int) -> Floats:
        """w.phi(x) for the columns w of `weights`, in blocks of rows."""
        scores = np.empty((X.shape[0], weights.shape[1]))
        columns, zeros = np.ascontiguousarray(weights), np.zeros(weights.shape[1])
        for rows in row_blocks(X.shape[0], self.n_out * int(X.dtype.itemsize), _BLOCK_BYTES):
            features = np.empty((rows.stop - rows.start, self.n_out), dtype=X.dtype)
            self.write(X[rows], features, n_threads)
            scores[rows] = decision(features, columns, zeros, n_threads=n_threads)
        return scores

    @abstractmethod
    def _native(self, rows: _core.Rows, *arrays: Any) -> None:
        """The call that computes the features."""

    @abstractmethod
    def _arrays(self, dtype: Any) -> Arrays:
        """What it reads, in one type."""

    @abstractmethod
    def _reach(self) -> tuple[float, float]:
        """(largest, median): numbers on the way to an angle are at most largest |x|, frequencies as long as median."""

    @cached_property
    def _narrow(self) -> Arrays:
        return self._arrays(np.float32)

    @cached_property
    def _wide(self) -> Arrays:
        return self._arrays(np.float64)

    @cached_property
    def _reached(self) -> tuple[float, float]:
        return self._reach()

    def _refuse_overflow(self, rows: _core.Rows, dtype: np.dtype[Any]) -> None:
        """Cauchy frequencies have a few that are very long. Features are worth nothing if most of them are."""
        longest = math.sqrt(float(np.max(rows.squared_norms, initial=0.0)))
        largest, median = self._reached
        numbers = np.finfo(dtype)
        fits = max(longest, 1.0) * largest < _LARGEST * float(numbers.max)
        if not (fits and longest * median < _FRACTION / float(numbers.eps)):
            raise ValueError(
                f"X and gamma are so large that angles overflow, or that {dtype} has no digits left for them: a row "
                f"has norm {longest:.1e}. Scale the features, for example with "
                "sklearn.preprocessing.StandardScaler, or lower gamma."
            )


@dataclass(frozen=True)
class DenseMap(FourierMap):
    """By a matrix of frequencies, of shape (n_features, d)."""

    frequencies: Floats
    phases: Floats

    def _native(self, rows: _core.Rows, *arrays: Any) -> None:
        _core.fourier(rows, *arrays)

    def _reach(self) -> tuple[float, float]:
        lengths = np.sqrt(np.sum(np.square(self.frequencies), axis=0))
        return float(lengths.max()), float(np.median(lengths))

    def _arrays(self, dtype: Any) -> Arrays:
        """Columns side by side in panels that fit the caches, the last one filled up with zeros."""
        width = _PANEL_BYTES // int(np.dtype(dtype).itemsize)
        n_panels = -(-self.n_out // width)
        padded = np.zeros((self.frequencies.shape[0], n_panels * width), dtype=dtype)
        padded[:, : self.n_out] = self.frequencies
        by_panel = padded.reshape(-1, n_panels, width).transpose(1, 0, 2)
        return np.ascontiguousarray(by_panel), _filled_up(self.phases, n_panels * width, dtype)


@dataclass(frozen=True)
class StructuredMap(FourierMap):
    """By products of signs and Walsh-Hadamard transforms, n features at once: ``x.f_j = l_j (H D1 H D2 H D3 x)_j``.

    signs has the shape (blocks, 3, n), D3 first. D2, D1 and l have the factors 1/sqrt(n) that make each H orthogonal.
    """

    signs: Floats
    lengths: Floats
    phases: Floats

    def _native(self, rows: _core.Rows, *arrays: Any) -> None:
        _core.structured_fourier(rows, *arrays)

    def _reach(self) -> tuple[float, float]:
        """H x is sqrt(n) times as long as x."""
        root = math.sqrt(self.signs.shape[2])
        return root * max(float(self.lengths.max()), 1.0), root * float(np.median(self.lengths))

    def _arrays(self, dtype: Any) -> Arrays:
        columns = self.signs.shape[0] * self.signs.shape[2]
        ends = (_filled_up(each, columns, dtype) for each in (self.lengths, self.phases))
        return self.signs.astype(dtype), *ends


def _filled_up(values: Floats, size: int, dtype: Any) -> npt.NDArray[Any]:
    filled = np.zeros(size, dtype=dtype)
    filled[: values.size] = values
    return filled
