"""Nystroem features: the kernel matrix from some of its columns."""

from __future__ import annotations

import warnings
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

from hinge import checks
from hinge.features.blocks import SINGLE_BLAS, for_each, row_blocks
from hinge.features.kernel import Columns, Kernel
from hinge.features.landmarks import as_rule
from hinge.problem import Integers, as_rows

Floats = npt.NDArray[np.float64]

#: Landmarks where no number is given.
DEFAULT_COMPONENTS = 512
# Kernel values of an input have their own rounding errors, and a feature of eigenvalue lambda shows them divided by its
# root. They may change the length of a feature vector by this share.
_NOISE = 1e-3
# Columns of a triangular product that are computed at once.
_PANEL = 128


@dataclass(frozen=True)
class NystroemMap:
    """phi(x) = R' k(S, x): landmarks S, and a factor R of s rows and d columns with R R' = K_SS^+.

    With K_SS = Q D Q', the paper's factor is Q D^(-1/2). Any other is its product with a rotation, which changes no
    product phi(x).phi(z) and so no model. This one has zeros below a diagonal, which saves half of the multiplications.
    """

    columns: Columns
    factor: Floats

    @property
    def n_out(self) -> int:
        """Number of features d."""
        return int(self.factor.shape[1])

    @cached_property
    def _narrow(self) -> npt.NDArray[np.float32]:
        return self.factor.astype(np.float32)

    @cached_property
    def _wide_columns(self) -> Columns:
        return Columns(self.columns.kernel, self.columns.Z)

    def write(self, X: Any, out: npt.NDArray[Any], n_threads: int) -> None:
        """The features of the rows of X, into `out`."""

        def work(rows: slice) -> None:
            self._block(X[rows], out[rows])

        for _ in for_each(work, row_blocks(X.shape[0], self._row_bytes(X)), n_threads):
            pass

    def functions(self, weights: Floats) -> Floats:
        """Coefficients a_S = R w of the same functions on the landmarks: w.phi(x) = sum_s a_s k(s, x)."""
        return np.asarray(self.factor @ weights)

    def decision(self, X: Any, weights: Floats, n_threads: int) -> Floats:
        """w.phi(x) for the columns w of `weights`: s kernel values a row, and no features.

        Kernel values have the type of the rows: features in float32 are made for speed, not a function.
        """
        return self._wide_columns.combinations(X, self.functions(weights), n_threads)

    def _row_bytes(self, X: Any) -> int:
        return int(max(self.factor.shape[0], X.shape[1]) * X.dtype.itemsize)

    def _block(self, X: Any, out: npt.NDArray[Any]) -> None:
        values = self.columns.block(X)
        factor = self._narrow if values.dtype == np.float32 else self.factor
        above = factor.shape[0] - factor.shape[1]  # column j has zeros below row above + j
        for begin in range(0, factor.shape[1], _PANEL):
            end = min(begin + _PANEL, factor.shape[1])
            out[:, begin:end] = values[:, : above + end] @ factor[: above + end, begin:end]


