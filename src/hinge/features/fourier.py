"""Random Fourier features: a kernel of differences as an average of cosines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import _core, checks
from hinge.features.blocks import row_blocks
from hinge.features.kernel import Kernel
from hinge.problem import Floats, as_rows

#: Features where no number is given.
DEFAULT_COMPONENTS = 2048
# Bytes of a row of a panel of frequencies, as native code reads them.
_PANEL_BYTES = 128
# Rows whose features are held at once where only their products with weights are wanted: so many bytes.
_BLOCK_BYTES = 2**23
# Angles beyond this share of the largest number of a type could overflow on the way.
_LARGEST = 1e-3


@dataclass(frozen=True)
class FourierMap:
    """phi_j(x) = sqrt(2/d) cos(2 pi (x.f_j + p_j)): frequencies f of shape (n_features, d) and phases p, in turns."""

    frequencies: Floats
    phases: Floats

    @property
    def n_out(self) -> int:
        """Number of features d."""
        return int(self.phases.size)

    def write(self, X: Any, out: npt.NDArray[Any], n_threads: int) -> None:
        """The features of the rows of X, into `out`, in its type. A row's features do not depend on the other rows."""
        self.write_rows(as_rows(X, n_threads=n_threads), out, n_threads)

    def write_rows(self, rows: _core.Rows, out: npt.NDArray[Any], n_threads: int) -> None:
        """The same for native rows."""
        panels, phases = self._narrow if out.dtype == np.float32 else self._wide
        self._refuse_overflow(rows, out.dtype)
        _core.fourier(rows, panels, phases, math.sqrt(2.0 / self.n_out), out, n_threads)

    def decision(self, X: Any, weights: Floats, n_threads: int) -> Floats:
        """w.phi(x) for the columns w of `weights`, in blocks of rows."""
        scores = np.empty((X.shape[0], weights.shape[1]))
        columns, zeros = np.ascontiguousarray(weights), np.zeros(weights.shape[1])
        for rows in row_blocks(X.shape[0], self.n_out * int(X.dtype.itemsize), _BLOCK_BYTES):
            features = np.empty((rows.stop - rows.start, self.n_out), dtype=X.dtype)
            self.write(X[rows], features, n_threads)
            scores[rows] = as_rows(features).decision(columns, zeros, n_threads)
        return scores

    def _refuse_overflow(self, rows: _core.Rows, dtype: np.dtype[Any]) -> None:
        longest = math.sqrt(float(np.max(rows.squared_norms, initial=0.0)))
        if not longest * self._longest_frequency < _LARGEST * float(np.finfo(dtype).max):
            raise ValueError(
                f"X and gamma are so large that angles overflow: a row has norm {longest:.1e}. Scale the features, for "
                "example with sklearn.preprocessing.StandardScaler, or lower gamma."
            )

    @cached_property
    def _longest_frequency(self) -> float:
        return float(np.sqrt(np.sum(np.square(self.frequencies), axis=0).max(initial=0.0)))

    @cached_property
    def _narrow(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return self._panels(np.float32)

    @cached_property
    def _wide(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        return self._panels(np.float64)

    def _panels(self, dtype: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Columns side by side in panels that fit the caches, the last one filled up with zeros."""
        width = _PANEL_BYTES // int(np.dtype(dtype).itemsize)
        n_panels = -(-self.n_out // width)
        padded = np.zeros((self.frequencies.shape[0], n_panels * width), dtype=dtype)
        padded[:, : self.n_out] = self.frequencies
        phases = np.zeros(n_panels * width, dtype=dtype)
        phases[: self.n_out] = self.phases
        by_panel = padded.reshape(-1, n_panels, width).transpose(1, 0, 2)
        return np.ascontiguousarray(by_panel), phases


def gaussian_frequencies(n_features: int, d: int, gamma: float, rng: np.random.RandomState) -> Floats:
    """For exp(-gamma |x - z|^2): independent columns of N(0, 2 gamma I)."""
    return math.sqrt(2.0 * gamma) * rng.standard_normal((n_features, d))


def orthogonal_frequencies(n_features: int, d: int, gamma: float, rng: np.random.RandomState) -> Floats:
    """The same distribution of every column, but orthogonal within each group of n_features columns.

    Their directions are spread evenly, which lowers the variance of every kernel value. Yu et al.: Orthogonal random
    features. NIPS 2016.
    """
    groups = []
    for _ in range(-(-d // n_features)):
        directions, triangle = np.linalg.qr(rng.standard_normal((n_features, n_features)))
        directions *= np.sign(np.diagonal(triangle))  # uniform over all rotations
        lengths = np.sqrt(np.sum(np.square(rng.standard_normal((n_features, n_features))), axis=0))
        groups.append(directions * lengths)
    return math.sqrt(2.0 * gamma) * np.hstack(groups)[:, :d]


def cauchy_frequencies(n_features: int, d: int, gamma: float, rng: np.random.RandomState) -> Floats:
    """For exp(-gamma |x - z|_1): entries of the Cauchy distribution of scale gamma."""
    return gamma * np.asarray(rng.standard_cauchy((n_features, d)))


class Fourier(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Random features whose products have a kernel as their expectation: ``E[phi(x).phi(z)] = k(x, z)``.

    ``phi_j(x) = sqrt(2/d) cos(nu_j.x + beta_j)`` with beta_j uniform in [0, 2 pi] and nu_j from the Fourier transform
    of the kernel: N(0, 2 gamma I) for rbf, Cauchy of scale gamma in every coordinate for laplacian. They do not look at
    the rows, so that they serve streams. A row's features have the same bits whatever rows come with it, dense or
    sparse.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}, default="rbf"
    gamma : {"scale", "auto"} or float, default="scale"
        "scale": 1 / (n_features times the variance of X); "auto": 1 / n_features.
    n_components : int or None, default=None
        Number of features d; None: 2048.
    orthogonal : bool, default=False
        Frequencies orthogonal to each other, for rbf: better accuracy for the same d.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Threads over blocks of rows. They change no bit.

    Attributes
    ----------
    kernel_ : Kernel
        With gamma as a number.
    map_ : FourierMap
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The ASSET paper's equation (17) has sqrt(1/d), which gives half the kernel, and frequencies N(0, sigma^2 I) in place
    of N(0, I / sigma^2).

    References
    ----------
    Rahimi and Recht: Random features for large-scale kernel machines. NIPS 2007.
    Lee and Wright: ASSET: approximate stochastic subgradient estimation training for support vector machines. 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge.features import Fourier
    >>> X, y = load_iris(return_X_y=True)
    >>> Fourier(gamma=0.1, n_components=100).fit_transform(X).shape
    (150, 100)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str],
        "gamma": [str, Real],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "orthogonal": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    kernel_: Kernel
    indefinite_: ClassVar[bool] = False
    map_: FourierMap

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: float | str = "scale",
        n_components: int | None = None,
        orthogonal: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies; X gives their dimension and the scale of gamma.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        X = self._validated(X, reset=True)
        return self.fit_rows(X, np.ones(X.shape[0]))

    def fit_rows(self, X: Any, weight: Floats, dtype: npt.DTypeLike | None = None) -> Self:
        """:meth:`fit` on rows that are checked already."""
        checks.choice("kernel", self.kernel, ("rbf", "laplacian"))
        kernel = Kernel.chosen(self.kernel, X, gamma=self.gamma, degree=1, coef0=0.0, weight=weight)
        draw = gaussian_frequencies if self.kernel == "rbf" else cauchy_frequencies
        if self.orthogonal:
            if self.kernel != "rbf":
                raise ValueError(f"orthogonal=True is for kernel='rbf' only, got {self.kernel!r}: set it to False.")
            draw = orthogonal_frequencies
        rng = check_random_state(self.random_state)
        d = DEFAULT_COMPONENTS if self.n_components is None else int(self.n_components)
        frequencies = draw(X.shape[1], d, kernel.gamma, rng) / (2.0 * math.pi)
        self.kernel_, self.map_ = kernel, FourierMap(frequencies, rng.uniform(size=d))
        return self

    def function(self, weights: Floats) -> None:
        """The features do not lie in the kernel's own space: there are no such functions."""
        return

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """The features of the rows of X, in its type.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, d)
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        out = np.empty((X.shape[0], self.map_.n_out), dtype=X.dtype)
        self.map_.write(X, out, checks.threads(self.n_jobs))
        return out

    @property
    def _n_features_out(self) -> int:
        return self.map_.n_out

    def _validated(self, X: Any, *, reset: bool) -> Any:
        checks.sparse_structure(X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, reset=reset
        )
        as_rows(X)  # refuses NaN, infinity and corrupt indices
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
