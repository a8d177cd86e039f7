"""Linear support vector classification with the C that cross-validation chooses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from hinge import _core, checks
from hinge.certificate import Certificate
from hinge.estimators.linear import LinearSVC
from hinge.problem import Floats, Integers, Order, Problem
from hinge.problem.labels import class_factors, counted, distinct, predicted, without_absent
from hinge.solvers import Composite, Solver, as_solver
from hinge.training.advice import warn_unless_converged
from hinge.training.many import in_threads
from hinge.training.path import train_path
from hinge.training.result import Options, Record, Status
from hinge.training.signals import Signals


class LinearSVCCV(LinearSVC):
    """:class:`LinearSVC` with the C that does best in cross-validation.

    For each fold and class, one path over the values of C: ascending, each run starting from the multipliers of the one
    before, scaled to the new costs (:func:`hinge.path`). Folds and classes share the rows of X, nothing is copied.
    ``C_`` has the best mean score over the folds, the smallest C of equals; the model is then trained at ``C_`` on all
    rows, with a certificate.

    Parameters
    ----------
    Cs : int or array-like of shape (n_Cs,), default=10
        Values of C; a number n stands for ``numpy.logspace(-4, 4, n)``.
    penalty, loss, dual, tol, multi_class, fit_intercept, intercept_scaling, class_weight, verbose, random_state :
    max_iter, solver, intercept, order, store_dual :
        As in :class:`LinearSVC`. "balanced" class weights are those of the rows of each fold.
    cv : int, splitter or iterable of (train, test), default=None
        Folds as in scikit-learn; None: five, stratified.
    scoring : str, callable or None, default=None
        What to maximise, as in scikit-learn; None: accuracy. Sample weights count in the scores, too, except in those
        of a callable, which is called with (model, X, y): its model has `classes_`, `predict` and `decision_function`
        for that X alone, and its X is a copy of the test rows of the fold.
    refit : bool, default=True
        Train at ``C_`` on all rows. False: no model, only ``C_`` and ``scores_``.
    n_jobs : int or None, default=None
        Threads over folds and classes. They change no bit.

    Attributes
    ----------
    C_ : float
    Cs_ : ndarray of shape (n_Cs,)
        The values of C, in ascending order.
    scores_ : ndarray of shape (n_folds, n_Cs)
    classes_, coef_, intercept_, certificate_, dual_coef_, status_, n_iter_, history_ :
        Of the model at ``C_``, as in :class:`LinearSVC`.

    Notes
    -----
    :class:`sklearn.linear_model.LogisticRegressionCV` with ``refit=False`` averages the models of the folds. An average
    has no certificate, so there is none here.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from hinge import LinearSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVCCV(Cs=np.logspace(-3, 1, 5)).fit(scale(X), y)
    >>> model.scores_.shape, model.C_ in model.Cs_, model.certificate_.relative_gap < 1e-3
    ((5, 5), True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: constraint
            for name, constraint in LinearSVC._parameter_constraints.items()
            if name not in ("C", "time_limit", "warm_start", "callback")
        },
        "Cs": [Integral, "array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "refit": ["boolean"],
    }

    _page: ClassVar[str] = "choosing_c.md"

    # What LinearSVC has and a search has not.
    time_limit: ClassVar[None] = None  # type: ignore[misc]
    warm_start: ClassVar[bool] = False  # type: ignore[misc]
    callback: ClassVar[None] = None  # type: ignore[misc]

    C_: float
    Cs_: Floats
    scores_: Floats

    def __init__(
        self,
        Cs: Any = 10,
        *,
        penalty: str = "l2",
        loss: str = "hinge",
        dual: bool | str = "auto",
        tol: float = 1e-3,
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
        store_dual: bool = False,
        cv: Any = None,
        scoring: str | Callable[..., float] | None = None,
        refit: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.Cs = Cs
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
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
        self.store_dual = store_dual
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of `scoring` on these rows; accuracy without one."""
        if self.scoring is None:
            return float(super().score(X, y, sample_weight))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        from sklearn.metrics import get_scorer  # here: its import takes longer than all of hinge

        return float(get_scorer(self.scoring)(self, X, y, **weights))

    def _chosen_C(
        self, X: Any, rows: _core.Rows, y: npt.NDArray[Any], weight: Floats, options: Options
    ) -> float | None:
        """Search: sets `Cs_`, `scores_` and `C_`. Ctrl-C ends the fit with nothing stored."""
        Cs = checks.costs_to_try(self.Cs)
        folds = [_Fold.make(self, rows, y, weight, split, Cs) for split in self._splits(X, y)]
        with Signals() as signals:
            told = replace(options, token=signals.token, keep_state=True)
            jobs = [
                partial(
                    fold.path,
                    k,
                    as_solver(self.solver),
                    replace(told, key=(*told.key, number, k), title=fold.title(number, len(folds), k)),
                )
                for number, fold in enumerate(folds)
                for k in range(len(fold.problems))
            ]
            paths = iter(in_threads(jobs, checks.threads(self.n_jobs), signals.token))
        if signals.error is not None:
            raise signals.error
        steps = [[next(paths) for _ in fold.problems] for fold in folds]
        self.Cs_ = np.array(Cs)
        self.scores_ = np.array(
            [fold.scores(of_fold, self.scoring, X) for fold, of_fold in zip(folds, steps, strict=True)]
        )
        self.C_ = float(self.Cs_[int(np.argmax(self.scores_.mean(axis=0)))])
        ended = [step for of_fold in steps for path in of_fold for step in path]
        warn_unless_converged(ended, folds[0].problems[0], as_solver(self.solver), options, stacklevel=5)
        if self.refit:
            return self.C_
        self.classes_ = distinct(counted(y, without_absent(self.class_weight, y, weight)))
        return None

    def _splits(self, X: Any, y: npt.NDArray[Any]) -> list[tuple[Integers, Integers]]:
        from sklearn.model_selection import check_cv  # here: its import takes longer than all of hinge

        splits = check_cv(self.cv, y, classifier=True).split(X, y)
        return [(_positions(train, len(y)), _positions(test, len(y))) for train, test in splits]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")


@dataclass(frozen=True)
class _Step:
    """One C of a path: how its run ended, and the scores ``w.x + b`` of the test rows."""

    status: Status
    n_iter: int
    certificate: Certificate
    history: tuple[Record, ...]
    decision: Floats


@dataclass(frozen=True)
class _Fold:
    """Rows to train on, one problem for each class, and rows to test on: parts of the same rows, none copied."""

    classes: npt.NDArray[Any]
    problems: list[Problem]
    costs: list[Floats]
    test: Integers
    test_rows: _core.Rows
    y_test: npt.NDArray[Any]
    test_weight: Floats

    @classmethod
    def make(
        cls,
        model: LinearSVCCV,
        rows: _core.Rows,
        y: npt.NDArray[Any],
        weight: Floats,
        split: tuple[Integers, Integers],
        Cs: list[float],
    ) -> _Fold:
        """The fold as `model` sees it: its loss, intercept and class weights."""
        train, test = split
        own, labels, weights = copy.copy(model), y[train], weight[train]
        problems = own._problems(rows.part(train), labels, weights, Cs[-1])
        weights = without_absent(own.class_weight, labels, weights)
        factors = class_factors(own.class_weight, own.classes_, labels, weights)
        costs = [checks.costs(C, weights, factors) for C in Cs]
        return cls(own.classes_, problems, costs, test, rows.part(test), y[test], weight[test])

    def title(self, number: int, n_folds: int, k: int) -> str:
        """What a report calls class k of this fold."""
        of_class = f", class {k + 1}/{len(self.problems)} ({self.classes[k]})" if len(self.problems) > 1 else ""
        return f"fold {number + 1}/{n_folds}{of_class}"

    def path(self, k: int, solver: Solver | Composite, options: Options) -> list[_Step]:
        """Class k at every C. Of each model only what it says about the test rows is kept."""
        steps: list[_Step] = []
        for outcome in train_path(self.problems[k], self.costs, solver, options):
            if outcome.error is not None:
                raise outcome.error
            w, b = np.ascontiguousarray(outcome.model.w[:-1, np.newaxis]), np.array([outcome.model.b])
            decision = self.test_rows.decision(w, b).ravel()
            steps.append(_Step(outcome.status, outcome.n_iter, outcome.certificate, outcome.history, decision))
        return steps

    def scores(self, paths: Sequence[list[_Step]], scoring: Any, X: Any) -> list[float]:
        """The score at every C."""
        from sklearn.metrics import accuracy_score, get_scorer  # here: its import takes longer than all of hinge

        rows = X[self.test] if callable(scoring) else self.test  # scikit-learn's own scorers only hand them on
        weights = {} if np.all(self.test_weight == 1) or callable(scoring) else {"sample_weight": self.test_weight}
        found: list[float] = []
        for steps in zip(*paths, strict=True):
            decision = steps[0].decision if len(steps) == 1 else np.column_stack([step.decision for step in steps])
            if scoring is None:
                labels = predicted(self.classes, decision)
                found.append(float(accuracy_score(self.y_test, labels, **weights)))
            else:
                found.append(float(get_scorer(scoring)(_Scored(self.classes, decision), rows, self.y_test, **weights)))
        return found


class _Scored(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that knows the scores of the test rows, for scikit-learn's scorers."""

    def __init__(self, classes: npt.NDArray[Any], decision: Floats) -> None:
        self.classes_ = classes
        self._decision = decision

    def decision_function(self, X: Any) -> Floats:
        if np.shape(X)[0] != len(self._decision):
            raise ValueError("In a search over C, a scorer can ask for the scores of the test rows it was given only.")
        return self._decision

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return predicted(self.classes_, self.decision_function(X))


def _positions(chosen: Any, n_samples: int) -> Integers:
    """Row numbers, of an index array or a mask."""
    positions: Integers = np.arange(n_samples, dtype=np.int64)[chosen]
    return positions
