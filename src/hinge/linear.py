"""Linear support vector classification for scikit-learn."""

from __future__ import annotations

import time
import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import _core
from hinge.certificate import Certificate
from hinge.classes import DTYPES, chosen_intercept, class_factors, one_vs_rest, predicted
from hinge.loop import train
from hinge.order import Order, as_order
from hinge.outcome import STATUSES, Options, Outcome, Record, Status
from hinge.problem import Floats, Intercept, Problem, Selection, as_rows
from hinge.solve import check_costs, check_numbers, check_weights, seed_of, warn_unless_converged
from hinge.solvers import Configuration, Solver, as_solver

# Parameters of scikit-learn's LinearSVC with the values that mean something here, and why others are refused.
_ONLY: dict[str, tuple[tuple[Any, ...], str]] = {
    "penalty": (("l2",), "the certificate is of the L2-regularised problem"),
    "loss": (("hinge",), "the squared hinge is another problem; sklearn.svm.LinearSVC solves it"),
    "dual": ((True, "auto"), "which side a solver works on is its own affair: choose with solver="),
    "multi_class": (("ovr",), "each class is a certified problem of its own"),
}


class LinearSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Linear support vector classifier with a proof of its quality.

    Minimises ``1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b))`` for each class against the rest and stops when
    the duality gap shows that the objective is within the fraction `tol` of the optimum.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
    loss : {"hinge"}, default="hinge"
    dual : {"auto", True}, default="auto"
        For compatibility; see `solver`.
    tol : float, default=1e-3
        Relative duality gap to reach.
    C : float, default=1.0
        Cost of a unit of hinge loss.
    multi_class : {"ovr"}, default="ovr"
    fit_intercept : bool, default=True
        False: b = 0.
    intercept_scaling : float, default=1.0
        The constant feature of a penalised intercept.
    class_weight : dict, "balanced" or None, default=None
        Factor of C per class; "balanced" is inversely proportional to the classes' total sample weight.
    verbose : int, default=0
        1 prints a line per evaluation.
    random_state : int, RandomState or None, default=0
        Same seed, same bits, whatever `n_jobs` is.
    max_iter : int, default=1000
        Largest number of passes over the rows, per class.
    solver : str or configuration, default="auto"
        "auto", "cutting-plane", "dcd", "mpu", "norma", "ocas", "online", "pegasos", "sgd-m", "sgd-qn", "sgd-r",
        "sgd-s", "svmsgd", "zhang", or a configuration such as ``Pegasos(k=100)``; its options can be searched as
        ``solver__k``.
    intercept : {"free", "penalized"}, default="free"
        With `fit_intercept`: an unpenalised b, the classic SVM, or the weight of a constant feature, as in
        scikit-learn's LinearSVC.
    order : {"permutation", "blocks"}, Permutation, Blocks or None, default=None
        Row order; None is the solver's default.
    time_limit : float or None, default=None
        Seconds after which the best model so far is kept.
    store_dual : bool, default=False
        Keep the multipliers in ``dual_coef_``, as :func:`hinge.verify` needs them.
    warm_start : bool, default=False
        Go on from the state of the last fit.
    n_jobs : int or None, default=None
        Threads over the classes; they share X.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1 or n_classes, n_features), float64
    intercept_ : ndarray of shape (1 or n_classes,)
    certificate_ : Certificate, or a tuple of them in the order of `classes_`
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        Multipliers a_i >= 0, if `store_dual`.
    status_ : str
        "converged", or the worst over the classes of "stalled", "max_iter", "time_limit", "callback", "interrupted".
    n_iter_ : int
        Largest number of passes.
    history_ : tuple of Record, or a tuple of those in the order of `classes_`
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    See the solvers: :class:`hinge.DCD`, :class:`hinge.MPU`, :class:`hinge.Pegasos`, :class:`hinge.SGDs`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hinge import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(C=1.0).fit(X, y)
    >>> max(certificate.relative_gap for certificate in model.certificate_) < 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tol": [Interval(Real, 0, None, closed="neither")],
        "C": [Interval(Real, 0, None, closed="neither")],
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

    classes_: npt.NDArray[Any]
    coef_: Floats
    intercept_: Floats
    dual_coef_: Floats
    certificate_: Certificate | tuple[Certificate, ...]
    history_: tuple[Record, ...] | tuple[tuple[Record, ...], ...]
    status_: Status
    n_iter_: int

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
        solver: Solver | str = "auto",
        intercept: str = "free",
        order: Order | str | None = None,
        time_limit: float | None = None,
        store_dual: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
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

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__name`` replaces one option of the solver's configuration."""
        options = {key.removeprefix("solver__"): params[key] for key in params if key.startswith("solver__")}
        super().set_params(**{key: value for key, value in params.items() if not key.startswith("solver__")})
        if options:
            solver = as_solver(self.solver)
            if not isinstance(solver, Configuration):
                raise ValueError(
                    f"{type(solver).__name__} has no options to set: it is not a hinge.solvers.Configuration."
                )
            self.solver = solver.replace(**options)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X and y.

        After Ctrl-C the best model so far is stored, with ``status_ == "interrupted"``, and KeyboardInterrupt raised.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            C-contiguous arrays and CSR matrices of float32 or float64 are read in place.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            s_i >= 0; a row of weight zero counts as absent.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            outcomes, options, rows = self._fit(X, y, sample_weight)
        except BaseException:
            self.__dict__ = before  # a fit that fails leaves the model of the last one
            raise
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        if errors:
            raise errors[0]
        warn_unless_converged(outcomes, options, rows, stacklevel=4)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[Outcome], Options, _core.Rows]:
        intercept = self._checked_intercept()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=DTYPES, order="C", ensure_all_finite=False)
        check_classification_targets(y)
        rows = as_rows(X)
        weight = check_weights(sample_weight, X)
        self.classes_ = np.unique(y[weight > 0])
        if self.classes_.size < 2:
            raise ValueError(
                f"LinearSVC needs samples of at least 2 classes, but y has one class only: {self.classes_[0]!r} "
                "(rows of zero weight do not count)."
            )
        self._settings = (self.C, self.class_weight, intercept)  # for verify, whatever is set later
        cost = check_costs(self.C, weight, class_factors(self.class_weight, self.classes_, y, weight))
        selection = Selection.make(rows, cost, intercept)
        problems = [Problem(selection, signs) for signs in one_vs_rest(self.classes_, y)]
        options = self._options()
        outcomes = self._train(problems, options)
        self._store(problems, outcomes)
        return outcomes, options, rows

    def decision_function(self, X: Any) -> Floats:
        """Signed score ``w.x + b`` of each sample, shape (n_samples,) or (n_samples, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=DTYPES, order="C", ensure_all_finite=False, reset=False)
        constant = np.zeros((self.coef_.shape[0], 1))
        scores = as_rows(X).decision(np.hstack([self.coef_, constant]), self.intercept_)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample."""
        scores = self.decision_function(X)
        return predicted(self.classes_, scores)

    def certified_problems(
        self, y: Any, sample_weight: Any
    ) -> list[tuple[Floats, float, Floats | None, Floats, Floats, Intercept]]:
        """What :func:`hinge.verify` checks."""
        check_is_fitted(self)
        y = np.asarray(y)
        weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        C, class_weight, intercept = self._settings
        cost = C * weight * class_factors(class_weight, self.classes_, y, weight)
        duals = getattr(self, "dual_coef_", [None] * len(self.coef_))
        return [
            (coef, float(b), a, signs.astype(np.float64), cost, intercept)
            for coef, b, a, signs in zip(self.coef_, self.intercept_, duals, one_vs_rest(self.classes_, y), strict=True)
        ]

    def _checked_intercept(self) -> Intercept:
        """Refuse what is not supported, with the reason."""
        for name, (allowed, reason) in _ONLY.items():
            value = getattr(self, name)
            if not any(value is choice or value == choice for choice in allowed):
                raise ValueError(f"{name}={value!r} is not supported, only {allowed[0]!r}: {reason}.")
        check_numbers(C=self.C, tol=self.tol, max_iter=self.max_iter, time_limit=self.time_limit)
        return chosen_intercept(self.fit_intercept, self.intercept, self.intercept_scaling)

    def _options(self) -> Options:
        return Options(
            tol=self.tol,
            max_iter=self.max_iter,
            order=as_order(self.order),
            stream=(seed_of(self.random_state),),
            verbose=int(self.verbose),
            flag=_core.StopFlag(),
        )

    def _train(self, problems: list[Problem], options: Options) -> list[Outcome]:
        """All problems, in threads if asked for; an interrupt ends them all."""
        solver = as_solver(self.solver)
        states = self._states_of_last_fit(problems)
        began = time.perf_counter()

        def fit_one(k: int) -> Outcome:
            left = None if self.time_limit is None else self.time_limit - (time.perf_counter() - began)
            title = "" if len(problems) == 1 else f"[{self.classes_[k]}]"
            own = replace(
                options, stream=(*options.stream, k), time_limit=left, state=states[k], warm=True, title=title
            )
            outcome = train(problems[k], solver, own)
            if outcome.status == "interrupted" and options.flag is not None:
                options.flag.set()
            return outcome

        n_threads = min(effective_n_jobs(self.n_jobs), len(problems))
        if n_threads == 1:
            return [fit_one(k) for k in range(len(problems))]
        raised: BaseException | None = None
        with ThreadPoolExecutor(n_threads) as pool:
            futures = [pool.submit(fit_one, k) for k in range(len(problems))]
            try:
                # Short waits: where signals do not end system calls, a long one would not notice Ctrl-C.
                while wait(futures, timeout=0.1).not_done:
                    pass
            except BaseException as error:  # whatever a signal handler raises
                raised = error
                if options.flag is not None:
                    options.flag.set()
            outcomes = [future.result() for future in futures]
        return outcomes if raised is None else [replace(outcomes[0], error=raised), *outcomes[1:]]

    def _states_of_last_fit(self, problems: list[Problem]) -> list[dict[str, Any] | None]:
        nothing: list[dict[str, Any] | None] = [None] * len(problems)
        saved = getattr(self, "_saved", None)
        if not self.warm_start or saved is None:
            return nothing
        states, shape, solver = saved
        now = [(problem.m, problem.n_features) for problem in problems]
        if None in states or shape != now or solver != as_solver(self.solver):
            warnings.warn(
                "warm_start: the rows, features, classes or solver have changed; starting afresh.", stacklevel=6
            )
            return nothing
        return list(states)

    def _store(self, problems: list[Problem], outcomes: list[Outcome]) -> None:
        self.coef_ = np.vstack([outcome.w[:-1] for outcome in outcomes])
        self.intercept_ = np.array([outcome.b for outcome in outcomes])
        certificates = tuple(outcome.certificate for outcome in outcomes)
        histories = tuple(outcome.history for outcome in outcomes)
        self.certificate_ = certificates[0] if len(outcomes) == 1 else certificates
        self.history_ = histories[0] if len(outcomes) == 1 else histories
        self.status_ = max((outcome.status for outcome in outcomes), key=STATUSES.index)
        self.n_iter_ = max(outcome.n_iter for outcome in outcomes)
        if self.store_dual:
            self.dual_coef_ = np.vstack([p.spread(o.multipliers) for p, o in zip(problems, outcomes, strict=True)])
        elif hasattr(self, "dual_coef_"):
            del self.dual_coef_
        if self.warm_start:
            shape = [(problem.m, problem.n_features) for problem in problems]
            self._saved = ([outcome.state for outcome in outcomes], shape, as_solver(self.solver))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
