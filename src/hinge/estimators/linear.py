"""Linear support vector classification for scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real
from operator import itemgetter
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import checks
from hinge.estimators.certified import CertifiedSVC
from hinge.problem import Floats, Order, decision, held_still, side_by_side
from hinge.problem.labels import predicted
from hinge.solvers import Composite, Solver
from hinge.training.foreign import LinearModel
from hinge.training.result import Callback

# Parameters of scikit-learn's LinearSVC with the values that mean something here, and why others are refused.
_ONLY: dict[str, tuple[tuple[Any, ...], str]] = {
    "penalty": (
        ("l2",),
        "the certificate is of the L2-regularised problem. For sparse weights go to scikit-learn's "
        "LinearSVC(penalty='l1', dual=False) or SGDClassifier(penalty='l1'); hinge.certify says how far they are from "
        "the L2 optimum",
    ),
    "dual": (("auto", True, False), "the optimum is the same, and which side a solver works on is its own affair"),
    "multi_class": (("ovr",), "each class is a certified problem of its own"),
}


class LinearSVC(CertifiedSVC):
    """Linear support vector classifier with a proof of its quality.

    Minimises ``1/2 |w|^2 + C sum_i s_i loss(1 - t_i (w.x_i + b))`` for each class against the rest and stops when the
    duality gap shows that the objective is within the fraction `tol` of the optimum.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``max(0, s)``, the classic SVM, or its square, the default of scikit-learn's LinearSVC.
    dual : {"auto", True, False}, default="auto"
        For compatibility: the optimum is the same, and `solver` says how it is found.
    tol : float, default=1e-3
        Relative duality gap to reach.
    C : float, default=1.0
        Cost of a unit of loss.
    multi_class : {"ovr"}, default="ovr"
    fit_intercept : bool, default=True
        False: b = 0.
    intercept_scaling : float, default=1.0
        The constant feature of a penalised intercept.
    class_weight : dict, "balanced" or None, default=None
        Factor of C per class; "balanced" is inversely proportional to the classes' total sample weight. Each row keeps
        the weight of its own class, also where it is one of the rest. Rows of a class of weight 0 count as absent.
    verbose : int, default=0
        1 shows the progress: one line that changes on a terminal, a line per evaluation elsewhere. 2 prints a table.
    random_state : int, RandomState, Generator or None, default=0
        Same seed, same bits, whatever `n_jobs` is.
    max_iter : int, default=1000
        Largest number of passes over the rows, per class.
    solver : str or configuration, default="auto"
        "auto" or a name of :data:`hinge.solvers.SOLVERS` ("dcd", "mpu", "newton", "ocas", "pegasos", ...), or a
        configuration such as ``Pegasos(k=100)``; its options can be searched as ``solver__k``.
    intercept : {"auto", "free", "penalized"}, default="auto"
        With `fit_intercept`: an unpenalised b, the classic SVM, or the weight of a constant feature, as in
        scikit-learn's LinearSVC. "auto" is free if the solver supports it, otherwise penalized, the treatment of its
        paper; ``treatment_`` says which it was.
    order : {"permutation", "once", "blocks"}, Permutation, Once, Blocks or None, default=None
        Row order; None is the solver's default.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept.
    store_dual : bool, default=False
        Keep the multipliers in ``dual_coef_``, as :func:`hinge.verify` needs them.
    warm_start : bool, default=False
        Go on from the state of the last fit; also after Ctrl-C.
    n_jobs : int or None, default=None
        Threads over the classes, which share X, and within evaluations, predictions, the solvers newton, ocas and
        cutting-plane, and dcd on large sparse data, which uses two of them. They change no bit.
    callback : callable or None, default=None
        Called with a :class:`hinge.Progress` after every call of the solver; ``progress.label`` is the class that is
        trained, if there are several. Stops the training of this class by returning True. With `n_jobs` it is called
        from several threads.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, n_features), float64
    intercept_ : ndarray of shape (1 or n_classes,)
    treatment_ : Intercept
        How b was treated: ``treatment_.kind`` is "free", "penalized" or "none".
    certificate_ : Certificate, or Certificates
        For more than two classes a tuple in the order of `classes_`, with ``worst`` and ``relative_gap``; by class as
        ``certificate_["setosa"]`` or ``certificate_.of(7)``.
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        Multipliers a_i >= 0, if `store_dual`.
    status_ : str
        "converged", or the worst over the classes of "stalled", "finished" (by the solver's own rule), "max_iter",
        "time_limit", "callback", "interrupted".
    n_iter_ : int
        Largest number of passes.
    history_ : History, or Histories
        A tuple of :class:`hinge.Record`; for more than two classes a tuple of those, as in `certificate_`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    X is read in place: it must not change while `fit` lasts. One model is fitted by one thread at a time; a second
    thread is refused.

    References
    ----------
    See the solvers: :class:`hinge.DCD`, :class:`hinge.MPU`, :class:`hinge.Pegasos`, :class:`hinge.SGDs`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(C=1.0).fit(X, y)
    >>> model.certificate_.relative_gap < 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [str],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, str],
        "verbose": ["verbose"],
        "random_state": ["random_state", np.random.Generator],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="right")],
        "store_dual": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "callback": [None, callable],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-3,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = 0,
        max_iter: int = 1000,
        solver: Solver | Composite | str = "auto",
        intercept: str = "auto",
        order: Order | str | None = None,
        time_limit: float | None = None,
        store_dual: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.intercept = intercept
        self.order = order
        self.time_limit = time_limit
        self.store_dual = store_dual
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.callback = callback

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, npt.NDArray[Any], Floats]:
        for name, (allowed, reason) in _ONLY.items():
            value = getattr(self, name)
            if not any(value is choice or value == choice for choice in allowed):
                raise ValueError(f"{name}={checks.shown(value)} is not supported, only {allowed[0]!r}: {reason}.")
        return super()._checked(X, y, sample_weight)

    def decision_function(self, X: Any) -> Floats:
        """Signed score ``w.x + b`` of each sample, shape (n_samples,) or (n_samples, n_classes)."""
        return self._scores(X)[1]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample."""
        return predicted(*self._scores(X))

    def _scores(self, X: Any) -> tuple[npt.NDArray[Any], Floats]:
        """(classes, scores), of one model even if another thread fits this one anew meanwhile."""
        check_is_fitted(self)
        classes, coef, intercept = itemgetter("classes_", "coef_", "intercept_")(self.__dict__)
        checks.sparse_structure(X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False, reset=False
        )
        with held_still(X):
            weights, constants = np.ascontiguousarray(_dense(coef).T), np.ascontiguousarray(intercept)  # see _store
            n_threads = checks.threads(self.n_jobs)
            scores = decision(X, weights, constants, self._names(), n_threads)
        return classes, scores.ravel() if scores.shape[1] == 1 else scores

    def _weights(self) -> Floats:
        return _dense(self.coef_)

    def as_linear(self) -> LinearModel:
        """What :func:`hinge.certify` certifies."""
        check_is_fitted(self)
        C, class_weight, loss = self._settings
        return LinearModel(
            self.classes_,
            np.ascontiguousarray(_dense(self.coef_)),
            self.intercept_,
            loss=loss,
            treatment=self.treatment_,
            C=C,
            class_weight=class_weight,
        )

    def densify(self) -> Self:
        """Make `coef_` a dense array again, as it is after `fit`."""
        check_is_fitted(self)
        self.coef_ = side_by_side(_dense(self.coef_))
        return self

    def sparsify(self) -> Self:
        """Make `coef_` a CSR matrix: smaller in a pickle where most weights are zero, and slower to predict with.

        Weights of an L2-regularised SVM are zero only for features that no row has, or no row that counts.
        """
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self


def _dense(coef: Any) -> Floats:
    """Weights that may have been sparsified."""
    array: Floats = coef.toarray() if sp.issparse(coef) else coef
    return array
