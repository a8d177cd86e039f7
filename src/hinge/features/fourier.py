"""Random Fourier features: a kernel of differences as an average of cosines."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import checks
from hinge.features.fourier_map import FourierMap
from hinge.features.frequencies import FREQUENCIES, drawn
from hinge.features.kernel import Kernel
from hinge.problem import Floats, as_rows

#: Features where no number is given.
DEFAULT_COMPONENTS = 2048


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
    frequencies : {"auto", "independent", "orthogonal", "structured"}, default="auto"
        How the nu_j are drawn. "independent": of each other. "orthogonal", for rbf: orthogonal to each other within
        groups of n_features, which is more accurate for the same d. "structured", for rbf: as accurate, but never
        formed, ``log n_features`` additions a feature in place of n_features multiplications. "auto": structured for
        rbf, independent for laplacian.
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

    Structured frequencies are the rows of ``sqrt(2 gamma) L H D1 H D2 H D3 / n^(3/2)``: n is n_features filled up to a
    power of 2, at least 64, H the Walsh-Hadamard matrix of n rows, each D a diagonal of random signs, and L one of the
    lengths of normal vectors (sqrt(n) in the paper). Their distribution is near N(0, 2 gamma I), not exactly so.

    References
    ----------
    Rahimi and Recht: Random features for large-scale kernel machines. NIPS 2007.
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar: Orthogonal random features. NIPS 2016.
    Lee and Wright: ASSET: approximate stochastic subgradient estimation training for support vector machines. 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge.features import Fourier
    >>> X, y = load_iris(return_X_y=True)
    >>> Fourier(gamma=0.1, n_components=100).fit_transform(X).shape
    (150, 100)

    The error of kernel values, for the same number of features:

    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> K = rbf_kernel(X, gamma=0.5)
    >>> for frequencies in ("independent", "structured"):
    ...     V = Fourier(gamma=0.5, n_components=4096, frequencies=frequencies).fit_transform(X)
    ...     print(frequencies, bool(np.sqrt(np.mean((V @ V.T - K) ** 2)) < 0.02))
    independent True
    structured True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str],
        "gamma": [str, Real],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "frequencies": [str],
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
        frequencies: str = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.frequencies = frequencies
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
        checks.choice("frequencies", self.frequencies, FREQUENCIES)
        kernel = Kernel.chosen(self.kernel, X, gamma=self.gamma, degree=1, coef0=0.0, weight=weight)
        d = DEFAULT_COMPONENTS if self.n_components is None else int(self.n_components)
        rng = check_random_state(self.random_state)
        self.kernel_ = kernel
        self.map_ = drawn(self.frequencies, self.kernel, X.shape[1], d, kernel.gamma, rng)
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
