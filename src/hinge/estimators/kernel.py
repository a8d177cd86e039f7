"""Support vector classification with a kernel, through low-dimensional features, for scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import _core, checks
from hinge.certificate import Certificate, Certificates
from hinge.certificate.exact_kernel import exact_certificates, silent
from hinge.estimators.certified import CertifiedSVC
from hinge.features import Fourier, Kernel, KernelProblem, Nystroem, SupportVectors
from hinge.features.landmarks import RULES, SUPPORT, extended
from hinge.features.nystroem import DEFAULT_COMPONENTS
from hinge.features.store import stored
from hinge.problem import Floats, Integers, Loss, Order, Problem, as_rows, held_still
from hinge.problem.labels import predicted
from hinge.solvers import Composite, Lasvm, Solver
from hinge.training.progress import progress_lines
from hinge.training.result import Outcome

# Landmarks of the first model that chooses the others, as a share of all.
_FIRST_SHARE = 0.25
# More values than these are kept in float32: in float64 they would not fit in the caches of any processor.
_MANY_VALUES = 1_000_000


class KernelSVC(CertifiedSVC):
    """Kernel support vector classifier for many rows, with a proof of its quality.

    Maps every row x to features phi(x) with ``phi(x).phi(z)`` about ``k(x, z)`` and solves the linear problem there::

        1/2 |w|^2 + C sum_i s_i loss(1 - t_i (w.phi(x_i) + b))

    for each class against the rest, until the duality gap shows that the objective is within the fraction `tol` of the
    optimum. A prediction takes one kernel value for each landmark.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of loss.
    kernel : {"rbf", "laplacian", "polynomial", "sigmoid", "linear", "cosine"} or callable, default="rbf"
        See :class:`hinge.features.Kernel`. A callable gets two blocks of rows and returns all their values.
    gamma : {"scale", "auto"} or float, default="scale"
        "scale": 1 / (n_features times the variance of X); "auto": 1 / n_features.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Of the polynomial and the sigmoid kernel.
    approximation : {"nystroem", "fourier", "none"}, default="nystroem"
        Features from landmarks among the rows (:class:`hinge.features.Nystroem`), or random ones that do not look at
        the rows (:class:`hinge.features.Fourier`; rbf and laplacian, more features for the same accuracy). "none" is
        the exact kernel, for up to some ten thousand rows: time and support vectors grow with their number.
    n_components : int or None, default=None
        Number of features. None: 512 or the number of rows for "nystroem", 2048 for "fourier". The exact kernel has
        none; there it means nothing.
    landmarks : {"uniform", "k-means++", "leverage", "support"}, default="uniform"
        How "nystroem" chooses them. "support" looks at the labels: a first model on a quarter as many uniform landmarks
        is trained, and the others are drawn among its support vectors, in proportion to their multipliers. Fewer
        errors for up to half as much time again.
    frequencies : {"auto", "independent", "orthogonal", "structured"}, default="auto"
        How "fourier" draws them, see :class:`hinge.features.Fourier`. "auto": structured for rbf, independent for
        laplacian.
    memory_limit : int, str or None, default=None
        Bytes that the features may take in memory, or a text such as "500MB". Features that are larger are kept in a
        temporary file and read from there. With the exact kernel: bytes for kernel rows (512 MB without a limit).
    dtype : {"auto", "float32", "float64"}, default="auto"
        Type of the features that the model is trained on. "auto" is float32 if X is, or if there are more than a
        million values: half the memory and less than half the time, at an accuracy of the kernel values of about 1e-7.
    tol : float, default=1e-2
        Relative gap at which training ends. Smaller ones cost time and change no error rate where we measured: the
        approximation of the kernel costs more of the objective (:meth:`exact_certificate`).
    loss, class_weight, verbose, random_state, max_iter, solver, order, time_limit, warm_start :
        As in :class:`hinge.LinearSVC`. The time limit is that of the training, after the features. Solvers of the exact
        kernel are "lasvm", which is "auto" there, and "kernel-pegasos".
    fit_intercept, intercept, intercept_scaling :
        As in :class:`hinge.LinearSVC`: by default b is free.
    store_dual : bool, default=True
        Keep the multipliers in ``dual_coef_``, as :meth:`exact_certificate` needs them.
    n_jobs : int or None, default=None
        Threads over blocks of rows and over the classes. They change no bit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    feature_map_ : Nystroem, Fourier or SupportVectors
        Fitted; ``feature_map_.kernel_`` has gamma as a number. With the exact kernel, ``feature_map_.landmarks_`` are
        the support vectors.
    coef_ : ndarray of shape (1 or n_classes, n_components), float64
        Weights of the features; with the exact kernel, coefficients of the support vectors.
    support_ : ndarray of shape (n_support,)
        With the exact kernel: row numbers of the support vectors of all classes.
    n_support_ : ndarray of shape (n_classes,)
        How many of them belong to each class.
    intercept_ : ndarray of shape (1 or n_classes,)
    treatment_ : Intercept
        How b was treated: ``treatment_.kind`` is "free", "penalized" or "none".
    certificate_ : Certificate, or Certificates in the order of `classes_`
        Of the problem in the space of the features; with the exact kernel, of the SVM itself.
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        Multipliers a_i >= 0, if `store_dual`.
    status_, n_iter_, history_ :
        As in :class:`hinge.LinearSVC`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Lee and Wright: ASSET: approximate stochastic subgradient estimation training for support vector machines. 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge import KernelSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelSVC(C=10).fit(X, y)
    >>> max(certificate.relative_gap for certificate in model.certificate_) < 1e-2
    True
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _page: ClassVar[str] = "kernels.md"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [str, callable],
        "gamma": [str, Real],
        "degree": [Real],
        "coef0": [Real],
        "approximation": [str],
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "landmarks": [str],
        "frequencies": [str],
        "memory_limit": [None, str, Integral],
        "dtype": [str],
        "loss": [str],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, str],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="right")],
        "store_dual": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
    }

    feature_map_: Nystroem | Fourier | SupportVectors
    support_: Integers
    n_support_: Integers

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "rbf",
        *,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        approximation: str = "nystroem",
        n_components: int | None = None,
        landmarks: str = "uniform",
        frequencies: str = "auto",
        memory_limit: int | str | None = None,
        dtype: str = "auto",
        loss: str = "hinge",
        tol: float = 1e-2,
        fit_intercept: bool = True,
        intercept: str = "auto",
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = 0,
        max_iter: int = 1000,
        solver: Solver | Composite | str = "auto",
        order: Order | str | None = None,
        time_limit: float | None = None,
        store_dual: bool = True,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approximation = approximation
        self.n_components = n_components
        self.landmarks = landmarks
        self.frequencies = frequencies
        self.memory_limit = memory_limit
        self.dtype = dtype
        self.loss = loss
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.order = order
        self.time_limit = time_limit
        self.store_dual = store_dual
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def decision_function(self, X: Any) -> Floats:
        """Signed score ``w.phi(x) + b`` of each sample, shape (n_samples,) or (n_samples, n_classes)."""
        return self._scores(X)[1]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample."""
        return predicted(*self._scores(X))

    def exact_certificate(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate | Certificates:
        """Primal and dual value of the SVM with the kernel itself, at this model: the price of the approximation.

        The multipliers are feasible there, too: ``D = sum_i a_i - 1/2 sum_ij a_i a_j t_i t_j k(x_i, x_j)``, times the
        factor in [0, 1] that is best for it, bounds the optimum of the exact kernel SVM from below. From above does P:

        - of a Nystroem model, which is a function ``f = sum_s a_s k(s, .)`` over the landmarks, at f itself:
          ``|f|^2 = a_S' K_SS a_S``;
        - of a Fourier model, which is no function of the kernel's space, at ``f = sum_i a_i t_i k(x_i, .)`` with the
          best b for it.

        A relative gap near `tol` says that more components would not help. It takes as many kernel values as the square
        of the number of rows with a_i > 0, in blocks; with `verbose`, lines tell how far it is.

        Parameters
        ----------
        X, y, sample_weight :
            What the model was fitted on.

        Returns
        -------
        Certificate, or a tuple of them in the order of ``classes_``
            Kernel values are taken as float64 has them; the rounding of all sums is counted.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import scale
        >>> from hinge import KernelSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> few, many = (KernelSVC(n_components=s).fit(scale(X), y) for s in (20, 400))
        >>> gaps = [model.exact_certificate(scale(X), y).relative_gap for model in (few, many)]
        >>> gaps[0] > 0.1 > gaps[1]
        True
        """
        check_is_fitted(self)
        X = self._validated(X)
        features, n_threads = self.feature_map_, checks.threads(self.n_jobs)
        if features.indefinite_:
            raise ValueError(
                f"The kernel {features.kernel_.function!r} is not positive definite: there is no exact SVM of it."
            )
        if X.shape[0] != np.shape(y)[0]:
            raise ValueError(f"X has {X.shape[0]} rows, y has {np.shape(y)[0]}.")
        claims = self.claims(y, checks.weights(sample_weight, X))
        with held_still(X):
            as_rows(X, self._names())
            show = progress_lines("exact certificate") if self.verbose else silent
            found = exact_certificates(features.kernel_, X, claims, features.function(self.coef_.T), n_threads, show)
        return found[0] if len(found) == 1 else Certificates(found, self.classes_)

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, npt.NDArray[Any], Floats]:
        X, y, weight = super()._checked(X, y, sample_weight)
        self._classes_of(y, weight)  # before the features: they take time
        return X, y, weight

    @contextmanager
    def _rows(self, X: Any, y: npt.NDArray[Any], weight: Floats) -> Iterator[_core.Rows]:
        """The features, computed once for all classes; or the rows themselves, for the exact kernel."""
        checks.choice("approximation", self.approximation, ("nystroem", "fourier", "none"))
        if self.approximation == "none":
            with held_still(X):
                yield self._exact_rows(X, weight)
            return
        limit, n_threads = checks.memory("memory_limit", self.memory_limit), checks.threads(self.n_jobs)
        with held_still(X):
            as_rows(X, self._names())  # refuses NaN, infinity and corrupt indices
            dtype = self._type_of_features(X)
            self.feature_map_ = self._fitted_map(X, y, weight, dtype)
            with stored((X.shape[0], self.feature_map_.map_.n_out), dtype, limit) as features:
                self.feature_map_.map_.write(X, features, n_threads)
                yield as_rows(features)

    def _type_of_features(self, X: Any) -> np.dtype[Any]:
        checks.choice("dtype", self.dtype, ("auto", "float32", "float64"))
        if self.dtype != "auto":
            return np.dtype(self.dtype)
        many = X.shape[0] * min(X.shape[0], self.n_components or DEFAULT_COMPONENTS) > _MANY_VALUES
        return np.dtype(np.float32 if many or X.dtype == np.float32 else np.float64)

    def _fitted_map(self, X: Any, y: npt.NDArray[Any], weight: Floats, dtype: np.dtype[Any]) -> Nystroem | Fourier:
        shared = {"gamma": self.gamma, "n_components": self.n_components, "random_state": self.random_state}
        if self.approximation == "fourier":
            return Fourier(self.kernel, frequencies=self.frequencies, **shared).fit_rows(X, weight, dtype)
        checks.choice("landmarks", self.landmarks, (*RULES, SUPPORT))
        features = Nystroem(self.kernel, degree=self.degree, coef0=self.coef0, landmarks=self.landmarks, **shared)
        chosen = self._supporting(X, y, weight) if self.landmarks == SUPPORT else None
        return features.fit_rows(X, weight, dtype, chosen)

    def _supporting(self, X: Any, y: npt.NDArray[Any], weight: Floats) -> Integers:
        """Landmarks among the support vectors of a first model on fewer landmarks, and those."""
        rows = np.flatnonzero(weight > 0)
        n = min(self.n_components or DEFAULT_COMPONENTS, rows.size)
        first = clone(self).set_params(
            n_components=max(1, int(_FIRST_SHARE * n)), landmarks="uniform", store_dual=True, warm_start=False
        )
        first.fit(X, y, weight)
        attention = first.dual_coef_.sum(axis=0)
        rng = check_random_state(self.random_state)
        return extended(first.feature_map_.landmark_indices_, attention, rows, n, rng)

    # The exact kernel

    def _exact_rows(self, X: Any, weight: Floats) -> _core.Rows:
        rows = as_rows(X, self._names())  # refuses NaN, infinity and corrupt indices
        kernel = Kernel.chosen(self.kernel, X, gamma=self.gamma, degree=self.degree, coef0=self.coef0, weight=weight)
        self.feature_map_ = SupportVectors(kernel, X)
        return rows

    def _chosen_solver(self) -> Any:
        if self.approximation != "none" or self.solver != "auto":
            return super()._chosen_solver()
        limit = checks.memory("memory_limit", self.memory_limit)
        return Lasvm() if limit is None else Lasvm(cache_size=limit / 2**20)

    def _problem(self, rows: _core.Rows, target: npt.NDArray[Any], cost: Floats, loss: Loss) -> Problem:
        if self.approximation != "none":
            return super()._problem(rows, target, cost, loss)
        kernel = self.feature_map_.kernel_
        return KernelProblem.of(rows, target, cost, kernel=kernel, loss=loss, intercept=self.treatment_)

    def _store_weights(self, problems: list[Problem], outcomes: list[Outcome]) -> None:
        if not isinstance(self.feature_map_, SupportVectors):
            super()._store_weights(problems, outcomes)
            return
        coefficients = np.array([p.spread(o.model.w) for p, o in zip(problems, outcomes, strict=True)])
        support = np.flatnonzero(coefficients.any(axis=0))
        self.feature_map_ = self.feature_map_.only(support)
        self.coef_ = np.asfortranarray(coefficients[:, support])
        self.support_ = support
        signs = [p.spread(p.target)[support] for p in problems]
        members = [signs[0] < 0, signs[0] > 0] if len(signs) == 1 else [sign > 0 for sign in signs]
        self.n_support_ = np.array([np.count_nonzero(rows) for rows in members])

    def _scores(self, X: Any) -> tuple[npt.NDArray[Any], Floats]:
        """(classes, scores), of one model even if another thread fits this one anew meanwhile."""
        check_is_fitted(self)
        names = ("classes_", "coef_", "intercept_", "feature_map_")
        classes, coef, intercept, features = itemgetter(*names)(self.__dict__)
        X = self._validated(X)
        with held_still(X):
            as_rows(X, self._names())  # refuses NaN, infinity and corrupt indices
            scores = features.map_.decision(X, coef.T, checks.threads(self.n_jobs)) + intercept
        return classes, scores.ravel() if scores.shape[1] == 1 else scores

    def _validated(self, X: Any) -> Any:
        checks.sparse_structure(X)
        return validate_data(
            self, X, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, reset=False
        )
