"""What every classifier with a certificate does: check, pose one problem for each class, train, keep the best."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hinge import _core, checks
from hinge.certificate import Certificate, Certificates, Claim
from hinge.estimators.documented import Documented
from hinge.estimators.turns import alone
from hinge.problem import (
    Floats,
    Intercept,
    Loss,
    Order,
    Problem,
    as_loss,
    as_order,
    as_rows,
    held_still,
    side_by_side,
)
from hinge.problem.labels import class_factors, counted, distinct, one_vs_rest, without_absent
from hinge.solvers import Composite, Configuration, Solver, State, as_solver
from hinge.training.advice import warn_unless_converged
from hinge.training.many import train_all
from hinge.training.report import reporting
from hinge.training.result import STATUSES, Callback, Histories, History, Options, Outcome, Status
from hinge.training.signals import Signals


class CertifiedSVC(Documented, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of one certified problem for each class against the rest; what its rows are, a subclass says."""

    # Parameters that every subclass has.
    loss: str
    tol: float
    C: float
    fit_intercept: bool
    intercept_scaling: float
    class_weight: dict[Any, float] | str | None
    verbose: int
    random_state: Any
    max_iter: int
    solver: Solver | Composite | str
    intercept: str
    order: Order | str | None
    time_limit: float | None
    store_dual: bool
    warm_start: bool
    n_jobs: int | None
    #: Only some have it as a parameter.
    callback: Callback | None = None

    classes_: npt.NDArray[Any]
    coef_: Floats
    intercept_: Floats
    treatment_: Intercept
    dual_coef_: Floats
    certificate_: Certificate | Certificates
    history_: History | Histories
    status_: Status
    n_iter_: int

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
            self.solver = solver.replace(**options)  # type: ignore[assignment]
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X and y.

        After Ctrl-C the best model so far is stored, with ``status_ == "interrupted"``, and KeyboardInterrupt is
        raised, so that a search or a script ends. (:func:`hinge.solve` returns its solution, which would be lost.)

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
        with alone(self):
            fitted = copy.copy(self)  # a fit that fails leaves the model of the last one
            X, y, weight = fitted._checked(X, y, sample_weight)
            with fitted._rows(X, y, weight) as rows, reporting(self.verbose) as report:
                options = replace(fitted._options(), report=report)
                C = fitted._chosen_C(X, rows, y, weight, options)
                if C is None:
                    self.__dict__ = fitted.__dict__
                    return self
                problems = fitted._problems(rows, y, weight, C)
                with Signals() as signals:
                    outcomes = fitted._train(problems, options, signals)
                    fitted._store(problems, outcomes)
                    self.__dict__ = fitted.__dict__  # at once: another thread sees the old model or the new one
                    if all(outcome.status != "interrupted" for outcome in outcomes):
                        warn_unless_converged(outcomes, problems[0], fitted._chosen_solver(), options, stacklevel=4)
        error = signals.error or next((outcome.error for outcome in outcomes if outcome.error is not None), None)
        if error is not None:
            self.status_ = "interrupted"
            raise error
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, npt.NDArray[Any], Floats]:
        """Rows, labels and weights in the form that training reads; refuses what is not supported, with the reason."""
        checks.sparse_structure(X)
        checks.unmasked("y", y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=checks.DTYPES, order="C", ensure_all_finite=False)
        check_classification_targets(y)
        return X, y, checks.weights(sample_weight, X)

    @contextmanager
    def _rows(self, X: Any, y: npt.NDArray[Any], weight: Floats) -> Iterator[_core.Rows]:
        """The rows to train on, for as long as training lasts."""
        with held_still(X):
            yield as_rows(X, self._names(), checks.threads(self.n_jobs), bool(self.warm_start))

    def _names(self) -> Any:
        """Those of the columns, if X had any."""
        return getattr(self, "feature_names_in_", None)

    def _chosen_solver(self) -> Any:
        """The configuration to train with."""
        return as_solver(self.solver)

    def _chosen_C(
        self, X: Any, rows: _core.Rows, y: npt.NDArray[Any], weight: Floats, options: Options
    ) -> float | None:
        """The C to train at; None: no model is wanted."""
        return checks.positive("C", self.C)

    def _problems(self, rows: _core.Rows, y: npt.NDArray[Any], weight: Floats, C: float) -> list[Problem]:
        """One problem for two classes, or one for each class against the rest: they share rows and costs."""
        weight = without_absent(self.class_weight, y, weight)
        self.classes_ = self._classes_of(y, weight)
        loss = as_loss(self.loss)
        kind = self._chosen_solver().traits.treatment(self.intercept)
        self.treatment_ = Intercept.chosen(self.fit_intercept, kind, self.intercept_scaling)
        self._settings = (C, self.class_weight, loss.name)  # for verify, whatever is set later
        cost = checks.costs(C, weight, class_factors(self.class_weight, self.classes_, y, weight))
        first, *others = one_vs_rest(self.classes_, y)
        problem = self._problem(rows, first, cost, loss)
        return [problem, *(problem.with_target(target) for target in others)]

    def _problem(self, rows: _core.Rows, target: npt.NDArray[Any], cost: Floats, loss: Loss) -> Problem:
        return Problem.make(rows, target, cost, loss=loss, intercept=self.treatment_)

    def _classes_of(self, y: npt.NDArray[Any], weight: Floats) -> npt.NDArray[Any]:
        classes = distinct(counted(y, weight))
        if classes.size < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes, but y has one class only: "
                f"{classes.tolist()[0]!r} (rows of zero weight do not count)."
            )
        return classes

    def _options(self) -> Options:
        return Options(
            tol=checks.positive("tol", self.tol),
            max_iter=checks.whole("max_iter", self.max_iter),
            order=as_order(self.order),
            key=(checks.seed(self.random_state),),
            callback=self.callback,
            keep_state=bool(self.warm_start),
        )

    def _train(self, problems: list[Problem], options: Options, signals: Signals) -> list[Outcome]:
        seconds = checks.time_limit(self.time_limit)
        if seconds is not None:
            signals.token.set_deadline(seconds)
        return train_all(
            problems,
            self._chosen_solver(),
            replace(options, token=signals.token),
            n_jobs=checks.threads(self.n_jobs),
            states=self._states_of_last_fit(problems),
            labels=None if len(problems) == 1 else self.classes_.tolist(),
        )

    def claims(self, y: Any, sample_weight: Any) -> list[Claim]:
        """What :func:`hinge.verify` checks."""
        check_is_fitted(self)
        y = np.asarray(y)
        weight = np.ones(y.size) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        C, class_weight, name = self._settings
        loss = as_loss(name)
        cost = C * weight * class_factors(class_weight, self.classes_, y, weight)
        duals = getattr(self, "dual_coef_", [None] * len(self.intercept_))
        targets = one_vs_rest(self.classes_, y)
        labels = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        models = zip(labels, self._weights(), self.intercept_, duals, targets, strict=True)
        return [Claim(label, w, float(b), a, target, cost, loss, self.treatment_) for label, w, b, a, target in models]

    def _weights(self) -> Floats:
        """Those of each problem."""
        return self.coef_

    def _states_of_last_fit(self, problems: list[Problem]) -> list[State | None]:
        nothing: list[State | None] = [None] * len(problems)
        saved = getattr(self, "_saved", None)
        if not self.warm_start or saved is None:
            return nothing
        states, shape, solver = saved
        now = [(problem.m, problem.n_features) for problem in problems]
        if None in states or shape != now or solver != self._chosen_solver():
            warnings.warn(
                "warm_start: the number of rows, features or classes, or the solver, has changed, or the solver cannot "
                "be resumed; starting afresh.",
                stacklevel=5,
            )
            return nothing
        return list(states)

    def _store(self, problems: list[Problem], outcomes: list[Outcome]) -> None:
        self._store_weights(problems, outcomes)
        self.intercept_ = np.array([outcome.model.b for outcome in outcomes])
        certificates = [outcome.certificate for outcome in outcomes]
        histories = [History(outcome.history) for outcome in outcomes]
        single = len(outcomes) == 1
        self.certificate_ = certificates[0] if single else Certificates(certificates, self.classes_)
        self.history_ = histories[0] if single else Histories(histories, self.classes_)
        self.status_ = max((outcome.status for outcome in outcomes), key=STATUSES.index)
        self.n_iter_ = max(outcome.n_iter for outcome in outcomes)
        if self.store_dual:
            self.dual_coef_ = np.vstack(
                [p.spread(o.bound.multipliers) for p, o in zip(problems, outcomes, strict=True)]
            )
        elif hasattr(self, "dual_coef_"):
            del self.dual_coef_
        if self.warm_start:
            shape = [(problem.m, problem.n_features) for problem in problems]
            self._saved = ([outcome.state for outcome in outcomes], shape, self._chosen_solver())

    def _store_weights(self, problems: list[Problem], outcomes: list[Outcome]) -> None:
        self.coef_ = side_by_side([outcome.model.w[:-1] for outcome in outcomes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