def factorised(K: Floats, n_components: int, threshold: float) -> tuple[Floats, Floats]:
    """(R, negative): R R' is the pseudo-inverse of K_SS restricted to its largest eigenvalues, R upper trapezoidal.

    Eigenvalues below `threshold` are left out, and all but the n_components largest. `negative` are those that are
    below minus the threshold: a positive definite kernel has none.
    """
    from scipy.linalg import lapack, rq

    s = K.shape[0]
    if n_components >= s:  # R is the inverse of the Cholesky factor; 1 / |R|^2 is at most the smallest eigenvalue
        upper, failed = lapack.dpotrf(K, lower=0, clean=1)
        if failed == 0:
            inverse, failed = lapack.dtrtri(upper)
            if failed == 0 and np.sum(np.square(inverse)) * threshold <= 1.0:
                return np.ascontiguousarray(np.triu(inverse)), np.zeros(0)
    values, vectors = np.linalg.eigh(K)
    order = np.argsort(-values)[:n_components]
    order = order[values[order] > threshold]
    negative = values[values < -threshold]
    if order.size == 0:
        return np.zeros((s, 1)), negative
    R, _ = rq(vectors[:, order] / np.sqrt(values[order]), mode="economic")
    return np.ascontiguousarray(R), negative


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features whose products approximate a kernel: ``phi(x).phi(z) = k(x, S) K_SS^+ k(S, z)`` for landmarks S.

    With s landmarks and the eigen-decomposition ``K_SS = Q D Q'``, the features of rows X are ``K_XS Q D^(-1/2)``, up
    to a rotation. They are exact for the landmarks themselves. A linear SVM on them is the kernel SVM restricted to the
    functions ``sum over S of a_s k(s, .)``. They are computed in blocks of rows; no more of the kernel matrix is ever
    held.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "polynomial", "sigmoid", "linear", "cosine"} or callable, default="rbf"
        See :class:`hinge.features.Kernel`. A callable gets two blocks of rows and returns all their values.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale": 1 / (n_features times the variance of X); "auto": 1 / n_features.
    degree : int, default=3
    coef0 : float, default=0.0
    n_components : int or None, default=None
        Largest number of features d; None: that of the landmarks.
    n_landmarks : int or None, default=None
        Number of landmarks s; None: `n_components`, or 512 without it.
    landmarks : {"uniform", "k-means++", "leverage"}, default="uniform"
        How they are chosen among the rows. The latter two spread them out, with more features for fewer landmarks; they
        look at four candidates for each.
    threshold : float or None, default=None
        Eigenvalues of K_SS below this share of its mean diagonal are dropped. None: the smallest share at which
        rounding does not show in the features, which depends on the type of X.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Threads over blocks of rows. They change no bit.

    Attributes
    ----------
    kernel_ : Kernel
        With gamma as a number.
    landmarks_ : array or CSR matrix of shape (s, n_features)
    landmark_indices_ : ndarray of shape (s,)
        Their row numbers in `fit`.
    indefinite_ : bool
        Whether the kernel is not positive definite: known to be so, or found to be at the landmarks.
    map_ : NystroemMap
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Lee and Wright: ASSET: approximate stochastic subgradient estimation training for support vector machines. 2011.
    Drineas and Mahoney: On the Nystroem method for approximating a Gram matrix for improved kernel-based learning. JMLR
    2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge.features import Nystroem
    >>> X, y = load_iris(return_X_y=True)
    >>> Nystroem(gamma=0.1, n_components=20).fit_transform(X).shape
    (150, 20)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, callable],
        "gamma": [str, Real],
        "degree": [Real],
        "coef0": [Real],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "n_landmarks": [None, Interval(Integral, 1, None, closed="left")],
        "landmarks": [str],
        "threshold": [None, Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    kernel_: Kernel
    landmarks_: Any
    landmark_indices_: Integers
    indefinite_: bool
    map_: NystroemMap

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | None = None,
        n_landmarks: int | None = None,
        landmarks: str = "uniform",
        threshold: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among the rows of X and decompose their kernel matrix.

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

    def fit_rows(
        self, X: Any, weight: Floats, dtype: npt.DTypeLike | None = None, chosen: Integers | None = None
    ) -> Self:
        """:meth:`fit` on rows that are checked already.

        Without a `dtype`, features have the type of the rows. Landmarks are the rows `chosen`; without them, rows of
        positive weight by the rule of `landmarks`.
        """
        kernel = Kernel.chosen(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0, weight=weight)
        rows = np.flatnonzero(weight > 0)
        n_landmarks = self._number_of_landmarks(rows.size)
        rng = check_random_state(self.random_state)
        n_components = n_landmarks if self.n_components is None else self.n_components
        with SINGLE_BLAS:
            if chosen is None:
                chosen = as_rule(self.landmarks)(kernel, X, rows, n_landmarks, rng)
            chosen = np.sort(chosen)
            columns = Columns(kernel, X[chosen], dtype)
            wide = X[chosen].astype(np.float64)
            K = kernel.block(wide, wide)
            K = 0.5 * (K + K.T)
            factor, negative = factorised(K, n_components, self._threshold(columns, K))
        if negative.size:
            warnings.warn(
                f"The kernel is not positive definite: {negative.size} of {len(chosen)} eigenvalues are negative, down "
                f"to {negative.min():.3g} (the mean is {np.trace(K) / len(chosen):.3g}). Their directions are dropped; "
                "the features belong to the positive definite part.",
                stacklevel=3,
            )
        self.kernel_, self.landmarks_, self.landmark_indices_ = kernel, X[chosen], chosen
        self.indefinite_ = bool(negative.size) or (isinstance(kernel.function, str) and not kernel.positive_definite)
        self.map_ = NystroemMap(columns, factor)
        return self

    def function(self, weights: Floats) -> tuple[Any, Floats]:
        """(landmarks, coefficients) of the same functions in the kernel's own space, of the columns of `weights`."""
        return self.landmarks_, self.map_.functions(weights)

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """The features of the rows of X, in float32 if X is, otherwise in float64.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, d)
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        out = np.empty((X.shape[0], self.map_.n_out), dtype=np.result_type(X.dtype, self.landmarks_.dtype))
        self.map_.write(X, out, checks.threads(self.n_jobs))
        return out.astype(X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return self.map_.n_out

    def _number_of_landmarks(self, n_rows: int) -> int:
        asked = self.n_landmarks if self.n_landmarks is not None else self.n_components
        if asked is not None and asked > n_rows:
            warnings.warn(
                f"There are {n_rows} rows for {asked} landmarks: all rows become landmarks, and the features are exact "
                "for them.",
                stacklevel=4,
            )
        return min(DEFAULT_COMPONENTS if asked is None else int(asked), n_rows)

    def _threshold(self, columns: Columns, K: Floats) -> float:
        """The smallest eigenvalue that counts."""
        diagonal = float(np.trace(K)) / len(columns)
        if self.threshold is not None:
            return float(self.threshold) * diagonal
        rounding = len(columns) * float(np.finfo(np.float64).eps) * float(np.abs(K).sum(axis=1).max())
        noise = len(columns) * (columns.rounding / _NOISE) ** 2 * diagonal
        return max(rounding, noise)

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
